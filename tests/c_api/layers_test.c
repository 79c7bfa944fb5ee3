// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Multi-head layers as a C99 program uses them, against plain double loops.

#include <lanewise/c_api/layers.h>
#include <math.h>

#include "tests/c_api/check.h"
#include "tests/c_api/layer_case.h"

// Plans, destroys the layer, runs.
static void Run(lanewise_multi_head_attention* layer, const lanewise_multi_head_call* call,
                const lanewise_attention_options* options,
                const lanewise_multi_head_tensors* tensors) {
  lanewise_multi_head_plan* plan = NULL;
  lanewise_workspace* workspace = NULL;
  lanewise_error error;
  size_t bytes = 0;
  CHECK(lanewise_multi_head_plan_create(layer, call, options, &plan, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  CHECK(lanewise_multi_head_attention_destroy(layer) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_workspace_bytes(plan, &bytes) == LANEWISE_OK && bytes > 0);
  CHECK(lanewise_workspace_create(bytes, &workspace, &error) == LANEWISE_OK);
  const lanewise_status status = lanewise_multi_head_plan_run(plan, tensors, workspace, &error);
  if (status != LANEWISE_OK) printf("%s\n", error.message);
  CHECK(status == LANEWISE_OK && error.message[0] == '\0');
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_destroy(plan) == LANEWISE_OK);
}

// to[output] = weights row + bias, for one row of `inputs` numbers.
static void Project(const float* row, int inputs, const float* weights, const float* bias,
                    int outputs, double* to) {
  for (int output = 0; output < outputs; ++output) {
    to[output] = bias == NULL ? 0 : (double)bias[output];
    for (int i = 0; i < inputs; ++i)
      to[output] += (double)row[i] * (double)weights[output * inputs + i];
  }
}

// What a layer is made of and sees, for the loops below.
typedef struct Definition {
  const float* rows;  // [kBatch, keys, inputs]
  int keys;
  int inputs;
  const float* k;
  const float* v;
  const float* k_bias;
  const float* v_bias;
  bool causal;
} Definition;

static Definition SelfDefinition(bool causal) {
  return (Definition){x,
                      kQueries,
                      kModel,
                      qkv + kQ * kModel,
                      qkv + (kQ + kKv) * kModel,
                      qkv_bias + kQ,
                      qkv_bias + kQ + kKv,
                      causal};
}

static void ExpectLayer(const Definition* layer, bool with_lse) {
  static double q[kQ], k[kKeys][kKv], v[kKeys][kKv];
  for (int row = 0; row < kBatch * kQueries; ++row) {
    const int item = row / kQueries;
    const int query = row % kQueries;
    float heads[kQ];
    double expected[kModel];
    Project(x + row * kModel, kModel, qkv, qkv_bias, kQ, q);
    for (int key = 0; key < layer->keys; ++key) {
      const float* const from = layer->rows + (item * layer->keys + key) * layer->inputs;
      Project(from, layer->inputs, layer->k, layer->k_bias, kKv, k[key]);
      Project(from, layer->inputs, layer->v, layer->v_bias, kKv, v[key]);
    }
    for (int head = 0; head < kHeads; ++head) {
      const int first = head / (kHeads / kKvHeads) * kDim;  // of its kv head
      double sums[kDim] = {0};
      double total = 0;
      for (int key = 0; key <= (layer->causal ? query : layer->keys - 1); ++key) {
        double score = 0;
        for (int d = 0; d < kDim; ++d) score += q[head * kDim + d] * k[key][first + d];
        const double weight = exp(score / sqrt(kDim));
        total += weight;
        for (int d = 0; d < kDim; ++d) sums[d] += weight * v[key][first + d];
      }
      for (int d = 0; d < kDim; ++d) heads[head * kDim + d] = (float)(sums[d] / total);
      if (with_lse) CHECK(Near(lse[(item * kHeads + head) * kQueries + query], (float)log(total)));
    }
    Project(heads, kQ, w_out, out_bias, kModel, expected);
    for (int i = 0; i < kModel; ++i) {
      const float found = out[row * kModel + i];
      if (Near(found, (float)expected[i])) continue;
      printf("out[%d, %d]: found %g, expected %g\n", row, i, (double)found, expected[i]);
      Check(false, "layer", __LINE__);
      return;
    }
  }
}

// q, k and v apart, or as one matrix: the same bits.
static void SelfAttention(void) {
  static float fused[kBatch * kQueries * kModel];
  const lanewise_multi_head_shape shape = Shape();
  const lanewise_multi_head_weights weights[2] = {Fused(), Separate()};
  const lanewise_multi_head_call call = SelfCall();
  for (int causal = 0; causal < 2; ++causal) {
    const Definition definition = SelfDefinition(causal != 0);
    lanewise_attention_options options = Defaults();
    options.causal = causal != 0;
    for (int way = 0; way < 2; ++way) {
      const lanewise_multi_head_tensors tensors = SelfTensors();
      FillInputs();
      Run(Layer(&shape, &weights[way]), &call, causal ? &options : NULL, &tensors);
      ExpectLayer(&definition, false);
      if (way == 0) memcpy(fused, out, sizeof(out));
      CHECK(memcmp(fused, out, sizeof(out)) == 0);
    }
  }
}

// Keys and values from rows of their own, of another width and number; the log-sum-exp.
static void CrossAttention(void) {
  lanewise_multi_head_shape shape = Shape();
  lanewise_multi_head_weights weights = Separate();
  lanewise_multi_head_call call = SelfCall();
  lanewise_multi_head_tensors tensors = SelfTensors();
  lanewise_attention_options options = Defaults();
  FillInputs();
  shape.kv_d_model = kOtherModel;
  shape.dim = kDim;
  weights.k = Matrix(cross_k, kKv, kOtherModel);
  weights.v = Matrix(cross_v, kKv, kOtherModel);
  weights.k_bias = (lanewise_float_array){NULL, 0};
  call.cross = true;
  call.keys = kKeys;
  tensors.x_kv = Dense(x_kv, LANEWISE_F32, kBatch, 1, kKeys, kOtherModel);
  tensors.attention.lse = Dense(lse, LANEWISE_F32, kBatch, kHeads, kQueries, 1);
  options.lse = true;
  Run(Layer(&shape, &weights), &call, &options, &tensors);
  const Definition definition = {x_kv,    kKeys, kOtherModel,         cross_k,
                                 cross_v, NULL,  qkv_bias + kQ + kKv, false};
  ExpectLayer(&definition, true);
}

// An array that an option asks for: the mask of causal attention, as bytes.
static void MaskedAttention(void) {
  const lanewise_multi_head_shape shape = Shape();
  const lanewise_multi_head_weights weights = Fused();
  const lanewise_multi_head_call call = SelfCall();
  const Definition definition = SelfDefinition(true);
  lanewise_multi_head_tensors tensors = SelfTensors();
  lanewise_attention_options options = Defaults();
  uint8_t mask[kQueries * kQueries];
  FillInputs();
  for (int i = 0; i < kQueries * kQueries; ++i) mask[i] = i % kQueries <= i / kQueries;
  options.mask = true;
  tensors.attention.mask = Dense(mask, LANEWISE_BOOL, 1, 1, kQueries, kQueries);
  Run(Layer(&shape, &weights), &call, &options, &tensors);
  ExpectLayer(&definition, false);
}

// One head of one number: the key's 3 times the 3 of the output projection.
static void Types(void) {
  const uint16_t one_f16 = 0x3C00;
  const uint16_t three_bf16 = 0x4040;
  const float one = 1;
  uint16_t result = 0;
  lanewise_multi_head_shape shape = {0};
  lanewise_multi_head_weights weights = {0};
  lanewise_multi_head_call call = SelfCall();
  lanewise_multi_head_tensors tensors = {0};
  shape.d_model = shape.heads = 1;
  weights.q = weights.k = weights.v = Matrix(&one, 1, 1);
  weights.out = Dense(&three_bf16, LANEWISE_BF16, 1, 1, 1, 1);
  call.batch = call.queries = call.keys = 1;
  call.cross = true;
  call.x_type = LANEWISE_F16;
  call.x_kv_type = LANEWISE_BF16;
  call.out_type = LANEWISE_F16;
  tensors.x = Dense(&one_f16, LANEWISE_F16, 1, 1, 1, 1);
  tensors.x_kv = Dense(&three_bf16, LANEWISE_BF16, 1, 1, 1, 1);
  tensors.out = Dense(&result, LANEWISE_F16, 1, 1, 1, 1);
  Run(Layer(&shape, &weights), &call, NULL, &tensors);
  CHECK(result == 0x4880);  // 9
}

static void ShapeAndText(void) {
  const lanewise_runtime runtime = {1, NULL, "a note"};
  const lanewise_multi_head_weights weights = Fused();
  const lanewise_multi_head_call call = SelfCall();
  lanewise_multi_head_shape shape = Shape();
  lanewise_multi_head_attention* layer = NULL;
  lanewise_multi_head_plan* plan = NULL;
  char text[4000];
  char start[9];
  size_t length = 0;
  size_t needed = 0;
  lanewise_error e;
  FillInputs();
  CHECK(lanewise_multi_head_attention_create(&shape, &weights, &runtime, &layer, &e) ==
        LANEWISE_OK);
  memset(&shape, 0, sizeof(shape));
  CHECK(lanewise_multi_head_attention_shape(layer, &shape) == LANEWISE_OK);
  CHECK(shape.d_model == kModel && shape.heads == kHeads && shape.kv_heads == kKvHeads);
  CHECK(shape.dim == kDim && shape.kv_d_model == kModel);
  CHECK(lanewise_multi_head_attention_shape(NULL, &shape) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_multi_head_attention_shape(layer, NULL) == LANEWISE_INVALID_ARGUMENT);

  CHECK(lanewise_multi_head_plan_create(layer, &call, NULL, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_multi_head_plan_explain(plan, text, sizeof(text), &length, &e) == LANEWISE_OK);
  CHECK(e.message[0] == '\0' && length == strlen(text) && length < sizeof(text));
  const char* const steps[4] = {"queries\n", "\nkeys and values\n", "\nattention\n", "\noutput\n"};
  for (int i = 0; i < 4; ++i) CHECK(strstr(text, steps[i]) != NULL);
  CHECK(strstr(text, "threads    1\n") != NULL && strstr(text, "a note") != NULL);
  memset(start, 'x', sizeof(start));
  CHECK(lanewise_multi_head_plan_explain(plan, start, 8, NULL, NULL) == LANEWISE_OK);
  CHECK(memcmp(start, "queries\0x", 9) == 0);
  CHECK(lanewise_multi_head_plan_explain(plan, NULL, 0, &needed, NULL) == LANEWISE_OK);
  CHECK(needed == length);
  ExpectNull(lanewise_multi_head_plan_explain(plan, NULL, 1, &length, &e), &e, "text");
  ExpectNull(lanewise_multi_head_plan_explain(NULL, text, 1, &length, &e), &e, "plan");
  CHECK(lanewise_multi_head_plan_destroy(plan) == LANEWISE_OK);
  CHECK(lanewise_multi_head_attention_destroy(layer) == LANEWISE_OK);
}

int main(void) {
  const Test tests[] = {
      {"SelfAttention", SelfAttention},     {"CrossAttention", CrossAttention},
      {"MaskedAttention", MaskedAttention}, {"Types", Types},
      {"ShapeAndText", ShapeAndText},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
