// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Plans, workspaces, texts, merging and null pointers, as a C99 program uses them.

#include <lanewise/c_api/base.h>

#include "tests/c_api/check.h"
#include "tests/c_api/even_attention.h"

static void NullPointers(const lanewise_plan* plan, lanewise_workspace* workspace) {
  const lanewise_attention_tensors tensors = EvenTensors();
  const lanewise_attention_part part = {tensors.v, tensors.v};
  const int64_t sizes[4] = {1, 1, 1, 1};
  lanewise_attention_shape shape;
  lanewise_plan* made = NULL;
  lanewise_tensor tensor;
  size_t size;
  lanewise_error e;
  CHECK(lanewise_attention_shape_init(&shape) == LANEWISE_OK);

  ExpectNull(lanewise_attention(NULL, NULL, NULL, &e), &e, "tensors");
  ExpectNull(lanewise_plan_create(NULL, NULL, NULL, &made, &e), &e, "shape");
  ExpectNull(lanewise_plan_create(&shape, NULL, NULL, NULL, &e), &e, "plan");
  ExpectNull(lanewise_plan_run(NULL, &tensors, workspace, &e), &e, "plan");
  ExpectNull(lanewise_plan_run(plan, NULL, workspace, &e), &e, "tensors");
  ExpectNull(lanewise_plan_run(plan, &tensors, NULL, &e), &e, "workspace");
  ExpectNull(lanewise_plan_explain(NULL, NULL, 0, &size, &e), &e, "plan");
  ExpectNull(lanewise_plan_explain(plan, NULL, 1, &size, &e), &e, "text");
  ExpectNull(lanewise_workspace_create(1, NULL, &e), &e, "workspace");
  ExpectNull(lanewise_merge_attention(NULL, 1, &tensors.out, NULL, &e), &e, "parts");
  ExpectNull(lanewise_merge_attention(&part, 1, NULL, NULL, &e), &e, "out");
  ExpectNull(lanewise_available_targets(NULL, 9, &size, &e), &e, "text");

  CHECK(lanewise_attention_shape_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_attention_options_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_runtime_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_tensor_init(NULL, out, LANEWISE_F32, sizes) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_tensor_init(&tensor, out, LANEWISE_F32, NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_plan_workspace_bytes(NULL, &size) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_plan_workspace_bytes(plan, NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_workspace_size_bytes(NULL, &size) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_workspace_size_bytes(workspace, NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_plan_destroy(NULL) == LANEWISE_OK);
  CHECK(lanewise_workspace_destroy(NULL) == LANEWISE_OK);
}

static void Plans(void) {
  lanewise_attention_shape shape;
  lanewise_runtime runtime;
  lanewise_plan* plan = NULL;
  lanewise_workspace* workspace = NULL;
  lanewise_error error;
  size_t bytes = 0;
  CHECK(lanewise_attention_shape_init(&shape) == LANEWISE_OK);
  CHECK(shape.batch == 1 && shape.heads == 1 && shape.kv_heads == 1 && shape.queries == 0);
  CHECK(shape.q_type == LANEWISE_F32 && shape.out_type == LANEWISE_F32);
  shape.queries = shape.keys = 3;
  shape.dim = 2;
  shape.value_dim = 1;
  CHECK(lanewise_runtime_init(&runtime) == LANEWISE_OK);
  runtime.threads = 1;
  runtime.target = NULL;
  runtime.note = "a note";
  CHECK(lanewise_plan_create(&shape, NULL, &runtime, &plan, &error) == LANEWISE_OK);
  CHECK(lanewise_plan_workspace_bytes(plan, &bytes) == LANEWISE_OK && bytes > 0);

  const lanewise_attention_tensors tensors = EvenTensors();
  CHECK(lanewise_workspace_create(bytes - 1, &workspace, &error) == LANEWISE_OK);
  CHECK(lanewise_plan_run(plan, &tensors, workspace, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "workspace") != NULL && out[0] == kUntouched);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_workspace_create(bytes, &workspace, &error) == LANEWISE_OK);
  size_t size_bytes = 0;
  CHECK(lanewise_workspace_size_bytes(workspace, &size_bytes) == LANEWISE_OK);
  CHECK(size_bytes == bytes);
  CHECK(lanewise_plan_run(plan, &tensors, workspace, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  CHECK(Near(out[0], 30) && Near(out[1], 30) && Near(out[2], 30));

  // Whole, cut off, and the length alone.
  char text[2000];
  size_t length = 0;
  CHECK(lanewise_plan_explain(plan, text, sizeof(text), &length, &error) == LANEWISE_OK);
  CHECK(length == strlen(text) && length < sizeof(text));
  CHECK(strstr(text, "variant    ") != NULL && strstr(text, "threads    1\n") != NULL);
  CHECK(strstr(text, "a note") != NULL);
  char start[9];
  memset(start, 'x', sizeof(start));
  CHECK(lanewise_plan_explain(plan, start, 8, NULL, NULL) == LANEWISE_OK);
  CHECK(memcmp(start, "variant\0x", 9) == 0);
  size_t needed = 0;
  CHECK(lanewise_plan_explain(plan, NULL, 0, &needed, NULL) == LANEWISE_OK && needed == length);

  NullPointers(plan, workspace);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_plan_destroy(plan) == LANEWISE_OK);

  // Failures leave null behind, and a message that ends even if the name hardly does.
  char name[1000];
  memset(name, 'n', sizeof(name));
  name[sizeof(name) - 1] = '\0';
  runtime.target = name;
  memset(&error, 'x', sizeof(error));
  CHECK(lanewise_plan_create(&shape, NULL, &runtime, &plan, &error) != LANEWISE_OK);
  CHECK(plan == NULL && memchr(error.message, '\0', sizeof(error.message)) != NULL);
  shape.dim = 0;
  CHECK(lanewise_plan_create(&shape, NULL, NULL, &plan, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "dim", 3) == 0);
  shape.dim = 2;
  int64_t* const sizes[3] = {&shape.batch, &shape.heads, &shape.kv_heads};
  const char* const size_names[3] = {"batch", "heads", "kv_heads"};
  for (int i = 0; i < 3; ++i) {
    *sizes[i] = -1;
    ExpectError(lanewise_plan_create(&shape, NULL, NULL, &plan, &error), &error, size_names[i],
                "-1");
    *sizes[i] = 1;
  }
  lanewise_data_type* const types[4] = {&shape.q_type, &shape.k_type, &shape.v_type,
                                        &shape.out_type};
  const char* const arguments[4] = {"q", "k", "v", "out"};
  for (int i = 0; i < 4; ++i) {
    *types[i] = LANEWISE_BOOL;
    CHECK(lanewise_plan_create(&shape, NULL, NULL, &plan, &error) == LANEWISE_INVALID_ARGUMENT);
    CHECK(strncmp(error.message, arguments[i], strlen(arguments[i])) == 0);
    *types[i] = LANEWISE_F32;
  }
#ifndef LANEWISE_TEST_SANITIZED  // sanitizers end the program at such a request
  CHECK(lanewise_workspace_create(SIZE_MAX / 2, &workspace, &error) == LANEWISE_OUT_OF_MEMORY);
  CHECK(workspace == NULL && strcmp(error.message, "out of memory") == 0);
#endif
}

static void Merge(void) {
  const float outs[2] = {10, 40};
  const float lses[2] = {0, 0.693147181f};
  float lse = 0;
  lanewise_error error;
  const lanewise_tensor merged = Dense(out, LANEWISE_F32, 1, 1, 1, 1);
  const lanewise_tensor merged_lse = Dense(&lse, LANEWISE_F32, 1, 1, 1, 1);
  lanewise_attention_part parts[2];
  for (int i = 0; i < 2; ++i) {
    parts[i].out = Dense(&outs[i], LANEWISE_F32, 1, 1, 1, 1);
    parts[i].lse = Dense(&lses[i], LANEWISE_F32, 1, 1, 1, 1);
  }
  CHECK(lanewise_merge_attention(parts, 2, &merged, &merged_lse, &error) == LANEWISE_OK);
  CHECK(Near(out[0], 30) && Near(lse, 1.09861229f));
  out[0] = kUntouched;
  CHECK(lanewise_merge_attention(parts, 1, &merged, NULL, &error) == LANEWISE_OK);
  CHECK(Near(out[0], 10));
  for (int64_t count = -1; count <= 0; ++count) {
    CHECK(lanewise_merge_attention(parts, count, &merged, NULL, &error) ==
          LANEWISE_INVALID_ARGUMENT);
    CHECK(strncmp(error.message, "parts", 5) == 0);
  }
}

static void TextsAndTensors(void) {
  char version[40];
  snprintf(version, sizeof(version), "%d.%d.%d", LANEWISE_VERSION_MAJOR, LANEWISE_VERSION_MINOR,
           LANEWISE_VERSION_PATCH);
  CHECK(strcmp(lanewise_version(), version) == 0);
  CHECK(strcmp(lanewise_status_name(LANEWISE_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(lanewise_status_name(-5), "unknown") == 0);
  CHECK(strcmp(lanewise_data_type_name(LANEWISE_BF16), "bf16") == 0);
  CHECK(strcmp(lanewise_data_type_name(77), "unknown") == 0);

  char names[400];
  size_t length = 0;
  CHECK(lanewise_available_targets(names, sizeof(names), &length, NULL) == LANEWISE_OK);
  CHECK(length > 0 && length == strlen(names));
  // Every name is one that a plan accepts.
  for (char* name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
    const lanewise_attention_tensors tensors = EvenTensors();
    const lanewise_runtime runtime = {1, name, NULL};
    CHECK(lanewise_attention(&tensors, NULL, &runtime, NULL) == LANEWISE_OK && Near(out[0], 30));
  }

  const lanewise_tensor tensor = Dense(out, LANEWISE_BF16, 2, 3, 4, 5);
  CHECK(tensor.data == out && tensor.type == LANEWISE_BF16 && tensor.sizes[0] == 2);
  CHECK(tensor.strides[0] == 60 && tensor.strides[1] == 20 && tensor.strides[2] == 5);
  CHECK(tensor.strides[3] == 1);
  const int64_t huge[4] = {1, INT64_MAX, 2, 1};
  lanewise_tensor unused;
  CHECK(lanewise_tensor_init(&unused, out, LANEWISE_F32, huge) == LANEWISE_INVALID_ARGUMENT);
}

int main(void) {
  const Test tests[] = {
      {"Plans", Plans},
      {"Merge", Merge},
      {"TextsAndTensors", TextsAndTensors},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
