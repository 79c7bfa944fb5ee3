// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The check values that come with the generator.

#include "tests/support/gen.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lanewise::testing {
namespace {

TEST(Gen, CheckValues) {
  const std::vector<float> q = Gen(1, 4);
  EXPECT_NEAR(q[0], -0.98446977, 5e-9);
  EXPECT_NEAR(q[1], 0.24463916, 5e-9);
  EXPECT_NEAR(q[2], -0.94045091, 5e-9);
  EXPECT_NEAR(q[3], -0.87855399, 5e-9);
  const std::vector<float> k = Gen(2, 2);
  EXPECT_NEAR(k[0], -0.96115661, 5e-9);
  EXPECT_NEAR(k[1], -0.47054470, 5e-9);
}

TEST(Gen, StaysInRangeAndFillsIt) {
  const std::vector<float> values = Gen(3, 10000);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*min, -1.0F);
  EXPECT_LT(*min, -0.99F);
  EXPECT_LT(*max, 1.0F);
  EXPECT_GT(*max, 0.99F);
}

}  // namespace
}  // namespace lanewise::testing
