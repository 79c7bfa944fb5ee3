// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The attention weights as an output.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

AttentionCase WeightsCase() {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 37, .keys = 101, .dim = 12, .value_dim = 9};
  c.options.weights = true;
  c.options.lse = true;
  c.q = Gen(1, Count(c.q_sizes()), 3.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  return c;
}

// With everything that edits scores or hides keys.
std::vector<AttentionCase> WeightsCases() {
  std::vector<AttentionCase> cases(8, WeightsCase());
  cases[1].options.causal = true;
  cases[2].options.window = {20, 5};
  cases[3].SetMask(cases[3].pair_sizes(), RandomMask(5, Count(cases[3].pair_sizes()), 40));
  cases[4].SetBias({1, 4, 37, 101}, BiasWithHoles(6, 4 * 37 * 101, 2.0F, 30));
  cases[5].SetKvLen({50, 0});
  cases[5].options.causal = true;
  cases[6].SetAlibiSlopes({0.5F, 0.25F, 0.125F, 0});
  cases[6].options.softcap = 2.0F;
  cases[7].SetSinks({0, 3, -3, -kInf});
  return cases;
}

// The 101 weights of row n.
const float* RowOf(const std::vector<float>& weights, size_t n) { return weights.data() + n * 101; }

TEST(AttentionWeights, MatchTheReference) {
  for (const AttentionCase& c : WeightsCases()) ExpectMatchesReference(c, EveryPath());
}

// Σ_j weights_j = 1, or 1 - exp(sink - lse), or 0 for a row without keys.
TEST(AttentionWeights, RowsSumToOne) {
  for (const AttentionCase& c : WeightsCases()) {
    const PreparedCase prepared(c);
    for (const Path& path : EveryTile()) {
      const AttentionRun run = prepared.Run(path);
      for (size_t n = 0; n < run.lse.size(); ++n) {
        double sum = 0;
        for (int j = 0; j < 101; ++j) sum += double{RowOf(run.weights, n)[j]};
        const double lse = double{run.lse[n]};
        double want = 1;
        if (c.options.sinks) want -= std::exp(double{c.sinks[n / 37 % 4]} - lse);
        if (std::isinf(lse)) want = 0;
        ASSERT_NEAR(sum, want, 2e-6) << "row " << n << ", " << path.ToString() << c.ToString();
      }
    }
  }
}

// weights · V = out
TEST(AttentionWeights, TimesValuesAreTheOutput) {
  for (const AttentionCase& c : WeightsCases()) {
    const PreparedCase prepared(c);
    const std::vector<float> v = Gen(3, Count(c.v_sizes()));
    for (const Path& path : EveryTile()) {
      const AttentionRun run = prepared.Run(path);
      for (size_t n = 0; n < run.lse.size(); ++n) {
        const size_t kv_head = n / 37 / 2;  // of all items
        for (size_t column = 0; column < 9; ++column) {
          double sum = 0;
          for (size_t j = 0; j < 101; ++j) {
            sum += double{RowOf(run.weights, n)[j]} * double{v[(kv_head * 101 + j) * 9 + column]};
          }
          ASSERT_NEAR(run.out[n * 9 + column], sum, 2e-6) << path.ToString() << c.ToString();
        }
      }
    }
  }
}

// All bits 0 where a row does not see the key.
TEST(AttentionWeights, HiddenEntriesAreZero) {
  for (const AttentionCase& c : WeightsCases()) {
    const PreparedCase prepared(c);
    const Expectation expected = prepared.FromReference();
    for (const Path& path : EveryTile()) {
      const AttentionRun run = prepared.Run(path);
      for (size_t i = 0; i < run.weights.size(); ++i) {
        if (expected.value.weights[i] != 0) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(run.weights[i]), 0U)
            << "weight " << i << ", " << path.ToString() << c.ToString();
      }
    }
  }
}

// The row is NaN, and yet it does not see its hidden keys.
TEST(AttentionWeights, HiddenEntriesOfNanRowsAreZeroToo) {
  for (const AttentionCase& clean : WeightsCases()) {
    AttentionCase c = clean;
    for (size_t row = 0; row < 2 * 4 * 37; row += 5) c.q[row * 12 + 3] = kNan;
    const PreparedCase prepared(c);
    const Expectation expected = prepared.FromReference();
    for (const Path& path : EveryTile()) {
      const AttentionRun run = prepared.Run(path);
      EXPECT_TRUE(prepared.Agrees(run, expected)) << path.ToString();
      for (size_t i = 0; i < run.weights.size(); ++i) {
        if (expected.value.weights[i] != 0) continue;
        ASSERT_EQ(run.weights[i], 0.0F)
            << "weight " << i << ", " << path.ToString() << c.ToString();
      }
    }
  }
}

TEST(AttentionWeights, AreOnlyAnOutput) {
  for (AttentionCase c : WeightsCases()) {
    const PreparedCase with(c);
    c.options.weights = false;
    const PreparedCase without(c);
    for (Path path : EveryTile()) {
      path.weights = false;
      EXPECT_TRUE(SameBits(without.Run(path), with.Run(path))) << path.ToString() << c.ToString();
    }
  }
}

TEST(AttentionWeights, WithoutValueColumns) {
  for (AttentionCase c : WeightsCases()) {
    c.shape.value_dim = 0;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionWeights, WithoutKeys) {
  AttentionCase c = WeightsCase();
  c.shape.keys = 0;
  c.k = {};
  ExpectMatchesReference(c, EveryPath());
  c.SetSinks({1, 2, 3, 4});
  ExpectMatchesReference(c, EveryPath());
}

TEST(AttentionWeights, StridesDoNotChangeABit) {
  AttentionCase c = WeightsCase();
  c.options.window = {30, 3};
  const PreparedCase dense(c);
  for (const StrideRule rule : {PaddedStrides, PackedStrides}) {
    c.out_strides = rule;
    for (const GuardSide guard : {GuardSide::kBefore, GuardSide::kAfter}) {
      c.placement.guard = guard;
      const PreparedCase strided(c);
      for (const Path& path : EveryTile()) {
        EXPECT_TRUE(SameBits(strided.Run(path), dense.Run(path))) << path.ToString();
      }
    }
  }
}

// Scores that span more than exp does, and rows whose largest score comes last.
TEST(AttentionWeights, LargeScores) {
  AttentionCase c;
  c.shape = {.queries = 20, .keys = 150, .dim = 1, .value_dim = 1};
  c.options.scale = 1.0F;
  c.options.weights = true;
  c.q = Ramp(-30, 3, 20);
  for (const float step : {0.01F, 1.0F, 100.0F}) {
    c.k = Ramp(0, step, 150);
    ExpectMatchesReference(c, EveryPath());
  }
}

TEST(AttentionWeights, KeyCountsAroundVectors) {
  for (int64_t keys = 1; keys <= 70; ++keys) {
    AttentionCase c;
    c.shape = {.queries = 1 + keys % 19, .keys = keys, .dim = 3, .value_dim = 2};
    c.options.weights = true;
    c.options.causal = keys % 2 == 0;
    ExpectMatchesReference(c, EveryTile());
  }
}

}  // namespace
}  // namespace lanewise::testing
