// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What is wrong with a multi-head layer, a plan or a call, as a C99 program hears of it.

#include "tests/c_api/check.h"
#include "tests/c_api/layer_case.h"

static void NullPointers(void) {
  const lanewise_multi_head_shape shape = Shape();
  const lanewise_multi_head_weights weights = Fused();
  const lanewise_multi_head_call call = SelfCall();
  const lanewise_multi_head_tensors tensors = SelfTensors();
  lanewise_multi_head_attention* layer = (lanewise_multi_head_attention*)&out;
  lanewise_multi_head_plan* plan = (lanewise_multi_head_plan*)&out;
  lanewise_workspace* workspace = NULL;
  size_t bytes = 0;
  lanewise_error e;
  ExpectNull(lanewise_multi_head_attention_create(NULL, &weights, NULL, &layer, &e), &e, "shape");
  ExpectNull(lanewise_multi_head_attention_create(&shape, NULL, NULL, &layer, &e), &e, "weights");
  CHECK(layer == NULL);
  ExpectNull(lanewise_multi_head_attention_create(&shape, &weights, NULL, NULL, &e), &e, "layer");

  layer = Layer(&shape, &weights);
  ExpectNull(lanewise_multi_head_plan_create(NULL, &call, NULL, &plan, &e), &e, "layer");
  CHECK(plan == NULL);
  ExpectNull(lanewise_multi_head_plan_create(layer, NULL, NULL, &plan, &e), &e, "call");
  ExpectNull(lanewise_multi_head_plan_create(layer, &call, NULL, NULL, &e), &e, "plan");

  CHECK(lanewise_multi_head_plan_create(layer, &call, NULL, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_workspace_create(1, &workspace, &e) == LANEWISE_OK);
  ExpectNull(lanewise_multi_head_plan_run(NULL, &tensors, workspace, &e), &e, "plan");
  ExpectNull(lanewise_multi_head_plan_run(plan, NULL, workspace, &e), &e, "tensors");
  ExpectNull(lanewise_multi_head_plan_run(plan, &tensors, NULL, &e), &e, "workspace");
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "workspace", "1");
  CHECK(lanewise_multi_head_plan_workspace_bytes(NULL, &bytes) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_multi_head_plan_workspace_bytes(plan, NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_multi_head_call_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_destroy(plan) == LANEWISE_OK);
  CHECK(lanewise_multi_head_attention_destroy(layer) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_destroy(NULL) == LANEWISE_OK);
  CHECK(lanewise_multi_head_attention_destroy(NULL) == LANEWISE_OK);
}

static void ExpectNoLayer(const lanewise_multi_head_shape* shape,
                          const lanewise_multi_head_weights* weights, const char* name,
                          const char* part) {
  lanewise_multi_head_attention* layer = (lanewise_multi_head_attention*)&out;
  lanewise_error e;
  ExpectError(lanewise_multi_head_attention_create(shape, weights, NULL, &layer, &e), &e, name,
              part);
  CHECK(layer == NULL);
}

static void ErrorsOfLayers(void) {
  const lanewise_runtime nowhere = {1, "PDP11", NULL};
  lanewise_multi_head_attention* layer = NULL;
  lanewise_multi_head_shape shape = Shape();
  lanewise_multi_head_weights weights = Fused();
  lanewise_error e;
  FillInputs();
  ExpectError(lanewise_multi_head_attention_create(&shape, &weights, &nowhere, &layer, &e), &e,
              "target", "PDP11");
  CHECK(layer == NULL);
  shape.heads = 5;
  ExpectNoLayer(&shape, &weights, "d_model", "12");
  shape = Shape();
  shape.kv_heads = 3;
  ExpectNoLayer(&shape, &weights, "kv_heads", "3");
  shape = Shape();
  shape.dim = kDim + 1;
  ExpectNoLayer(&shape, &weights, "qkv", "[1, 1, 32, 12]");
  shape = Shape();
  shape.kv_d_model = kOtherModel;
  ExpectNoLayer(&shape, &weights, "qkv", "10");
  shape = Shape();
  weights.k = Separate().k;
  ExpectNoLayer(&shape, &weights, "k", "together with qkv");
  weights = Fused();
  weights.qkv_bias.size = 1;
  ExpectNoLayer(&shape, &weights, "qkv_bias", "1");
  weights = Separate();
  weights.v_bias.size = 2;
  ExpectNoLayer(&shape, &weights, "v_bias", "2");
  weights = Separate();
  weights.v.type = 77;
  ExpectNoLayer(&shape, &weights, "v", "unknown");
  weights.v = (lanewise_tensor){0};
  ExpectNoLayer(&shape, &weights, "v", "[1, 1, 6, 12]");
}

static void ErrorsOfPlans(void) {
  const lanewise_multi_head_shape shape = Shape();
  const lanewise_multi_head_weights weights = Fused();
  lanewise_multi_head_attention* const layer = Layer(&shape, &weights);
  lanewise_multi_head_call call = SelfCall();
  lanewise_attention_options options = Defaults();
  lanewise_multi_head_plan* plan = (lanewise_multi_head_plan*)&out;
  lanewise_error e;
  call.keys = kKeys;
  ExpectError(lanewise_multi_head_plan_create(layer, &call, NULL, &plan, &e), &e, "keys", "7");
  CHECK(plan == NULL);
  call = SelfCall();
  options.paged = true;
  ExpectError(lanewise_multi_head_plan_create(layer, &call, &options, &plan, &e), &e, "paged",
              "off");
  lanewise_data_type* const types[3] = {&call.x_type, &call.x_kv_type, &call.out_type};
  const char* const names[3] = {"x_type", "x_kv_type", "out_type"};
  for (int i = 0; i < 3; ++i) {
    *types[i] = 77;
    ExpectError(lanewise_multi_head_plan_create(layer, &call, NULL, &plan, &e), &e, names[i],
                "unknown");
    *types[i] = LANEWISE_F32;
  }
  CHECK(plan == NULL);
  CHECK(lanewise_multi_head_attention_destroy(layer) == LANEWISE_OK);
}

static void ErrorsOfRuns(void) {
  const lanewise_multi_head_shape shape = Shape();
  const lanewise_multi_head_weights weights = Fused();
  const lanewise_multi_head_call call = SelfCall();
  lanewise_multi_head_attention* const layer = Layer(&shape, &weights);
  lanewise_multi_head_plan* plan = NULL;
  lanewise_workspace* workspace = NULL;
  size_t bytes = 0;
  lanewise_error e;
  FillInputs();
  CHECK(lanewise_multi_head_plan_create(layer, &call, NULL, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_workspace_bytes(plan, &bytes) == LANEWISE_OK);
  CHECK(lanewise_workspace_create(bytes, &workspace, &e) == LANEWISE_OK);
  lanewise_multi_head_tensors tensors = SelfTensors();
  tensors.x.sizes[2] = kQueries + 1;
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "x", "6");
  tensors = SelfTensors();
  tensors.x_kv = tensors.x;
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "x_kv", "cross");
  tensors = SelfTensors();
  tensors.attention.k = tensors.x;
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "attention.k", "");
  tensors = SelfTensors();
  tensors.attention.sinks = (lanewise_float_array){out_bias, kHeads};
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "sinks", "");
  tensors = SelfTensors();
  tensors.out.type = LANEWISE_F16;
  ExpectError(lanewise_multi_head_plan_run(plan, &tensors, workspace, &e), &e, "out", "f16");
  for (int i = 0; i < kBatch * kQueries * kModel; ++i) CHECK(out[i] == 0);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_destroy(plan) == LANEWISE_OK);
  CHECK(lanewise_multi_head_attention_destroy(layer) == LANEWISE_OK);
}

int main(void) {
  const Test tests[] = {
      {"NullPointers", NullPointers},
      {"ErrorsOfLayers", ErrorsOfLayers},
      {"ErrorsOfPlans", ErrorsOfPlans},
      {"ErrorsOfRuns", ErrorsOfRuns},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
