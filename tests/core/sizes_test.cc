// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic of sizes at the ends of 64 bits.

#include "src/core/sizes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace lanewise::core {
namespace {

constexpr int64_t kMost = INT64_MAX;
constexpr int64_t kHalf = int64_t{1} << 62;

TEST(Sizes, ProductsThatFit) {
  EXPECT_EQ(CheckedProduct({}), 1);
  EXPECT_EQ(CheckedProduct({3, 5, 7}), 105);
  EXPECT_EQ(CheckedProduct({kMost}), kMost);
  EXPECT_EQ(CheckedProduct({kMost, 1}), kMost);
  EXPECT_EQ(CheckedProduct({0, kMost, kMost}), 0);
}

TEST(Sizes, ProductsThatDoNot) {
  EXPECT_EQ(CheckedProduct({kHalf, 2}), std::nullopt);
  EXPECT_EQ(CheckedProduct({kMost, kMost}), std::nullopt);
  // Whatever follows: what was lost does not come back.
  EXPECT_EQ(CheckedProduct({kMost, kMost, 0}), std::nullopt);
  EXPECT_EQ(CheckedProduct({int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
}

TEST(Sizes, Sums) {
  EXPECT_EQ(CheckedSum({}), 0);
  EXPECT_EQ(CheckedSum({kMost - 1, 1}), kMost);
  EXPECT_EQ(CheckedSum({kMost, 1}), std::nullopt);
  EXPECT_EQ(CheckedSum({kHalf, kHalf, 0}), std::nullopt);
}

TEST(Sizes, SaturatingSums) {
  EXPECT_EQ(SaturatingSum(3, -5), -2);
  EXPECT_EQ(SaturatingSum(kMost, 1), kMost);
  EXPECT_EQ(SaturatingSum(1, kMost), kMost);
  EXPECT_EQ(SaturatingSum(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(SaturatingSum(-1, INT64_MIN), INT64_MIN);
  EXPECT_EQ(SaturatingSum(kMost, INT64_MIN), -1);
}

TEST(Sizes, Rounding) {
  for (int64_t a = 0; a < 40; ++a) {
    for (int64_t b = 1; b < 9; ++b) {
      EXPECT_EQ(DivideUp(a, b), (a + b - 1) / b) << a << " by " << b;
      EXPECT_EQ(RoundUp(a, b) % b, 0);
      EXPECT_GE(RoundUp(a, b), a);
      EXPECT_LT(RoundUp(a, b), a + b);
    }
  }
  // a + b - 1 would overflow.
  EXPECT_EQ(DivideUp(kMost, 2), kHalf);
}

}  // namespace
}  // namespace lanewise::core
