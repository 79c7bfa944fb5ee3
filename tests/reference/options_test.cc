// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The reference's options against hand-calculated numbers, one by one and in their order.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/reference/attention.h"
#include "tests/support/guard.h"
#include "tests/support/means.h"

namespace lanewise::reference {
namespace {

using lanewise::testing::AttentionCase;
using lanewise::testing::GuardedArray;
using lanewise::testing::MeansCase;
using lanewise::testing::PlainCase;
using lanewise::testing::PreparedCase;

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

AttentionResult Compute(const AttentionCase& c) {
  const PreparedCase prepared(c);
  return reference::Attention(prepared.inputs(), c.options);
}

TEST(ReferenceOptions, Window) {
  AttentionCase c = MeansCase(4, {1, 10, 100, 1000});
  c.options.window = {1, 0};
  EXPECT_EQ(Compute(c).out, (Numbers{1, 5.5, 55, 550}));
  c.options.window = {0, 1};
  EXPECT_EQ(Compute(c).out, (Numbers{5.5, 55, 550, 1000}));
  c.options.window = {kUnlimited, 0};
  EXPECT_EQ(Compute(c).out, (Numbers{1, 5.5, 37, 277.75}));
  c.options.window = {0, kUnlimited};
  EXPECT_EQ(Compute(c).out, (Numbers{277.75, 370, 550, 1000}));
  c.options.causal = true;
  EXPECT_EQ(Compute(c).out, (Numbers{1, 10, 100, 1000}));
  c.options.query_offset = -2;
  EXPECT_EQ(Compute(c).out, (Numbers{0, 0, 1, 10}));
}

TEST(ReferenceOptions, WindowsAtTheEndsOf64Bits) {
  AttentionCase c = MeansCase(2, {1, 3});
  c.options.window = {kMax, kMax};
  EXPECT_EQ(Compute(c).out, (Numbers{2, 2}));
  // Positions kMax and kMax + 1: key 0 is kMax and kMax + 1 before them.
  c.options.query_offset = kMax;
  EXPECT_EQ(Compute(c).out, (Numbers{2, 3}));
  c.options.window.left = kMax - 1;
  EXPECT_EQ(Compute(c).out, (Numbers{3, 0}));
  // Positions -2^63 and -2^63 + 1: key 0 is 2^63 and kMax after them.
  c.options.query_offset = kMin;
  EXPECT_EQ(Compute(c).out, (Numbers{0, 1}));
  c.options.window.right = kUnlimited;
  EXPECT_EQ(Compute(c).out, (Numbers{2, 2}));
}

TEST(ReferenceOptions, KvLenMovesThePositions) {
  AttentionCase c = PlainCase(2, 3);
  c.shape.batch = 3;
  c.q = std::vector<float>(6, 0);
  c.v = {1, 10, kNan, 1, kNan, kNan, kNan, kNan, kNan};
  c.SetKvLen({2, 1, 0});
  EXPECT_EQ(Compute(c).out, (Numbers{5.5, 5.5, 1, 1, 0, 0}));
  c.options.causal = true;
  EXPECT_EQ(Compute(c).out, (Numbers{1, 5.5, 0, 1, 0, 0}));
  c.options.top_left = true;
  EXPECT_EQ(Compute(c).out, (Numbers{1, 5.5, 1, 1, 0, 0}));
}

TEST(ReferenceOptions, MaskBroadcasts) {
  AttentionCase c = PlainCase(2, 2);
  c.shape.batch = 2;
  c.shape.heads = c.shape.kv_heads = 2;
  c.q = std::vector<float>(8, 0);
  c.v = {1, 3, 1, 3, 1, 3, 1, 3};
  c.SetMask({1, 1, 1, 1}, {0xFF});
  EXPECT_EQ(Compute(c).out, Numbers(8, 2));
  c.SetMask({1, 1, 1, 2}, {0, 7});
  EXPECT_EQ(Compute(c).out, Numbers(8, 3));
  c.SetMask({1, 1, 2, 1}, {0, 1});
  EXPECT_EQ(Compute(c).out, (Numbers{0, 2, 0, 2, 0, 2, 0, 2}));
  c.SetMask({1, 2, 1, 1}, {0, 1});
  EXPECT_EQ(Compute(c).out, (Numbers{0, 0, 2, 2, 0, 0, 2, 2}));
  c.SetMask({2, 1, 1, 1}, {0, 1});
  EXPECT_EQ(Compute(c).out, (Numbers{0, 0, 0, 0, 2, 2, 2, 2}));
  c.SetMask({2, 2, 2, 2}, {1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1});
  EXPECT_EQ(Compute(c).out, (Numbers{2, 1, 3, 0, 0, 3, 1, 2}));
}

TEST(ReferenceOptions, BiasIsAddedAndMinusInfinityHides) {
  AttentionCase c = MeansCase(1, {0, 1});
  const float ln3 = std::log(3.0F);
  c.SetBias({1, 1, 1, 2}, {0, ln3});
  EXPECT_NEAR(Compute(c).out[0], 0.75, 1e-7);
  EXPECT_NEAR(Compute(c).lse[0], std::log(4.0), 1e-7);
  c.SetBias({1, 1, 1, 2}, {0, -kInf});
  EXPECT_EQ(Compute(c).out, Numbers{0});
  c.v[1] = kNan;
  EXPECT_EQ(Compute(c).out, Numbers{0});
  c.SetBias({1, 1, 1, 1}, {-kInf});
  EXPECT_EQ(Compute(c).lse, Numbers{-kInfinity});
  // -inf hides a score of +inf, any other bias does not.
  AttentionCase infinite = PlainCase(1, 2);
  infinite.q = {1};
  infinite.k = {0, kInf};
  infinite.v = {2, 5};
  infinite.SetBias({1, 1, 1, 2}, {0, -kInf});
  EXPECT_EQ(Compute(infinite).out, Numbers{2});
  infinite.bias = {0, -std::numeric_limits<float>::max()};
  EXPECT_TRUE(std::isnan(Compute(infinite).out[0]));
  for (const float bad : {kNan, kInf}) {
    c = MeansCase(1, {0, 1});
    c.SetBias({1, 1, 1, 2}, {0, bad});
    EXPECT_TRUE(std::isnan(Compute(c).out[0])) << bad;
  }
}

TEST(ReferenceOptions, AlibiCountsFromThePosition) {
  AttentionCase c = MeansCase(2, {1, 2, 3});
  c.options.weights = true;
  const double a = std::log(2.0);
  c.SetAlibiSlopes({static_cast<float>(a)});
  // Distances 1, 0, 1 and 2, 1, 0.
  const Numbers expected = {0.25, 0.5, 0.25, 1.0 / 7, 2.0 / 7, 4.0 / 7};
  AttentionResult result = Compute(c);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(result.weights[i], expected[i], 1e-7) << i;
  c.options.query_offset = -1;  // distances 1, 2, 3 and 0, 1, 2
  result = Compute(c);
  for (const size_t row : {0U, 3U}) {
    EXPECT_NEAR(result.weights[row], 4.0 / 7, 1e-7);
    EXPECT_NEAR(result.weights[row + 2], 1.0 / 7, 1e-7);
  }
}

TEST(ReferenceOptions, SinkEnlargesTheDenominatorOnly) {
  AttentionCase c = MeansCase(2, {6, 6});
  c.options.weights = true;
  c.options.causal = c.options.top_left = true;
  c.options.query_offset.reset();
  c.SetSinks({static_cast<float>(std::log(2.0))});
  const AttentionResult result = Compute(c);
  EXPECT_NEAR(result.out[0], 2, 1e-6);
  EXPECT_NEAR(result.out[1], 3, 1e-6);
  EXPECT_NEAR(result.lse[0], std::log(3.0), 1e-7);
  EXPECT_NEAR(result.weights[0], 1.0 / 3, 1e-7);
  EXPECT_EQ(result.weights[1], 0);
  c.options.top_left = false;
  c.options.query_offset = -1;
  EXPECT_EQ(Compute(c).out[0], 0);
  EXPECT_EQ(Compute(c).lse[0], -kInfinity);
  EXPECT_EQ(Compute(c).weights[0], 0);
  c.sinks = {-kInf};
  EXPECT_EQ(Compute(c).out[1], 6);
  c.sinks = {1000};
  EXPECT_EQ(Compute(c).out[1], 0);
  EXPECT_EQ(Compute(c).lse[1], 1000);
}

// scale, softcap, bias, ALiBi: in this order, and the sink is none of them.
TEST(ReferenceOptions, OrderOfEdits) {
  AttentionCase c = PlainCase(1, 2);
  c.q = {10};
  c.k = {1, 2};
  c.v = {1, 0};
  c.options.scale = 0.5F;
  c.options.softcap = 3.0F;
  c.SetBias({1, 1, 1, 2}, {4, -0.5F});
  c.SetAlibiSlopes({0.25F});
  c.SetSinks({1});
  const double first = 3 * std::tanh(5.0 / 3) + 4 - 0.25;
  const double second = 3 * std::tanh(10.0 / 3) - 0.5;
  const double sum = std::exp(first) + std::exp(second) + std::exp(1.0);
  EXPECT_NEAR(Compute(c).out[0], std::exp(first) / sum, 1e-12);
  EXPECT_NEAR(Compute(c).lse[0], std::log(sum), 1e-12);
}

TEST(ReferenceOptions, SoftcapTakesInfinitiesToItsEnds) {
  AttentionCase c = PlainCase(1, 2);
  c.q = {1};
  c.k = {kInf, -kInf};
  c.v = {1, 0};
  c.options.softcap = 1.0F;
  EXPECT_NEAR(Compute(c).out[0], 1 / (1 + std::exp(-2.0)), 1e-12);
  c.k[0] = kNan;
  EXPECT_TRUE(std::isnan(Compute(c).out[0]));
}

TEST(ReferenceOptions, Weights) {
  AttentionCase c = MeansCase(2, {1, 2, 3});
  EXPECT_TRUE(Compute(c).weights.empty());
  c.options.weights = true;
  c.options.causal = true;
  EXPECT_EQ(Compute(c).weights, (Numbers{0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
  // What is hidden is 0 in a row of NaN too.
  c.q[0] = kNan;
  const AttentionResult result = Compute(c);
  EXPECT_TRUE(std::isnan(result.weights[0]));
  EXPECT_EQ(result.weights[2], 0);
  EXPECT_EQ(result.weights[3], 1.0 / 3);
}

TEST(ReferenceOptions, RaggedSequencesAreAlone) {
  AttentionCase c = PlainCase(0, 0);
  c.SetSequences({1, 0, 2}, {2, 3, 3});
  c.q = {0, 0, 0};
  c.v = {1, 3, kNan, kNan, kNan, 1, 10, 100};
  EXPECT_EQ(Compute(c).out, (Numbers{2, 37, 37}));
  c.options.causal = true;
  EXPECT_EQ(Compute(c).out, (Numbers{2, 5.5, 37}));
  c.options.top_left = true;
  EXPECT_EQ(Compute(c).out, (Numbers{1, 1, 5.5}));
  c.options.top_left = false;
  c.options.window = {0, 0};
  EXPECT_EQ(Compute(c).out, (Numbers{3, 10, 100}));
}

// Of 4 keys only the first lies in memory that can be read.
TEST(ReferenceOptions, HiddenKeysAreNotRead) {
  GuardedArray<float> q(1), k(1), v(1);
  v[0] = 3.0F;
  AttentionTensors base;
  base.q = ConstTensor(q.data(), {1, 1, 1, 1});
  base.k = ConstTensor(k.data(), {1, 1, 4, 1});
  base.v = ConstTensor(v.data(), {1, 1, 4, 1});
  const uint8_t mask[] = {1, 0, 0, 0};
  const float bias[] = {0, -kInf, -kInf, -kInf};
  const int64_t kv_len = 1;

  AttentionTensors tensors = base;
  AttentionOptions options;
  options.mask = true;
  tensors.mask = ConstTensor(mask, DataType::kBool, {1, 1, 1, 4});
  EXPECT_EQ(reference::Attention(tensors, options).out, Numbers{3});
  tensors = base;
  options = {};
  options.bias = true;
  tensors.bias = ConstTensor(bias, {1, 1, 1, 4});
  EXPECT_EQ(reference::Attention(tensors, options).out, Numbers{3});
  tensors = base;
  options = {};
  options.kv_len = true;
  tensors.kv_len = {&kv_len, 1};
  EXPECT_EQ(reference::Attention(tensors, options).out, Numbers{3});
  tensors = base;
  options = {};
  options.window.right = 0;
  options.top_left = true;
  EXPECT_EQ(reference::Attention(tensors, options).out, Numbers{3});
}

TEST(ReferenceOptions, Merge) {
  const float out[2][4] = {{1, 2, 3, kNan}, {5, 6, 7, 8}};
  const float lse[2][4] = {{0, std::log(3.0F), -kInf, -kInf}, {0, 0, 1, -kInf}};
  std::vector<AttentionPart> parts;
  for (int p = 0; p < 2; ++p) {
    parts.push_back({ConstTensor(out[p], {1, 1, 4, 1}), ConstTensor(lse[p], {1, 1, 4, 1})});
  }
  const AttentionResult merged = reference::MergeAttention(parts);
  EXPECT_NEAR(merged.out[0], 3, 1e-12);
  EXPECT_NEAR(merged.out[1], 3, 1e-7);
  EXPECT_EQ(merged.out[2], 7);
  EXPECT_EQ(merged.out[3], 0);
  EXPECT_NEAR(merged.lse[0], std::log(2.0), 1e-12);
  EXPECT_NEAR(merged.lse[1], std::log(4.0), 1e-7);
  EXPECT_EQ(merged.lse[2], 1);
  EXPECT_EQ(merged.lse[3], -kInfinity);
}

}  // namespace
}  // namespace lanewise::reference
