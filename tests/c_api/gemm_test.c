// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products as a C99 program uses them: each field that is copied across against a plain
// double loop, packed matrices, plans, and what happens when an argument is wrong.

#include <lanewise/c_api/gemm.h>
#include <math.h>  // INFINITY

#include "tests/c_api/check.h"

enum { kBatch = 2, kHeads = 3, kRows = 9, kColumns = 21, kDepth = 5, kMatrices = kBatch * kHeads };
static float a[kMatrices * kRows * kDepth];
static float b[kMatrices * kDepth * kColumns];
static float before[kMatrices * kRows * kColumns];  // c as it was
static float residual[kMatrices * kRows * kColumns];
static float bias[kColumns];
static float c[kMatrices * kRows * kColumns];

static void FillInputs(void) {
  Fill(a, kMatrices * kRows * kDepth, 1);
  Fill(b, kMatrices * kDepth * kColumns, 2);
  Fill(before, kMatrices * kRows * kColumns, 3);
  Fill(residual, kMatrices * kRows * kColumns, 4);
  Fill(bias, kColumns, 5);
  memcpy(c, before, sizeof(c));
}

static lanewise_gemm_options Defaults(void) {
  lanewise_gemm_options options;
  CHECK(lanewise_gemm_options_init(&options) == LANEWISE_OK);
  return options;
}

static lanewise_tensor Matrices(const void* data, int64_t rows, int64_t columns, bool transpose) {
  return transpose ? Dense(data, LANEWISE_F32, kBatch, kHeads, columns, rows)
                   : Dense(data, LANEWISE_F32, kBatch, kHeads, rows, columns);
}

// The arrays that `options` ask for, but for a packed b.
static lanewise_gemm_tensors Tensors(const lanewise_gemm_options* options) {
  lanewise_gemm_tensors tensors = {0};
  tensors.a = Matrices(a, kRows, kDepth, options->transpose_a);
  if (!options->packed_b) tensors.b = Matrices(b, kDepth, kColumns, options->transpose_b);
  tensors.c = Matrices(c, kRows, kColumns, false);
  if (options->bias) tensors.bias = (lanewise_float_array){bias, kColumns};
  if (options->residual) tensors.residual = Matrices(residual, kRows, kColumns, false);
  return tensors;
}

static double Expected(const lanewise_gemm_options* options, int matrix, int i, int j) {
  const int element = (matrix * kRows + i) * kColumns + j;
  double sum = 0;
  for (int s = 0; s < kDepth; ++s) {
    const int at_a = options->transpose_a ? s * kRows + i : i * kDepth + s;
    const int at_b = options->transpose_b ? j * kDepth + s : s * kColumns + j;
    sum += (double)a[matrix * kRows * kDepth + at_a] * (double)b[matrix * kDepth * kColumns + at_b];
  }
  sum = (double)options->alpha * sum + (double)options->beta * (double)before[element];
  if (options->bias) sum += (double)bias[j];
  if (options->residual) sum += (double)residual[element];
  return sum;
}

static void ExpectProduct(const lanewise_gemm_options* options) {
  for (int element = 0; element < kMatrices * kRows * kColumns; ++element) {
    const int row = element / kColumns;
    const double expected = Expected(options, row / kRows, row % kRows, element % kColumns);
    if (Near(c[element], (float)expected)) continue;
    printf("c[%d]: found %g, expected %g with alpha %g, beta %g, %d%d%d%d%d\n", element,
           (double)c[element], expected, (double)options->alpha, (double)options->beta,
           options->transpose_a, options->transpose_b, options->bias, options->residual,
           options->packed_b);
    Check(false, "product", __LINE__);
    return;
  }
}

static lanewise_gemm_shape Shape(void) {
  lanewise_gemm_shape shape;
  CHECK(lanewise_gemm_shape_init(&shape) == LANEWISE_OK);
  CHECK(shape.batch == 1 && shape.heads == 1 && shape.rows == 0 && shape.columns == 0);
  CHECK(shape.depth == 0);
  shape.batch = kBatch;
  shape.heads = kHeads;
  shape.rows = kRows;
  shape.columns = kColumns;
  shape.depth = kDepth;
  return shape;
}

// In one call and by way of a plan: the same bits.
static void ExpectBothWays(const lanewise_gemm_options* options,
                           const lanewise_gemm_tensors* tensors) {
  static float once[kMatrices * kRows * kColumns];
  const lanewise_gemm_shape shape = Shape();
  lanewise_gemm_plan* plan = NULL;
  lanewise_workspace* workspace = NULL;
  lanewise_error error;
  size_t bytes = 0;
  memcpy(c, before, sizeof(c));
  CHECK(lanewise_gemm(tensors, options, NULL, &error) == LANEWISE_OK && error.message[0] == '\0');
  ExpectProduct(options);
  memcpy(once, c, sizeof(c));
  memcpy(c, before, sizeof(c));
  CHECK(lanewise_gemm_plan_create(&shape, options, NULL, &plan, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  CHECK(lanewise_gemm_plan_workspace_bytes(plan, &bytes) == LANEWISE_OK);
  CHECK(lanewise_workspace_create(bytes, &workspace, &error) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_run(plan, tensors, workspace, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0' && memcmp(c, once, sizeof(c)) == 0);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_destroy(plan) == LANEWISE_OK);
}

static void EveryMixOfOptions(void) {
  const float factors[3][2] = {{1, 0}, {-0.5f, 2}, {0, 1}};
  FillInputs();
  for (int mix = 0; mix < 3 * 32; ++mix) {
    lanewise_gemm_options options = Defaults();
    CHECK(options.alpha == 1 && options.beta == 0 && !options.transpose_a && !options.packed_b);
    options.alpha = factors[mix / 32][0];
    options.beta = factors[mix / 32][1];
    options.transpose_a = mix & 1;
    options.transpose_b = mix & 2;
    options.bias = mix & 4;
    options.residual = mix & 8;
    options.packed_b = mix & 16;
    lanewise_gemm_tensors tensors = Tensors(&options);
    lanewise_packed_matrix* packed = NULL;
    if (options.packed_b) {
      const lanewise_tensor from = Matrices(b, kDepth, kColumns, options.transpose_b);
      lanewise_error error;
      size_t bytes = 0;
      CHECK(lanewise_packed_matrix_create(&from, options.transpose_b, NULL, &packed, &error) ==
            LANEWISE_OK);
      CHECK(error.message[0] == '\0');
      CHECK(lanewise_packed_matrix_size_bytes(packed, &bytes) == LANEWISE_OK);
      CHECK(bytes >= sizeof(b));
      tensors.packed_b = packed;
    }
    ExpectBothWays(&options, &tensors);
    CHECK(lanewise_packed_matrix_destroy(packed) == LANEWISE_OK);
  }
}

// Without options: C = A B.
static void NoOptions(void) {
  FillInputs();
  const lanewise_gemm_options options = Defaults();
  const lanewise_gemm_tensors tensors = Tensors(&options);
  CHECK(lanewise_gemm(&tensors, NULL, NULL, NULL) == LANEWISE_OK);
  ExpectProduct(&options);
}

// Small whole numbers, which each type holds exactly.
static void Types(void) {
  const uint16_t one_two_f16[2] = {0x3C00, 0x4000};
  const uint16_t three_four_bf16[2] = {0x4040, 0x4080};
  const float seven = 7;
  const float eight = 8;
  const uint16_t eleven_f16 = 0x4980;
  uint16_t sixteen_bits = 0;
  float number = 0;
  lanewise_gemm_tensors tensors = {0};
  tensors.a = Dense(one_two_f16, LANEWISE_F16, 1, 1, 1, 2);
  tensors.b = Dense(three_four_bf16, LANEWISE_BF16, 1, 1, 2, 1);
  tensors.c = Dense(&number, LANEWISE_F32, 1, 1, 1, 1);
  CHECK(lanewise_gemm(&tensors, NULL, NULL, NULL) == LANEWISE_OK && Near(number, 11));
  tensors.c = Dense(&sixteen_bits, LANEWISE_F16, 1, 1, 1, 1);
  CHECK(lanewise_gemm(&tensors, NULL, NULL, NULL) == LANEWISE_OK && sixteen_bits == eleven_f16);
  tensors.a = Dense(&seven, LANEWISE_F32, 1, 1, 1, 1);
  tensors.b = Dense(&eight, LANEWISE_F32, 1, 1, 1, 1);
  tensors.c = Dense(&sixteen_bits, LANEWISE_BF16, 1, 1, 1, 1);
  CHECK(lanewise_gemm(&tensors, NULL, NULL, NULL) == LANEWISE_OK && sixteen_bits == 0x4260);

  // The three types of a plan.
  lanewise_gemm_shape shape = Shape();
  CHECK(shape.a_type == LANEWISE_F32 && shape.b_type == LANEWISE_F32);
  CHECK(shape.c_type == LANEWISE_F32);
  lanewise_data_type* const types[3] = {&shape.a_type, &shape.b_type, &shape.c_type};
  const char* const names[3] = {"a_type", "b_type", "c_type"};
  const lanewise_data_type wrong[2] = {LANEWISE_BOOL, 77};
  const char* const found[2] = {"bool", "unknown"};
  for (int i = 0; i < 6; ++i) {
    lanewise_gemm_plan* plan = (lanewise_gemm_plan*)&shape;
    lanewise_error e;
    *types[i / 2] = wrong[i % 2];
    ExpectError(lanewise_gemm_plan_create(&shape, NULL, NULL, &plan, &e), &e, names[i / 2],
                found[i % 2]);
    CHECK(plan == NULL);
    *types[i / 2] = LANEWISE_F32;
  }
}

static void Explained(void) {
  const lanewise_runtime runtime = {1, NULL, "a note"};
  const lanewise_gemm_shape shape = Shape();
  lanewise_gemm_plan* plan = NULL;
  char text[2000];
  char start[9];
  size_t length = 0;
  size_t needed = 0;
  lanewise_error e;
  CHECK(lanewise_gemm_plan_create(&shape, NULL, &runtime, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_explain(plan, text, sizeof(text), &length, &e) == LANEWISE_OK);
  CHECK(e.message[0] == '\0' && length == strlen(text) && length < sizeof(text));
  CHECK(strstr(text, "depth_block") != NULL && strstr(text, "threads       1\n") != NULL);
  CHECK(strstr(text, "a note") != NULL);
  memset(start, 'x', sizeof(start));
  CHECK(lanewise_gemm_plan_explain(plan, start, 8, NULL, NULL) == LANEWISE_OK);
  CHECK(memcmp(start, "variant\0x", 9) == 0);
  CHECK(lanewise_gemm_plan_explain(plan, NULL, 0, &needed, NULL) == LANEWISE_OK);
  CHECK(needed == length);
  ExpectNull(lanewise_gemm_plan_explain(plan, NULL, 1, &length, &e), &e, "text");
  ExpectNull(lanewise_gemm_plan_explain(NULL, text, 1, &length, &e), &e, "plan");
  CHECK(lanewise_gemm_plan_destroy(plan) == LANEWISE_OK);
}

static void NullPointers(void) {
  const lanewise_gemm_options options = Defaults();
  const lanewise_gemm_tensors tensors = Tensors(&options);
  const lanewise_gemm_shape shape = Shape();
  lanewise_gemm_plan* plan = NULL;
  lanewise_packed_matrix* packed = (lanewise_packed_matrix*)&plan;
  lanewise_workspace* workspace = NULL;
  size_t bytes = 0;
  lanewise_error e;
  ExpectNull(lanewise_gemm(NULL, NULL, NULL, &e), &e, "tensors");
  ExpectNull(lanewise_packed_matrix_create(NULL, false, NULL, &packed, &e), &e, "b");
  CHECK(packed == NULL);
  ExpectNull(lanewise_packed_matrix_create(&tensors.b, false, NULL, NULL, &e), &e, "packed_b");
  ExpectNull(lanewise_gemm_plan_create(NULL, NULL, NULL, &plan, &e), &e, "shape");
  ExpectNull(lanewise_gemm_plan_create(&shape, NULL, NULL, NULL, &e), &e, "plan");

  CHECK(lanewise_gemm_plan_create(&shape, NULL, NULL, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_workspace_create(1, &workspace, &e) == LANEWISE_OK);
  ExpectNull(lanewise_gemm_plan_run(NULL, &tensors, workspace, &e), &e, "plan");
  ExpectNull(lanewise_gemm_plan_run(plan, NULL, workspace, &e), &e, "tensors");
  ExpectNull(lanewise_gemm_plan_run(plan, &tensors, NULL, &e), &e, "workspace");
  CHECK(lanewise_gemm_plan_workspace_bytes(plan, NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_gemm_plan_workspace_bytes(NULL, &bytes) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_packed_matrix_size_bytes(NULL, &bytes) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_gemm_shape_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_gemm_options_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_destroy(plan) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_destroy(NULL) == LANEWISE_OK);
  CHECK(lanewise_packed_matrix_destroy(NULL) == LANEWISE_OK);
}

// What C++ finds wrong comes across, and nothing is written.
static void Errors(void) {
  const lanewise_runtime nowhere = {1, "PDP11", NULL};
  const lanewise_runtime too_few = {-1, NULL, NULL};
  lanewise_gemm_options options = Defaults();
  lanewise_gemm_tensors tensors = Tensors(&options);
  lanewise_gemm_shape shape = Shape();
  lanewise_gemm_plan* plan = (lanewise_gemm_plan*)&shape;
  lanewise_packed_matrix* packed = NULL;
  lanewise_workspace* workspace = NULL;
  size_t bytes = 0;
  lanewise_error e;
  FillInputs();
  tensors.b.sizes[2] = kDepth - 1;
  ExpectError(lanewise_gemm(&tensors, NULL, NULL, &e), &e, "b", "[2, 3, 4, 21]");
  CHECK(lanewise_gemm(&tensors, NULL, NULL, NULL) == LANEWISE_INVALID_ARGUMENT);
  tensors = Tensors(&options);
  tensors.bias = (lanewise_float_array){bias, kColumns};
  ExpectError(lanewise_gemm(&tensors, NULL, NULL, &e), &e, "bias", "off");
  tensors = Tensors(&options);
  tensors.c.data = a;
  ExpectError(lanewise_gemm(&tensors, NULL, NULL, &e), &e, "c", "that of a");
  tensors = Tensors(&options);
  ExpectError(lanewise_gemm(&tensors, NULL, &nowhere, &e), &e, "target", "PDP11");
  ExpectError(lanewise_gemm(&tensors, NULL, &too_few, &e), &e, "threads", "-1");

  // Both, and neither, of b and a packed matrix; one that does not fit.
  options.packed_b = true;
  ExpectError(lanewise_gemm(&tensors, &options, NULL, &e), &e, "b", "packed_b");
  tensors = Tensors(&options);
  ExpectError(lanewise_gemm(&tensors, &options, NULL, &e), &e, "packed_b", "null");
  const lanewise_tensor small = Dense(b, LANEWISE_F32, 1, 1, kDepth, kColumns - 1);
  CHECK(lanewise_packed_matrix_create(&small, false, NULL, &packed, &e) == LANEWISE_OK);
  tensors.packed_b = packed;
  CHECK(lanewise_gemm_plan_create(&shape, &options, NULL, &plan, &e) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_workspace_bytes(plan, &bytes) == LANEWISE_OK && bytes > 0);
  CHECK(lanewise_workspace_create(bytes, &workspace, &e) == LANEWISE_OK);
  ExpectError(lanewise_gemm_plan_run(plan, &tensors, workspace, &e), &e, "packed_b", "20");
  CHECK(lanewise_packed_matrix_destroy(packed) == LANEWISE_OK);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);

  // A small workspace.
  const lanewise_tensor whole = Matrices(b, kDepth, kColumns, false);
  CHECK(lanewise_packed_matrix_create(&whole, false, NULL, &packed, &e) == LANEWISE_OK);
  tensors.packed_b = packed;
  CHECK(lanewise_workspace_create(bytes - 1, &workspace, &e) == LANEWISE_OK);
  ExpectError(lanewise_gemm_plan_run(plan, &tensors, workspace, &e), &e, "workspace", "");
  CHECK(lanewise_packed_matrix_destroy(packed) == LANEWISE_OK);
  CHECK(lanewise_workspace_destroy(workspace) == LANEWISE_OK);
  CHECK(lanewise_gemm_plan_destroy(plan) == LANEWISE_OK);

  // Failures leave null behind.
  ExpectError(lanewise_packed_matrix_create(&small, false, &nowhere, &packed, &e), &e, "target",
              "PDP11");
  CHECK(packed == NULL);
  options = Defaults();
  options.beta = INFINITY;
  ExpectError(lanewise_gemm_plan_create(&shape, &options, NULL, &plan, &e), &e, "beta", "inf");
  CHECK(plan == NULL);
  shape.depth = -1;
  ExpectError(lanewise_gemm_plan_create(&shape, NULL, NULL, &plan, &e), &e, "depth", "-1");
  CHECK(memcmp(c, before, sizeof(c)) == 0);
}

int main(void) {
  const Test tests[] = {
      {"EveryMixOfOptions", EveryMixOfOptions},
      {"NoOptions", NoOptions},
      {"Types", Types},
      {"Explained", Explained},
      {"NullPointers", NullPointers},
      {"Errors", Errors},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
