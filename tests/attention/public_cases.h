// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Inputs of public cases that are tested in f32 and, elsewhere, in f16 and bf16.

#ifndef LANEWISE_TESTS_ATTENTION_PUBLIC_CASES_H_
#define LANEWISE_TESTS_ATTENTION_PUBLIC_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {

// C001: the first of two mask rows is all false.
inline AttentionCase C001Case() {
  AttentionCase c;
  c.shape = {.queries = 2, .keys = 3, .dim = 2, .value_dim = 2};
  c.options.scale = 1.0F;
  c.q = {1, 0, 0, 1};
  c.k = {1, 0, 0, 1, 1, 1};
  c.v = {1, 2, 3, 4, 5, 6};
  c.SetMask({1, 1, 2, 3}, {0, 0, 0, 1, 0, 1});
  return c;
}

inline KnownResult C001Result() {
  return {.out = {0, 0, 3.92423431, 4.92423431},
          .out_tolerance = T32(C001Case().v),
          .lse = {-std::numeric_limits<double>::infinity(), 1.31326169},
          .lse_tolerance = 1e-6};
}

// C010: four lengths in caches of 128 slots.
inline AttentionCase C010Case(int64_t queries) {
  AttentionCase c;
  c.shape = {.batch = 4,
             .heads = 2,
             .kv_heads = 2,
             .queries = queries,
             .keys = 128,
             .dim = 64,
             .value_dim = 64};
  c.SetKvLen({32, 64, 96, 48});
  c.q = Gen(1, Count(c.q_sizes()));
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

// Everything from row kv_len on becomes `value`.
inline void FillTails(std::vector<float>& values, const Sizes& sizes,
                      const std::vector<int64_t>& kv_len, float value) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / sizes[3] % sizes[2];
    const int64_t item = static_cast<int64_t>(i) / (sizes[3] * sizes[2] * sizes[1]);
    if (row >= kv_len[static_cast<size_t>(item)]) values[i] = value;
  }
}

// C025: a long row. The values are the test's.
inline AttentionCase C025Case() {
  AttentionCase c;
  c.shape = {.queries = 4, .keys = 5000, .dim = 64, .value_dim = 64};
  c.options.scale = 1.0F;
  c.q = Gen(1, 4 * 64, 3.0F);
  c.k = Gen(2, 5000 * 64, 3.0F);
  return c;
}

// C025: each element of `out` lies between the smallest and the largest of `v` in its column.
inline void ExpectInHull(const std::vector<float>& out, const std::vector<float>& v,
                         double tolerance, const std::string& where) {
  constexpr size_t kColumns = 64;
  std::vector<float> min(kColumns, std::numeric_limits<float>::infinity());
  std::vector<float> max(kColumns, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < v.size(); ++i) {
    min[i % kColumns] = std::min(min[i % kColumns], v[i]);
    max[i % kColumns] = std::max(max[i % kColumns], v[i]);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_GE(out[i], min[i % kColumns] - tolerance) << "element " << i << ", " << where;
    ASSERT_LE(out[i], max[i % kColumns] + tolerance) << "element " << i << ", " << where;
  }
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_ATTENTION_PUBLIC_CASES_H_
