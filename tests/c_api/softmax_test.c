// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp as a C99 program uses them, against a plain double loop.

#include <lanewise/c_api/softmax.h>
#include <math.h>

#include "tests/c_api/check.h"

enum { kA = 2, kB = 3, kC = 5, kColumns = 37, kRows = kA * kB * kC };
static float in[kRows * kColumns];
static float out[kRows * kColumns];
static float lse[kRows];
static uint8_t mask[kC * kColumns];  // one for all of kA and kB

static void FillInputs(void) {
  Fill(in, kRows * kColumns, 1);
  for (int i = 0; i < kC * kColumns; ++i) mask[i] = (uint8_t)(i % 3);  // 2 is true, too
  memset(mask, 0, kColumns);                                           // a row of no columns
  for (int i = 0; i < kRows * kColumns; ++i) out[i] = -7;
  for (int row = 0; row < kRows; ++row) lse[row] = -7;
}

static lanewise_softmax_options Defaults(void) {
  lanewise_softmax_options options;
  CHECK(lanewise_softmax_options_init(&options) == LANEWISE_OK);
  CHECK(options.scale == 1 && options.mask.data == NULL && options.mask.sizes[3] == 0);
  return options;
}

static lanewise_tensor Rows(const float* data) {
  return Dense(data, LANEWISE_F32, kA, kB, kC, kColumns);
}

static lanewise_tensor RowNumbers(const float* data) {
  return Dense(data, LANEWISE_F32, kA, kB, kC, 1);
}

// exp(s_j), or 0 for a column that does not take part.
static double Term(const float* numbers, double scale, bool masked, int row, int j) {
  if (masked && mask[row % kC * kColumns + j] == 0) return 0;
  return exp(scale * (double)numbers[row * kColumns + j]);
}

static void ExpectSoftmax(const float* numbers, double scale, bool masked) {
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int j = 0; j < kColumns; ++j) sum += Term(numbers, scale, masked, row, j);
    for (int j = 0; j < kColumns; ++j) {
      const double term = Term(numbers, scale, masked, row, j);
      const double expected = term == 0 ? 0 : term / sum;
      const float found = out[row * kColumns + j];
      if (fabs((double)found - expected) <= 1e-6 && (term != 0 || found == 0)) continue;
      printf("[%d, %d]: found %g, expected %g\n", row, j, (double)found, expected);
      Check(false, "softmax", __LINE__);
      return;
    }
  }
}

static void ExpectLogSumExp(double scale, bool masked) {
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int j = 0; j < kColumns; ++j) sum += Term(in, scale, masked, row, j);
    if (sum == 0 ? lse[row] == -INFINITY : Near(lse[row], (float)log(sum))) continue;
    printf("[%d]: found %g, expected %g\n", row, (double)lse[row], log(sum));
    Check(false, "log-sum-exp", __LINE__);
    return;
  }
}

static void Expect(const lanewise_softmax_options* options, const lanewise_runtime* runtime) {
  const lanewise_tensor numbers = Rows(in);
  const lanewise_tensor rows = Rows(out);
  const lanewise_tensor row_numbers = RowNumbers(lse);
  const double scale = options == NULL ? 1 : (double)options->scale;
  const bool masked = options != NULL && options->mask.data != NULL;
  lanewise_error error;
  CHECK(lanewise_softmax(&numbers, &rows, options, runtime, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  ExpectSoftmax(in, scale, masked);
  CHECK(lanewise_log_sum_exp(&numbers, &row_numbers, options, runtime, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  ExpectLogSumExp(scale, masked);
}

static void ScaleAndMask(void) {
  const lanewise_runtime one_thread = {1, NULL, NULL};
  lanewise_softmax_options options = Defaults();
  FillInputs();
  Expect(NULL, NULL);
  Expect(&options, NULL);
  options.scale = -2.5f;
  Expect(&options, &one_thread);
  options.mask = Dense(mask, LANEWISE_BOOL, 1, 1, kC, kColumns);
  Expect(&options, NULL);
  options.scale = 0;
  Expect(&options, &one_thread);
}

static void InPlace(void) {
  const lanewise_tensor rows = Rows(out);
  FillInputs();
  memcpy(out, in, sizeof(out));
  CHECK(lanewise_softmax(&rows, &rows, NULL, NULL, NULL) == LANEWISE_OK);
  ExpectSoftmax(in, 1, false);
}

// Four columns with the same number: a quarter each, which every type holds exactly.
static void Types(void) {
  const uint16_t ones_bf16[4] = {0x3F80, 0x3F80, 0x3F80, 0x3F80};
  uint16_t halves[4] = {0};
  const lanewise_tensor from = Dense(ones_bf16, LANEWISE_BF16, 1, 1, 1, 4);
  const lanewise_tensor to = Dense(halves, LANEWISE_F16, 1, 1, 1, 4);
  CHECK(lanewise_softmax(&from, &to, NULL, NULL, NULL) == LANEWISE_OK);
  for (int j = 0; j < 4; ++j) CHECK(halves[j] == 0x3400);
}

typedef lanewise_status (*RowFunction)(const lanewise_tensor* in, const lanewise_tensor* out,
                                       const lanewise_softmax_options* options,
                                       const lanewise_runtime* runtime, lanewise_error* error);

// What is wrong for either function.
static void ExpectRefusals(RowFunction run, const lanewise_tensor* to) {
  const lanewise_tensor from = Rows(in);
  const lanewise_runtime nowhere = {1, "PDP11", NULL};
  const lanewise_runtime too_few = {-1, NULL, NULL};
  lanewise_error e;
  ExpectNull(run(NULL, to, NULL, NULL, &e), &e, "in");
  ExpectNull(run(&from, NULL, NULL, NULL, &e), &e, "out");
  CHECK(run(NULL, to, NULL, NULL, NULL) == LANEWISE_INVALID_ARGUMENT);
  ExpectError(run(&from, to, NULL, &nowhere, &e), &e, "target", "PDP11");
  ExpectError(run(&from, to, NULL, &too_few, &e), &e, "threads", "-1");

  lanewise_tensor wrong = from;
  wrong.type = 77;
  ExpectError(run(&wrong, to, NULL, NULL, &e), &e, "in", "unknown");
  wrong = from;
  wrong.data = NULL;
  ExpectNull(run(&wrong, to, NULL, NULL, &e), &e, "in");
  wrong = *to;
  wrong.type = LANEWISE_BOOL;
  ExpectError(run(&from, &wrong, NULL, NULL, &e), &e, "out", "bool");
  wrong = *to;
  wrong.sizes[2] = kC - 1;
  ExpectError(run(&from, &wrong, NULL, NULL, &e), &e, "out", "[2, 3, 4, ");
  wrong = *to;
  wrong.data = in + 1;
  ExpectError(run(&from, &wrong, NULL, NULL, &e), &e, "out", "that of in");

  lanewise_softmax_options options = Defaults();
  options.scale = NAN;
  ExpectError(run(&from, to, &options, NULL, &e), &e, "scale", "nan");
  options = Defaults();
  options.mask = Dense(mask, LANEWISE_BOOL, 1, 1, kC, kColumns - 1);
  ExpectError(run(&from, to, &options, NULL, &e), &e, "mask", "36");
  options.mask = Dense(mask, LANEWISE_F32, 1, 1, 1, kColumns);
  ExpectError(run(&from, to, &options, NULL, &e), &e, "mask", "f32");
  options.mask = Dense(NULL, LANEWISE_BOOL, 1, 1, kC, kColumns);
  ExpectNull(run(&from, to, &options, NULL, &e), &e, "mask");
}

static void Errors(void) {
  const lanewise_tensor rows = Rows(out);
  const lanewise_tensor row_numbers = RowNumbers(lse);
  FillInputs();
  ExpectRefusals(lanewise_softmax, &rows);
  ExpectRefusals(lanewise_log_sum_exp, &row_numbers);
  CHECK(lanewise_softmax_options_init(NULL) == LANEWISE_INVALID_ARGUMENT);
  for (int i = 0; i < kRows * kColumns; ++i) CHECK(out[i] == -7);
  for (int row = 0; row < kRows; ++row) CHECK(lse[row] == -7);
}

static void ZeroSizes(void) {
  const lanewise_tensor none = Dense(NULL, LANEWISE_F32, 1, 1, 2, 0);
  const lanewise_tensor row_numbers = Dense(lse, LANEWISE_F32, 1, 1, 2, 1);
  FillInputs();
  CHECK(lanewise_softmax(&none, &none, NULL, NULL, NULL) == LANEWISE_OK);
  CHECK(lanewise_log_sum_exp(&none, &row_numbers, NULL, NULL, NULL) == LANEWISE_OK);
  CHECK(lse[0] == -INFINITY && lse[1] == -INFINITY && lse[2] == -7);
}

int main(void) {
  const Test tests[] = {
      {"ScaleAndMask", ScaleAndMask}, {"InPlace", InPlace}, {"Types", Types}, {"Errors", Errors},
      {"ZeroSizes", ZeroSizes},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
