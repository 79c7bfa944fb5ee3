// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The reference against hand-calculated numbers, and its edges one by one. The public cases of
// tests/attention check it a second time.

#include "src/reference/attention.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/golden.h"
#include "tests/support/guard.h"

namespace lanewise::reference {
namespace {

using lanewise::testing::GoldenCase;
using lanewise::testing::GuardedArray;
using lanewise::testing::PlainCase;
using lanewise::testing::PreparedCase;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

AttentionResult Compute(const lanewise::testing::AttentionCase& c) {
  const PreparedCase prepared(c);
  return reference::Attention(prepared.inputs(), c.options);
}

TEST(ReferenceAttention, GoldenValues) {
  constexpr double kLastDigit = 6e-9;
  for (const GoldenCase& golden : lanewise::testing::GoldenCases()) {
    SCOPED_TRACE(golden.name);
    const AttentionResult result = Compute(golden.WithValues(golden.v));
    ASSERT_EQ(result.out.size(), golden.out.size());
    for (size_t c = 0; c < golden.out.size(); ++c) {
      EXPECT_NEAR(result.out[c], golden.out[c], kLastDigit);
    }
    ASSERT_EQ(result.lse.size(), 1U);
    EXPECT_NEAR(result.lse[0], golden.lse, kLastDigit);

    const AttentionResult weights = Compute(golden.WithValues(lanewise::testing::IdentityValues()));
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(weights.out[j], golden.weights[j], kLastDigit);
  }
}

TEST(ReferenceAttention, CausalRulesByHand) {
  auto c = PlainCase(2, 3);
  c.options.causal = true;
  c.q = {0, 0};
  c.v = {1, 10, 100};
  EXPECT_EQ(Compute(c).out, (std::vector<double>{5.5, 37}));
  c.options.query_offset = -1;
  EXPECT_EQ(Compute(c).out, (std::vector<double>{0, 1}));
  EXPECT_EQ(Compute(c).lse, (std::vector<double>{-kInfinity, 0}));
  c.options.query_offset = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Compute(c).out, (std::vector<double>{37, 37}));
  c.options.query_offset = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Compute(c).out, (std::vector<double>{0, 0}));
  c.options.query_offset.reset();
  c.options.top_left = true;
  EXPECT_EQ(Compute(c).out, (std::vector<double>{1, 5.5}));
  c.options.causal = false;
  EXPECT_EQ(Compute(c).out, (std::vector<double>{37, 37}));
}

TEST(ReferenceAttention, SharedHeadsAreGrouped) {
  auto c = PlainCase(1, 1);
  c.shape.batch = 2;
  c.shape.heads = 4;
  c.shape.kv_heads = 2;
  c.v = {1, 2, 3, 4};
  EXPECT_EQ(Compute(c).out, (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(ReferenceAttention, NoKey) {
  auto c = PlainCase(2, 0);
  c.shape.value_dim = 3;
  EXPECT_EQ(Compute(c).out, std::vector<double>(6, 0.0));
  EXPECT_EQ(Compute(c).lse, std::vector<double>(2, -kInfinity));
}

TEST(ReferenceAttention, ScoresOfMinusInfinityHaveNoWeight) {
  auto c = PlainCase(1, 3);
  c.q = {1};
  c.v = {5, 6, 7};
  c.k = {-kInf, 2, -kInf};
  EXPECT_EQ(Compute(c).out, std::vector<double>{6});
  EXPECT_EQ(Compute(c).lse, std::vector<double>{2});
  c.k = {-kInf, -kInf, -kInf};
  EXPECT_EQ(Compute(c).out, std::vector<double>{0});
  EXPECT_EQ(Compute(c).lse, std::vector<double>{-kInfinity});
}

TEST(ReferenceAttention, NanAndPlusInfinityScoresGiveNan) {
  for (const float bad : {kInf, kNan}) {
    for (size_t position = 0; position < 3; ++position) {
      auto c = PlainCase(1, 3);
      c.q = {1};
      c.k = {1, 2, 3};
      c.k[position] = bad;
      EXPECT_TRUE(std::isnan(Compute(c).out[0])) << bad << " at " << position;
      EXPECT_TRUE(std::isnan(Compute(c).lse[0])) << bad << " at " << position;
    }
  }
}

TEST(ReferenceAttention, NanInValuesStaysInItsColumn) {
  auto c = PlainCase(1, 2);
  c.shape.value_dim = 2;
  c.q = {0};
  c.v = {1, kNan, 3, 4};
  const AttentionResult result = Compute(c);
  EXPECT_EQ(result.out[0], 2.0);
  EXPECT_TRUE(std::isnan(result.out[1]));
  EXPECT_NEAR(result.lse[0], std::log(2.0), 1e-15);
}

// Keys 2 and 3 exist by the sizes, but lie in memory that faults.
TEST(ReferenceAttention, ExcludedKeysAreNotRead) {
  GuardedArray<float> q(2), k(2), v(2);
  v[0] = 3.0F;
  v[1] = 5.0F;
  AttentionTensors tensors;
  tensors.q = ConstTensor(q.data(), {1, 1, 2, 1});
  tensors.k = ConstTensor(k.data(), {1, 1, 4, 1});
  tensors.v = ConstTensor(v.data(), {1, 1, 4, 1});
  AttentionOptions options;
  options.causal = true;
  options.top_left = true;
  EXPECT_EQ(reference::Attention(tensors, options).out, (std::vector<double>{3, 4}));
}

TEST(ReferenceAttention, LargeScoresNeitherOverflowNorVanish) {
  auto c = PlainCase(1, 2);
  c.q = {1};
  c.v = {1, 3};
  for (const float k : {3e38F, -3e38F}) {
    c.k = {k, k};
    EXPECT_EQ(Compute(c).out, std::vector<double>{2}) << k;
  }
}

// A single key makes the output a copy of v, and the log-sum-exp the score.
double ReadsAs(DataType type, uint16_t bits) {
  const float zero = 0.0F;
  AttentionTensors tensors;
  tensors.q = ConstTensor(&zero, {1, 1, 1, 1});
  tensors.k = ConstTensor(&zero, {1, 1, 1, 1});
  tensors.v = ConstTensor(&bits, type, {1, 1, 1, 1});
  return reference::Attention(tensors, {}).out[0];
}

TEST(ReferenceAttention, HalfIsReadExactly) {
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x3C00), 1.0);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0xC000), -2.0);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x3555), 0x1.554p-2);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x7BFF), 65504.0);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x0400), 0x1p-14);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x03FF), 0x1.FF8p-15);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x0001), 0x1p-24);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x8001), -0x1p-24);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0x7C00), kInfinity);
  EXPECT_EQ(ReadsAs(DataType::kF16, 0xFC00), -kInfinity);
  EXPECT_TRUE(std::isnan(ReadsAs(DataType::kF16, 0x7C01)));
}

TEST(ReferenceAttention, BFloat16IsReadExactly) {
  EXPECT_EQ(ReadsAs(DataType::kBF16, 0x3F80), 1.0);
  EXPECT_EQ(ReadsAs(DataType::kBF16, 0x3F81), 1.0078125);
  EXPECT_EQ(ReadsAs(DataType::kBF16, 0xC040), -3.0);
  EXPECT_EQ(ReadsAs(DataType::kBF16, 0x0001), 0x1p-133);
  EXPECT_EQ(ReadsAs(DataType::kBF16, 0x7F80), kInfinity);
  EXPECT_TRUE(std::isnan(ReadsAs(DataType::kBF16, 0x7F81)));
}

TEST(ReferenceAttention, MixedTypesAndStrides) {
  // q = (1, 2) f32; keys (1, 0), (0, 1) f16 with a gap; values bf16, one for both keys.
  const float q[2] = {1, 2};
  const uint16_t k[6] = {0x3C00, 0, 0x7E00, 0, 0x3C00, 0x7E00};
  const uint16_t v[1] = {0x4040};
  AttentionTensors tensors;
  tensors.q = ConstTensor(q, {1, 1, 1, 2});
  tensors.k = ConstTensor(k, DataType::kF16, {1, 1, 2, 2}, {0, 0, 3, 1});
  tensors.v = ConstTensor(v, DataType::kBF16, {1, 1, 2, 1}, {0, 0, 0, 1});
  AttentionOptions options;
  options.scale = 1.0F;
  const AttentionResult result = reference::Attention(tensors, options);
  EXPECT_DOUBLE_EQ(result.out[0], 3.0);
  EXPECT_NEAR(result.lse[0], std::log(std::exp(1.0) + std::exp(2.0)), 1e-14);
}

}  // namespace
}  // namespace lanewise::reference
