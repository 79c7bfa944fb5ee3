// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The reference of row softmax against numbers worked out by hand.

#include "src/reference/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/reference/attention.h"

namespace lanewise::reference {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

SoftmaxResult OfRow(const std::vector<float>& row, const SoftmaxOptions& options = {}) {
  return Softmax({row.data(), {1, 1, 1, static_cast<int64_t>(row.size())}}, options);
}

TEST(ReferenceSoftmax, KnownRows) {
  const SoftmaxResult even = OfRow({3, 3});
  EXPECT_NEAR(even.out[0], 0.5, 1e-15);
  EXPECT_NEAR(even.out[1], 0.5, 1e-15);
  EXPECT_NEAR(even.lse[0], 3 + std::log(2.0), 1e-15);
  const SoftmaxResult thirds = OfRow({0, std::log(2.0F)});
  EXPECT_NEAR(thirds.out[0], 1.0 / 3, 1e-7);
  EXPECT_NEAR(thirds.out[1], 2.0 / 3, 1e-7);
}

TEST(ReferenceSoftmax, ScaleComesFirst) {
  SoftmaxOptions options;
  options.scale = -2;
  const SoftmaxResult result = OfRow({0, 1}, options);
  EXPECT_NEAR(result.out[1], 1 / (1 + std::exp(2.0)), 1e-15);
}

TEST(ReferenceSoftmax, Edges) {
  EXPECT_EQ(OfRow({-kInf, -kInf}).out, (std::vector<double>{0, 0}));
  EXPECT_EQ(OfRow({-kInf, -kInf}).lse[0], -double{kInf});
  EXPECT_EQ(OfRow({-kInf, 5}).out, (std::vector<double>{0, 1}));
  EXPECT_EQ(OfRow({}).lse[0], -double{kInf});
  for (const float value : {kInf, std::nanf("")}) {
    const SoftmaxResult result = OfRow({value, 1});
    EXPECT_TRUE(std::isnan(result.out[0]) && std::isnan(result.out[1]));
    EXPECT_TRUE(std::isnan(result.lse[0]));
  }
}

TEST(ReferenceSoftmax, MaskedColumnsAreNotThere) {
  const uint8_t mask[] = {1, 0, 1};
  SoftmaxOptions options;
  options.mask = {mask, DataType::kBool, {1, 1, 1, 3}};
  const SoftmaxResult result = OfRow({0, std::nanf(""), 0}, options);
  EXPECT_NEAR(result.out[0], 0.5, 1e-15);
  EXPECT_EQ(result.out[1], 0);
  EXPECT_NEAR(result.out[2], 0.5, 1e-15);
  EXPECT_NEAR(result.lse[0], std::log(2.0), 1e-15);
}

// Softmax is attention with one query of 1, keys of the row, and weights for output.
TEST(ReferenceSoftmax, AgreesWithTheWeightsOfAttention) {
  const std::vector<float> row = {0.5F, -3, 2, 7, 7.25F};
  const float one = 1;
  AttentionOptions options;
  options.scale = 0.5F;
  options.weights = true;
  const AttentionResult attention = reference::Attention(
      AttentionTensors{
          {&one, {1, 1, 1, 1}}, {row.data(), {1, 1, 5, 1}}, {row.data(), {1, 1, 5, 1}}, {}},
      options);
  SoftmaxOptions scaled;
  scaled.scale = 0.5F;
  const SoftmaxResult softmax = OfRow(row, scaled);
  for (size_t j = 0; j < row.size(); ++j) {
    EXPECT_NEAR(softmax.out[j], attention.weights[j], 1e-15);
  }
  EXPECT_NEAR(softmax.lse[0], attention.lse[0], 1e-15);
}

}  // namespace
}  // namespace lanewise::reference
