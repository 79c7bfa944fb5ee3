// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Patterns, broadcasting and slices: what other tests take for granted.

#include "tests/support/slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

TEST(Patterns, HideAboutAsMuchAsAskedFor) {
  for (const uint32_t percent : {0U, 20U, 50U, 100U}) {
    const std::vector<uint8_t> mask = RandomMask(1, 10000, percent);
    const auto seen = mask.size() - static_cast<size_t>(std::count(mask.begin(), mask.end(), 0));
    EXPECT_NEAR(static_cast<double>(seen), 100.0 * percent, 200) << percent;
    const std::vector<float> bias = BiasWithHoles(1, 10000, 2.0F, percent);
    const auto holes =
        std::count_if(bias.begin(), bias.end(), [](float b) { return std::isinf(b); });
    EXPECT_NEAR(static_cast<double>(holes), 100.0 * percent, 200) << percent;
  }
}

TEST(Patterns, BlocksAreUniform) {
  const Sizes sizes = {1, 2, 20, 30};
  const std::vector<uint8_t> mask = BlockMask(3, sizes, {8, 10}, 50);
  ASSERT_EQ(mask.size(), 1200U);
  for (size_t i = 0; i < mask.size(); ++i) {
    const size_t row = i / 30 % 20;
    const size_t column = i % 30;
    const size_t corner = i - (row % 8) * 30 - column % 10;
    EXPECT_EQ(mask[i] != 0, mask[corner] != 0) << i;
  }
  EXPECT_GT(std::count(mask.begin(), mask.end(), 0), 0);
  EXPECT_LT(std::count(mask.begin(), mask.end(), 0), 1200);
}

TEST(Patterns, BroadcastRepeatsAxesOfSizeOne) {
  const std::vector<int> values = {1, 2, 3};
  EXPECT_EQ(Broadcast(values, {1, 1, 1, 3}, {1, 1, 2, 3}), (std::vector<int>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(Broadcast(values, {1, 1, 3, 1}, {1, 1, 3, 2}), (std::vector<int>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(Broadcast(values, {3, 1, 1, 1}, {3, 2, 1, 1}), (std::vector<int>{1, 1, 2, 2, 3, 3}));
}

TEST(Slices, TakePartsOfEachAxis) {
  const std::vector<float> values = Ramp(0, 1, 24);  // [1, 2, 3, 4]
  EXPECT_EQ(Slice(values, {1, 2, 3, 4}, {{0, 1}, {1, 2}, {0, 2}, {1, 3}}),
            (std::vector<float>{13, 14, 17, 18}));
  // An axis of size 1 stays whole.
  EXPECT_EQ(Slice(std::vector<float>{7, 8}, {1, 1, 1, 2}, {{1, 2}, {2, 3}, {5, 9}, {1, 2}}),
            std::vector<float>{8});
}

// The definition of a part is the part of the definition.
TEST(Slices, PartsOfACaseMeanTheSame) {
  AttentionCase whole;
  whole.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 9, .keys = 11, .dim = 3, .value_dim = 2};
  whole.q = Gen(1, Count(whole.q_sizes()));
  whole.k = Gen(2, Count(whole.k_sizes()));
  whole.v = Gen(3, Count(whole.v_sizes()));
  whole.options.causal = true;
  whole.options.window = {4, 0};
  whole.options.lse = whole.options.weights = true;
  whole.SetMask({2, 1, 9, 11}, RandomMask(5, 198, 70));
  whole.SetBias({1, 4, 1, 11}, Gen(6, 44));
  whole.SetAlibiSlopes({0.5F, 0.25F, 0.125F, 1});
  whole.SetSinks({0, 1, 2, 3});
  const auto as_run = [](const AttentionCase& c) {
    const Expectation expected = PreparedCase(c).FromReference();
    AttentionRun run;
    for (const double value : expected.value.out) run.out.push_back(static_cast<float>(value));
    for (const double value : expected.value.lse) run.lse.push_back(static_cast<float>(value));
    for (const double value : expected.value.weights) {
      run.weights.push_back(static_cast<float>(value));
    }
    return run;
  };
  const AttentionRun run = as_run(whole);
  for (const CasePart& part : {CasePart{{0, 2}, {0, 4}, {3, 7}}, CasePart{{1, 2}, {3, 4}, {0, 9}},
                               CasePart{{0, 1}, {1, 2}, {8, 9}}}) {
    EXPECT_TRUE(SameBits(as_run(PartOf(whole, part)), PartOf(run, whole, part)));
  }
  whole.SetKvLen({11, 6});
  const AttentionRun shorter = as_run(whole);
  const CasePart part = {{1, 2}, {0, 4}, {2, 9}};
  EXPECT_TRUE(SameBits(as_run(PartOf(whole, part)), PartOf(shorter, whole, part)));
}

}  // namespace
}  // namespace lanewise::testing
