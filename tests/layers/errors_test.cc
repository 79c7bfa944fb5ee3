// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Each mistake is an error that names the argument, what was found and what was expected, and
// leaves the output alone. Tests with C094 in their names are what that public report is about.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"

namespace lanewise::testing {
namespace {

using Words = std::vector<std::string>;

TEST(LayerErrors, Shapes) {
  const auto expect = [](const MultiHeadShape& shape, const Words& words) {
    EXPECT_THAT(MakeMultiHeadAttention(shape, {}).status(), IsInvalid(words));
  };
  MultiHeadShape shape;
  shape.d_model = 10;
  shape.heads = 4;
  expect(shape, {"d_model", "10", "heads", "4"});
  shape.d_model = 0;
  expect(shape, {"d_model", "0", "1"});
  shape.d_model = 8;
  shape.heads = 0;
  expect(shape, {"heads", "0", "1"});
  shape.heads = 4;
  shape.kv_heads = 3;
  expect(shape, {"kv_heads", "3", "heads", "4"});
  shape.kv_heads = -1;
  expect(shape, {"kv_heads", "-1"});
  shape.kv_heads = 0;
  shape.dim = -2;
  expect(shape, {"dim", "-2"});
  shape.dim = int64_t{1} << 60;
  expect(shape, {"d_model", "overflow"});
}

class LayerWeightErrors : public ::testing::Test {
 protected:
  void ExpectError(const MultiHeadWeights& weights, const Words& words) const {
    EXPECT_THAT(MakeMultiHeadAttention(shape_, weights, OneThread()).status(), IsInvalid(words));
  }

  MultiHeadShape shape_ = LayerShape(4, 2, 8);
  Parameters parameters_ = Parameters(shape_);
};

TEST_F(LayerWeightErrors, WhichOfTheTwoWays) {
  MultiHeadWeights both = parameters_.Apart();
  both.qkv = parameters_.Fused().qkv;
  ExpectError(both, {"q", "together", "qkv"});
  MultiHeadWeights bias = parameters_.Apart();
  bias.qkv_bias = parameters_.Fused().qkv_bias;
  ExpectError(bias, {"qkv_bias", "without", "qkv"});
  MultiHeadWeights missing = parameters_.Apart();
  missing.k = {};
  ExpectError(missing, {"k", "16", "32"});
  ExpectError({}, {"q", "32"});
}

TEST_F(LayerWeightErrors, SizesAndTypes) {
  MultiHeadWeights weights = parameters_.Fused();
  weights.qkv.sizes[2] = 96;
  ExpectError(weights, {"qkv", "96", "64"});
  weights = parameters_.Fused();
  weights.out.sizes[3] = 31;
  ExpectError(weights, {"out", "31", "32"});
  weights = parameters_.Fused();
  weights.out.type = DataType::kBool;
  ExpectError(weights, {"out", "bool"});
  weights = parameters_.Fused();
  weights.qkv.data = nullptr;
  ExpectError(weights, {"qkv", "null"});
  weights = parameters_.Fused();
  weights.qkv_bias.size = 63;
  ExpectError(weights, {"qkv_bias", "63", "64"});
  weights = parameters_.Fused();
  weights.out_bias.data = nullptr;
  ExpectError(weights, {"out_bias", "null", "32"});
  weights = parameters_.Apart();
  weights.v_bias.size = 17;
  ExpectError(weights, {"v_bias", "17", "16"});
}

TEST_F(LayerWeightErrors, FusedWeightsNeedOneWidth) {
  shape_.kv_d_model = 24;
  ExpectError(parameters_.Fused(), {"qkv", "24", "32"});
}

TEST_F(LayerWeightErrors, Runtimes) {
  Runtime runtime = OneThread("AVX9");
  EXPECT_THAT(MakeMultiHeadAttention(shape_, parameters_.Fused(), runtime).status(),
              IsInvalid({"target", "AVX9"}));
  runtime = OneThread();
  runtime.threads = -3;
  EXPECT_THAT(MakeMultiHeadAttention(shape_, parameters_.Fused(), runtime).status(),
              IsInvalid({"threads", "-3"}));
}

class LayerCallErrors : public ::testing::Test {
 protected:
  void ExpectPlanError(const MultiHeadCall& call, const AttentionOptions& options,
                       const Words& words) const {
    EXPECT_THAT(layer_.Plan(call, options).status(), IsInvalid(words));
  }
  // Of a run on `tensors`; `out` must stay unwritten.
  void ExpectRunError(const MultiHeadCall& call, const MultiHeadTensors& tensors,
                      const Words& words, const AttentionOptions& options = {}) {
    const Result<MultiHeadPlan> plan = layer_.Plan(call, options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Workspace workspace(plan->workspace_bytes());
    EXPECT_THAT(plan->Run(tensors, workspace), IsInvalid(words));
    for (const float v : arrays_.out().Values()) EXPECT_TRUE(IsUnwritten(v));
  }

  MultiHeadShape shape_ = LayerShape(4, 2, 8);
  Parameters parameters_ = Parameters(shape_);
  MultiHeadAttention layer_ = MakeLayer(shape_, parameters_.Apart());
  MultiHeadCall call_ = CrossCall(2, 5, 7);
  LayerCall arrays_ = LayerCall(shape_, call_);
};

TEST_F(LayerCallErrors, Plans) {
  MultiHeadCall call = SelfCall(2, 5);
  call.keys = 7;
  ExpectPlanError(call, {}, {"keys", "7", "5", "cross"});
  ExpectPlanError(SelfCall(-1, 5), {}, {"batch", "-1"});
  ExpectPlanError(SelfCall(1, -5), {}, {"queries", "-5"});
  ExpectPlanError(CrossCall(1, 5, -7), {}, {"keys", "-7"});
  ExpectPlanError(SelfCall(1, int64_t{1} << 60), {}, {"overflows"});
  call = SelfCall(2, 5);
  call.x_type = DataType::kBool;
  ExpectPlanError(call, {}, {"x_type", "bool", "f32", "f16", "bf16"});
  AttentionOptions options;
  options.paged = true;
  ExpectPlanError(SelfCall(2, 5), options, {"paged"});
  options = {};
  options.softcap = -1.0F;
  ExpectPlanError(SelfCall(2, 5), options, {"softcap", "-1"});
}

// Keys and values would be made from rows of another length.
TEST_F(LayerCallErrors, SelfAttentionNeedsOneWidth) {
  for (const int64_t width : {int64_t{24}, int64_t{40}}) {
    const MultiHeadShape shape = LayerShape(4, 2, 8, 32, width);
    const MultiHeadAttention layer = MakeLayer(shape, Parameters(shape).Apart());
    EXPECT_THAT(layer.Plan(SelfCall(2, 5)).status(),
                IsInvalid({"cross", "kv_d_model", std::to_string(width), "d_model", "32"}));
    EXPECT_TRUE(layer.Plan(CrossCall(2, 5, 5)).ok());
  }
}

TEST_F(LayerCallErrors, C094_Arrays) {
  MultiHeadTensors tensors = arrays_.tensors();
  tensors.x.sizes[3] = 31;
  ExpectRunError(call_, tensors, {"x", "31", "32"});
  tensors = arrays_.tensors();
  tensors.x_kv.sizes[0] = 3;
  ExpectRunError(call_, tensors, {"x_kv", "3", "2"});
  tensors = arrays_.tensors();
  tensors.x_kv.data = nullptr;
  ExpectRunError(call_, tensors, {"x_kv", "null"});
  tensors = arrays_.tensors();
  tensors.out.type = DataType::kF16;
  ExpectRunError(call_, tensors, {"out", "f16", "f32"});
  tensors = arrays_.tensors();
  tensors.out.strides[0] = 0;
  ExpectRunError(call_, tensors, {"out", "overlap"});
  tensors = arrays_.tensors();
  tensors.out.data = const_cast<void*>(tensors.x.data);
  ExpectRunError(call_, tensors, {"out", "x", "own"});
}

TEST_F(LayerCallErrors, C094_ValidLengths) {
  AttentionOptions options;
  options.kv_len = true;
  MultiHeadTensors tensors = arrays_.tensors();
  int64_t lengths[] = {7, 7, 7};
  tensors.attention.kv_len = {lengths, 3};
  ExpectRunError(call_, tensors, {"kv_len", "3", "2"}, options);
  tensors.attention.kv_len = {nullptr, 2};
  ExpectRunError(call_, tensors, {"kv_len", "null"}, options);
  tensors.attention.kv_len = {lengths, 2};
  for (const int64_t bad : {int64_t{8}, int64_t{-1}}) {
    lengths[1] = bad;
    ExpectRunError(call_, tensors, {"kv_len", std::to_string(bad), "7"}, options);
  }
  // Nothing is left behind that a call which is right would trip over.
  lengths[1] = 7;
  LayerCall plain(shape_, call_);
  ASSERT_TRUE(plain.Run(layer_).ok());
  arrays_.attention.kv_len = {lengths, 2};
  ASSERT_TRUE(arrays_.Run(layer_, options).ok());
  EXPECT_EQ(arrays_.Bits(), plain.Bits());
}

TEST_F(LayerCallErrors, ArraysThatAreNotWanted) {
  MultiHeadTensors tensors = arrays_.tensors();
  ExpectRunError(SelfCall(2, 5), tensors, {"x_kv", "cross"});
  tensors.attention.q = tensors.x;
  ExpectRunError(call_, tensors, {"attention", "q", "none"});
  tensors = arrays_.tensors();
  tensors.attention.mask = {tensors.x.data, DataType::kBool, {1, 1, 5, 7}};
  ExpectRunError(call_, tensors, {"mask", "option", "off"});
}

TEST_F(LayerCallErrors, ArraysOfAttention) {
  const std::vector<uint8_t> mask(2 * 4 * 5 * 7, 1);
  AttentionOptions options;
  options.mask = true;
  MultiHeadTensors tensors = arrays_.tensors();
  tensors.attention.mask = {mask.data(), DataType::kBool, {1, 1, 7, 5}};
  ExpectRunError(call_, tensors, {"mask", "7", "5", "4"}, options);
  options = {};
  options.lse = true;
  tensors = arrays_.tensors();
  // In the memory of x, which must not be overwritten.
  tensors.attention.lse =
      Tensor(static_cast<float*>(const_cast<void*>(tensors.x.data)), {2, 4, 5, 1});
  ExpectRunError(call_, tensors, {"lse", "x", "own"}, options);
}

// Arrays of a score that lie where the output is to be written.
TEST_F(LayerCallErrors, WeightsOfScoresInTheOutput) {
  const ConstTensor matrix(arrays_.tensors().out.data, DataType::kF32, {1, 1, 8, 8});
  AttentionOptions options;
  options.score = AttentionScore::kBilinear;
  MultiHeadTensors tensors = arrays_.tensors();
  tensors.attention.w = matrix;
  ExpectRunError(call_, tensors, {"out", "w", "own"}, options);

  const std::vector<float> apart(8 * 8, 1.0F);
  const ArrayView<float> inside = {static_cast<const float*>(matrix.data), 8};
  options.score = AttentionScore::kAdditive;
  options.wq = options.wk = true;
  tensors = arrays_.tensors();
  tensors.attention.wq = tensors.attention.wk = {apart.data(), {1, 1, 8, 8}};
  tensors.attention.w_out = inside;
  ExpectRunError(call_, tensors, {"out", "w_out", "own"}, options);
  tensors.attention.w_out = {apart.data(), 8};
  tensors.attention.wq = matrix;
  ExpectRunError(call_, tensors, {"out", "wq", "own"}, options);
  std::swap(tensors.attention.wq, tensors.attention.wk);
  ExpectRunError(call_, tensors, {"out", "wk", "own"}, options);
}

TEST_F(LayerCallErrors, Workspaces) {
  const Result<MultiHeadPlan> plan = layer_.Plan(call_);
  ASSERT_TRUE(plan.ok());
  Workspace workspace(plan->workspace_bytes() - 1);
  EXPECT_THAT(plan->Run(arrays_.tensors(), workspace),
              IsInvalid({"workspace", std::to_string(plan->workspace_bytes())}));
}

}  // namespace
}  // namespace lanewise::testing
