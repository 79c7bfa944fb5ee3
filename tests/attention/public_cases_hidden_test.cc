// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about positions that are excluded and yet have an influence: C009 and C010
// (group B), and the capacity of caches (group G, C066).

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tests/attention/public_cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const float kAllOnes = std::bit_cast<float>(0xFFFFFFFFU);

// Key 1 of 2 is hidden from both rows, in each way that there is.
std::vector<AttentionCase> C009Cases() {
  AttentionCase c;
  c.shape = {.queries = 2, .keys = 2, .dim = 4, .value_dim = 4};
  c.q = c.k = c.v = Ramp(0, 1, 8);
  std::vector<AttentionCase> cases(6, c);
  cases[0].SetMask({1, 1, 2, 2}, {1, 0, 1, 0});
  cases[1].SetMask({1, 1, 1, 2}, {1, 0});
  cases[2].SetBias({1, 1, 2, 2}, {0, -kInf, 0, -kInf});
  cases[3].SetBias({1, 1, 1, 2}, {0, -kInf});
  cases[4].SetKvLen({1});
  cases[5].options.window = {kUnlimited, 0};
  cases[5].options.query_offset = -1;
  cases[5].q = {4, 5, 6, 7, 0, 1, 2, 3};
  return cases;
}

TEST(PublicCases, C009_WhateverLiesInAHiddenKey) {
  const std::vector<AttentionCase> cases = C009Cases();
  for (size_t i = 0; i < cases.size(); ++i) {
    const PreparedCase clean(cases[i]);
    // Position -1 sees no key, position 0 the first.
    const std::vector<double> out = i == 5 ? std::vector<double>{0, 0, 0, 0, 0, 1, 2, 3}
                                           : std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3};
    ExpectKnownResult(cases[i], {.out = out}, EveryPath());
    for (const float bad : {kNan, kInf, -kInf, 1e38F}) {
      for (const bool in_keys : {true, false}) {
        AttentionCase c = cases[i];
        std::fill_n((in_keys ? c.k : c.v).begin() + 4, 4, bad);
        const PreparedCase poisoned(c);
        for (const Path& path : EveryPath()) {
          EXPECT_TRUE(SameBits(poisoned.Run(path), clean.Run(path)))
              << bad << " in " << (in_keys ? "k" : "v") << ", " << path.ToString() << "; "
              << c.ToString();
        }
      }
    }
  }
}

// `valid` rows of each head of item b, of heads of `capacity` rows.
std::vector<float> ValidRows(const std::vector<float>& values, const Sizes& sizes, int64_t b,
                             int64_t valid) {
  std::vector<float> rows;
  for (int64_t h = 0; h < sizes[1]; ++h) {
    const auto first = values.begin() + (b * sizes[1] + h) * sizes[2] * sizes[3];
    rows.insert(rows.end(), first, first + valid * sizes[3]);
  }
  return rows;
}

TEST(PublicCases, C010_WhateverLiesBehindTheValidKeys) {
  for (const int64_t queries : {1, 5, 33}) {
    AttentionCase c = C010Case(queries);
    c.options.causal = queries > 1;
    const auto with_tail = [&](float value) {
      AttentionCase filled = c;
      FillTails(filled.k, c.k_sizes(), c.kv_len, value);
      FillTails(filled.v, c.v_sizes(), c.kv_len, value);
      return filled;
    };
    const PreparedCase zeros(with_tail(0));
    const Expectation expected = zeros.FromReference();
    for (const float bad : {kNan, kInf, kAllOnes, 1e38F}) {
      const PreparedCase poisoned(with_tail(bad));
      for (const Path& path : EveryTile()) {
        const AttentionRun want = zeros.Run(path);
        EXPECT_TRUE(zeros.Agrees(want, expected)) << path.ToString();
        EXPECT_TRUE(SameBits(poisoned.Run(path), want)) << bad << ", " << path.ToString();
      }
    }
  }
}

// The same items with arrays of exactly the valid length.
TEST(PublicCases, C010_ValidKeysAlone) {
  const AttentionCase c = C010Case(1);
  const PreparedCase together(c);
  for (int64_t b = 0; b < 4; ++b) {
    AttentionCase one = c;
    one.shape.batch = 1;
    one.shape.keys = c.kv_len[static_cast<size_t>(b)];
    one.options.kv_len = false;
    one.q = {c.q.begin() + b * 128, c.q.begin() + (b + 1) * 128};
    one.k = ValidRows(c.k, c.k_sizes(), b, one.shape.keys);
    one.v = ValidRows(c.v, c.v_sizes(), b, one.shape.keys);
    const PreparedCase alone(one);
    const Expectation expected = alone.FromReference();
    for (const Path& path : EveryPath()) {
      AttentionRun run;
      const std::vector<float> out = together.Run(path).out;
      run.out = {out.begin() + b * 128, out.begin() + (b + 1) * 128};
      EXPECT_TRUE(alone.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run.out, alone.Run(path).out)) << "item " << b << path.ToString();
    }
  }
}

// The first `valid` of each row of `capacity` weights; the others have to be 0.
std::vector<float> WithoutTail(const std::vector<float>& weights, int64_t capacity, int64_t valid) {
  std::vector<float> kept;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (static_cast<int64_t>(i) % capacity < valid) {
      kept.push_back(weights[i]);
    } else {
      EXPECT_EQ(weights[i], 0.0F) << "weight " << i << " of rows of " << capacity;
    }
  }
  return kept;
}

TEST(PublicCases, C066_CapacityDoesNotMatter) {
  constexpr int64_t kValid = 40;
  AttentionCase exact;
  exact.shape = {
      .heads = 2, .kv_heads = 2, .queries = 1, .keys = kValid, .dim = 64, .value_dim = 64};
  exact.k = Gen(2, Count(exact.k_sizes()));
  exact.v = Gen(3, Count(exact.v_sizes()));
  const PreparedCase at_capacity(exact);
  const Expectation expected = at_capacity.FromReference();
  for (const int64_t capacity : {40, 64, 4096}) {
    AttentionCase c = exact;
    c.shape.keys = capacity;
    c.k = Gen(7, Count(c.k_sizes()), 1e6F);
    c.v = Gen(8, Count(c.v_sizes()), 1e6F);
    for (int64_t h = 0; h < 2; ++h) {
      std::copy_n(exact.k.begin() + h * kValid * 64, kValid * 64, c.k.begin() + h * capacity * 64);
      std::copy_n(exact.v.begin() + h * kValid * 64, kValid * 64, c.v.begin() + h * capacity * 64);
    }
    c.SetKvLen({kValid});
    const PreparedCase prepared(c);
    for (const Path& path : EveryTile()) {
      AttentionRun run = prepared.Run(path);
      run.weights = WithoutTail(run.weights, capacity, kValid);
      EXPECT_TRUE(SameBits(run, at_capacity.Run(path)))
          << "capacity " << capacity << ", " << path.ToString();
      EXPECT_TRUE(at_capacity.Agrees(run, expected)) << path.ToString();
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
