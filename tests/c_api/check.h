// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the C programs share: checks that print and count.

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

static inline bool Near(float a, float b) { return a - b < 1e-4f && b - a < 1e-4f; }

static inline lanewise_tensor Dense(const void* data, lanewise_data_type type, int64_t s0,
                                    int64_t s1, int64_t s2, int64_t s3) {
  const int64_t sizes[4] = {s0, s1, s2, s3};
  lanewise_tensor tensor;
  CHECK(lanewise_tensor_init(&tensor, data, type, sizes) == LANEWISE_OK);
  return tensor;
}

// A status other than LANEWISE_OK, whose message starts with `name` and has `part`.
static inline void ExpectError(lanewise_status status, const lanewise_error* error,
                               const char* name, const char* part) {
  CHECK(status != LANEWISE_OK);
  if (strncmp(error->message, name, strlen(name)) != 0 || strstr(error->message, part) == NULL) {
    printf("found \"%s\", expected \"%s\" and \"%s\"\n", error->message, name, part);
    Check(false, "message", __LINE__);
  }
}

// Of an argument that is null.
static inline void ExpectNull(lanewise_status status, const lanewise_error* error,
                              const char* name) {
  CHECK(status == LANEWISE_INVALID_ARGUMENT);
  ExpectError(status, error, name, "null");
}

// Numbers that a test fills its arrays with: from -1 to 1, the same in every run.
static inline void Fill(float* numbers, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (float)(seed >> 8) / (float)(1 << 23) - 1;
  }
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
