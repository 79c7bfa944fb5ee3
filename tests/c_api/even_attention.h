// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A small problem of attention.

#ifndef LANEWISE_TESTS_C_API_EVEN_ATTENTION_H_
#define LANEWISE_TESTS_C_API_EVEN_ATTENTION_H_

#include "tests/c_api/check.h"

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

#endif  // LANEWISE_TESTS_C_API_EVEN_ATTENTION_H_
