// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the C programs share: checks that print and count, and a small problem.

#ifndef LANEWISE_TESTS_C_API_CHECK_H_
#define LANEWISE_TESTS_C_API_CHECK_H_

#include <lanewise/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static const char* current = "";

static void Check(bool ok, const char* what, int line) {
  if (ok) return;
  ++failures;
  printf("%d: %s: %s\n", line, current, what);
}
#define CHECK(condition) Check((condition), #condition, __LINE__)

static bool Near(float a, float b) { return a - b < 1e-4f && b - a < 1e-4f; }

static lanewise_tensor Dense(const void* data, lanewise_data_type type, int64_t s0, int64_t s1,
                             int64_t s2, int64_t s3) {
  const int64_t sizes[4] = {s0, s1, s2, s3};
  lanewise_tensor tensor;
  CHECK(lanewise_tensor_init(&tensor, data, type, sizes) == LANEWISE_OK);
  return tensor;
}

// Three queries of zeros on three keys: every visible key has the same weight.
static const float kQueries[6] = {0};
static const float kKeys[6] = {1, 0, 0, 1, 1, 1};
static const float kValues[3] = {10, 20, 60};
static const float kUntouched = -7;
static float out[3];

static lanewise_attention_tensors EvenTensors(void) {
  lanewise_attention_tensors tensors = {0};
  tensors.q = Dense(kQueries, LANEWISE_F32, 1, 1, 3, 2);
  tensors.k = Dense(kKeys, LANEWISE_F32, 1, 1, 3, 2);
  tensors.v = Dense(kValues, LANEWISE_F32, 1, 1, 3, 1);
  tensors.out = Dense(out, LANEWISE_F32, 1, 1, 3, 1);
  out[0] = out[1] = out[2] = kUntouched;
  return tensors;
}

typedef struct Test {
  const char* name;
  void (*run)(void);
} Test;

static int RunTests(const Test* tests, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    current = tests[i].name;
    tests[i].run();
  }
  printf("%d failures\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif  // LANEWISE_TESTS_C_API_CHECK_H_
