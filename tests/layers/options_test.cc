// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What attention can do, through the layer: every option, input and output reaches it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

// Two items, four heads of which two share a kv head, 11 queries, 14 keys.
class LayerOptions : public ::testing::Test {
 protected:
  void ExpectRight() {
    const Parameters parameters(shape_);
    LayerCall call(shape_, CrossCall(2, 11, 14));
    call.attention = attention_;
    const Status status = call.Run(MakeLayer(shape_, parameters.Apart()), options_);
    ASSERT_TRUE(status.ok()) << status.message();
    ExpectMatchesReference(shape_, parameters.Apart(), call, options_, "options");
    // That the option matters at all.
    LayerCall plain(shape_, CrossCall(2, 11, 14));
    ASSERT_TRUE(plain.Run(MakeLayer(shape_, parameters.Apart())).ok());
    EXPECT_NE(plain.Bits(), call.Bits());
  }

  MultiHeadShape shape_ = LayerShape(4, 2, 8);
  AttentionOptions options_;
  AttentionTensors attention_;
};

TEST_F(LayerOptions, NumbersAndPositions) {
  options_.scale = -0.7F;
  ExpectRight();
  options_ = {};
  options_.softcap = 0.5F;
  ExpectRight();
  options_ = {};
  options_.causal = options_.top_left = true;
  ExpectRight();
  options_ = {};
  options_.window = AttentionWindow::Radius(2);
  options_.query_offset = 1;
  ExpectRight();
}

TEST_F(LayerOptions, Scores) {
  options_.score = AttentionScore::kGaussian;
  options_.bandwidth = 2;
  ExpectRight();
  const std::vector<float> weights = Gen(7, 8 * 8, 0.4F);
  options_ = {};
  options_.score = AttentionScore::kBilinear;
  attention_.w = {weights.data(), {1, 1, 8, 8}};
  ExpectRight();
  options_ = {};
  attention_ = {};
  options_.score = AttentionScore::kAdditive;
  options_.wq = true;
  attention_.wq = {weights.data(), {1, 1, 8, 8}};
  attention_.w_out = {weights.data(), 8};
  ExpectRight();
}

TEST_F(LayerOptions, Mask) {
  options_.mask = true;
  const std::vector<uint8_t> mask = RandomMask(1, 2 * 4 * 11 * 14, 50);
  attention_.mask = {mask.data(), DataType::kBool, {2, 4, 11, 14}};
  ExpectRight();
  attention_.mask = {mask.data(), DataType::kBool, {1, 1, 11, 14}};
  ExpectRight();
}

TEST_F(LayerOptions, BiasAndSlopes) {
  options_.bias = options_.alibi_slopes = true;
  const std::vector<float> bias = BiasWithHoles(2, 11 * 14, 2, 20);
  const std::vector<float> slopes = {0.5F, 0.25F, 0.125F, 0.0625F};
  attention_.bias = {bias.data(), {1, 1, 11, 14}};
  attention_.alibi_slopes = {slopes.data(), 4};
  ExpectRight();
}

TEST_F(LayerOptions, Sinks) {
  options_.sinks = true;
  const std::vector<float> sinks = {0, 1, -1, 2};
  attention_.sinks = {sinks.data(), 4};
  ExpectRight();
}

TEST_F(LayerOptions, ValidLengths) {
  options_.kv_len = options_.causal = true;
  const int64_t kv_len[] = {14, 5};
  attention_.kv_len = {kv_len, 2};
  ExpectRight();
}

// Rows of x_kv in a ring, and in order.
TEST_F(LayerOptions, Rings) {
  const Parameters parameters(shape_);
  const MultiHeadAttention layer = MakeLayer(shape_, parameters.Apart());
  options_.kv_len = options_.causal = true;
  const int64_t kv_len[] = {14, 5};
  const int64_t kv_first[] = {3, 12};
  LayerCall plain(shape_, CrossCall(2, 11, 14));
  plain.attention.kv_len = {kv_len, 2};
  ASSERT_TRUE(plain.Run(layer, options_).ok());

  LayerCall ring(shape_, CrossCall(2, 11, 14));
  const std::vector<float> rows = plain.x_kv().Values();
  std::vector<float> turned(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t item = i / (14 * 32);
    const size_t slot = (i / 32 % 14 + static_cast<size_t>(kv_first[item])) % 14;
    turned[(item * 14 + slot) * 32 + i % 32] = rows[i];
  }
  ring.x_kv().Set(turned);
  ring.attention.kv_len = plain.attention.kv_len;
  ring.attention.kv_first = {kv_first, 2};
  options_.kv_first = true;
  ASSERT_TRUE(ring.Run(layer, options_).ok());
  EXPECT_EQ(ring.Bits(), plain.Bits());
}

TEST_F(LayerOptions, LogSumExpAndWeights) {
  options_.lse = options_.weights = options_.causal = true;
  const Parameters parameters(shape_);
  LayerCall call(shape_, CrossCall(2, 11, 14));
  Array lse({2, 4, 11, 1}, PaddedStrides, {});
  Array weights({2, 4, 11, 14}, PaddedStrides, {});
  call.attention.lse = lse.view();
  call.attention.weights = weights.view();
  ASSERT_TRUE(call.Run(MakeLayer(shape_, parameters.Apart()), options_).ok());
  const auto expected = reference::MultiHead(shape_, parameters.Apart(), call.tensors(), options_);
  const std::vector<double> lse_tolerance(expected.lse.size(), 1e-5);
  const std::vector<double> tolerance(expected.weights.size(), 1e-5);
  EXPECT_TRUE(reference::Compare(lse.view(), expected.lse, lse_tolerance).ok());
  EXPECT_TRUE(reference::Compare(weights.view(), expected.weights, tolerance).ok());
}

// Each sequence as if alone.
TEST_F(LayerOptions, RaggedBatches) {
  const Parameters parameters(shape_);
  const MultiHeadAttention layer = MakeLayer(shape_, parameters.Apart());
  const std::vector<int64_t> offsets = {0, 9, 9, 16};
  options_.ragged = options_.causal = true;
  MultiHeadCall c = SelfCall(3, 16);
  LayerCall call(shape_, c, DenseStrides, /*ragged=*/true);
  call.attention.q_offsets = call.attention.k_offsets = {offsets.data(), 4};
  const Status status = call.Run(layer, options_);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::vector<float> x = call.x().Values();
  const std::vector<float> out = call.out().Values();

  AttentionOptions alone;
  alone.causal = true;
  for (size_t s = 0; s < 3; ++s) {
    const int64_t rows = offsets[s + 1] - offsets[s];
    LayerCall one(shape_, SelfCall(1, rows));
    one.x().Set({x.begin() + offsets[s] * 32, x.begin() + offsets[s + 1] * 32});
    ASSERT_TRUE(one.Run(layer, alone).ok());
    const std::vector<float> expected(out.begin() + offsets[s] * 32,
                                      out.begin() + offsets[s + 1] * 32);
    EXPECT_EQ(one.out().Values(), expected) << s;
  }
}

TEST_F(LayerOptions, HiddenRowsHaveNoInfluence) {
  const Parameters parameters(shape_);
  const MultiHeadAttention layer = MakeLayer(shape_, parameters.Apart());
  options_.kv_len = true;
  const int64_t kv_len[] = {9, 9};
  LayerCall plain(shape_, CrossCall(2, 11, 14));
  plain.attention.kv_len = {kv_len, 2};
  ASSERT_TRUE(plain.Run(layer, options_).ok());
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity(), 1e30F}) {
    LayerCall call(shape_, CrossCall(2, 11, 14));
    call.attention.kv_len = {kv_len, 2};
    std::vector<float> rows = call.x_kv().Values();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i / 32 % 14 >= 9) rows[i] = value;
    }
    call.x_kv().Set(rows);
    ASSERT_TRUE(call.Run(layer, options_).ok());
    EXPECT_EQ(call.Bits(), plain.Bits()) << value;
  }
}

// NaN in one row of x gives NaN in that row alone.
TEST_F(LayerOptions, NanStaysInItsRow) {
  const Parameters parameters(shape_);
  LayerCall call(shape_, CrossCall(2, 11, 14));
  std::vector<float> rows = call.x().Values();
  rows[3 * 32 + 5] = std::nanf("");
  call.x().Set(rows);
  ASSERT_TRUE(call.Run(MakeLayer(shape_, parameters.Apart())).ok());
  const std::vector<float> out = call.out().Values();
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(std::isnan(out[i]), i / 32 == 3) << "row " << i / 32;
  }
}

}  // namespace
}  // namespace lanewise::testing
