// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports that concern layers, by their number. C094 is in errors_test.cc.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"
#include "tests/support/patterns.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

std::vector<float> Identity(int64_t size) {
  std::vector<float> matrix(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < size; ++i) matrix[static_cast<size_t>(i * size + i)] = 1;
  return matrix;
}

// A layer whose queries are all zero, so that each query averages the values that it sees. k and v
// are x_kv itself, one below the other as rows of q, k, v; so is the output.
class AveragingLayer {
 public:
  AveragingLayer(int64_t heads, int64_t kv_heads, int64_t dim) {
    const int64_t width = kv_heads * dim;
    shape_ = LayerShape(heads, kv_heads, dim, width);
    qkv_.resize(static_cast<size_t>((heads * dim + width) * width));
    const std::vector<float> identity = Identity(width);
    qkv_.insert(qkv_.end(), identity.begin(), identity.end());
    // The mean over the query heads of each kv head would hide which they are: one head is chosen.
    out_.resize(static_cast<size_t>(width * heads * dim));
  }

  // Output column c is column `from[c]` of the concatenated heads.
  MultiHeadAttention Choosing(const std::vector<int64_t>& from, const std::string& target) {
    const int64_t columns = shape_.heads * shape_.dim;
    std::fill(out_.begin(), out_.end(), 0.0F);
    for (size_t c = 0; c < from.size(); ++c) {
      out_[c * static_cast<size_t>(columns) + static_cast<size_t>(from[c])] = 1;
    }
    MultiHeadWeights weights;
    weights.qkv = ConstTensor(
        qkv_.data(), {1, 1, (shape_.heads + 2 * shape_.kv_heads) * shape_.dim, shape_.d_model});
    weights.out = ConstTensor(out_.data(), {1, 1, shape_.d_model, columns});
    return MakeLayer(shape_, weights, OneThread(target));
  }
  const MultiHeadShape& shape() const { return shape_; }

 private:
  MultiHeadShape shape_;
  std::vector<float> qkv_;
  std::vector<float> out_;
};

TEST(PublicCasesLayers, C080QueryHeadsReadTheKvHeadOfTheirGroup) {
  for (const std::string& target : TestedTargets()) {
    AveragingLayer layer(4, 2, 1);  // values 1 and 2 in the two kv heads
    for (int64_t h = 0; h < 4; h += 2) {
      LayerCall call(layer.shape(), SelfCall(1, 1));
      call.x().Set({1, 2});
      ASSERT_TRUE(call.Run(layer.Choosing({h, h + 1}, target)).ok());
      const float value = h < 2 ? 1.0F : 2.0F;
      EXPECT_EQ(call.out().Values(), (std::vector<float>{value, value})) << target << ", " << h;
    }
  }
}

TEST(PublicCasesLayers, C084PackedProjectionsAreQueriesKeysValues) {
  const uint8_t mask[] = {1, 0, 1, 0, 0, 1, 0, 1};  // head 0 sees key 0, head 1 key 1
  AttentionOptions options;
  options.mask = true;
  for (const std::string& target : TestedTargets()) {
    AveragingLayer layer(2, 2, 2);
    LayerCall call(layer.shape(), SelfCall(1, 2));
    call.x().Set({1, 2, 3, 4, 5, 6, 7, 8});
    call.attention.mask = {mask, DataType::kBool, {1, 2, 2, 2}};
    ASSERT_TRUE(call.Run(layer.Choosing({0, 1, 2, 3}, target), options).ok());
    EXPECT_EQ(call.out().Values(), (std::vector<float>{1, 2, 7, 8, 1, 2, 7, 8})) << target;
  }
}

TEST(PublicCasesLayers, C087TrueMayAttend) {
  const uint8_t mask[] = {1, 0};
  AttentionOptions options;
  options.mask = true;
  for (const std::string& target : TestedTargets()) {
    AveragingLayer layer(1, 1, 1);
    LayerCall call(layer.shape(), SelfCall(1, 2));
    call.x().Set({1, 2});
    call.attention.mask = {mask, DataType::kBool, {1, 1, 1, 2}};
    ASSERT_TRUE(call.Run(layer.Choosing({0}, target), options).ok());
    EXPECT_EQ(call.out().Values(), (std::vector<float>{1, 1})) << target;
  }
}

TEST(PublicCasesLayers, C088AFloatBiasIsAdded) {
  const float bias[] = {1, 0};
  AttentionOptions options;
  options.bias = true;
  for (const std::string& target : TestedTargets()) {
    AveragingLayer layer(1, 1, 1);
    LayerCall call(layer.shape(), SelfCall(1, 2));
    call.x().Set({0, 1});
    call.attention.bias = {bias, {1, 1, 1, 2}};
    ASSERT_TRUE(call.Run(layer.Choosing({0}, target), options).ok());
    for (const float v : call.out().Values()) EXPECT_NEAR(v, 0.26894142, 1e-6) << target;
  }
}

TEST(PublicCasesLayers, C090MasksBroadcastOrAreRefused) {
  const MultiHeadShape shape = LayerShape(3, 3, 4);
  const Parameters parameters(shape);
  const MultiHeadAttention layer = MakeLayer(shape, parameters.Apart());
  AttentionOptions options;
  options.mask = true;
  const Sizes full = {2, 3, 4, 5};
  for (const Sizes& sizes :
       {Sizes{1, 1, 4, 5}, Sizes{1, 1, 1, 5}, Sizes{2, 1, 4, 5}, Sizes{1, 3, 1, 5}, full}) {
    const std::vector<uint8_t> mask = RandomMask(8, Count(sizes), 60);
    const std::vector<uint8_t> materialised = Broadcast(mask, sizes, full);
    LayerCall broadcast(shape, CrossCall(2, 4, 5));
    broadcast.attention.mask = {mask.data(), DataType::kBool, sizes};
    LayerCall plain(shape, CrossCall(2, 4, 5));
    plain.attention.mask = {materialised.data(), DataType::kBool, full};
    ASSERT_TRUE(broadcast.Run(layer, options).ok());
    ASSERT_TRUE(plain.Run(layer, options).ok());
    EXPECT_EQ(broadcast.Bits(), plain.Bits());
  }
  const std::vector<uint8_t> mask(200, 1);
  for (const Sizes& sizes :
       {Sizes{1, 1, 5, 4}, Sizes{1, 1, 2, 5}, Sizes{2, 3, 4, 4}, Sizes{2, 2, 4, 5}}) {
    LayerCall call(shape, CrossCall(2, 4, 5));
    call.attention.mask = {mask.data(), DataType::kBool, sizes};
    EXPECT_THAT(call.Run(layer, options), IsInvalid({"mask", "2", "3", "4", "5"}));
  }
}

TEST(PublicCasesLayers, C092AMaskIsHonouredWithAllElseAtItsDefaults) {
  const int64_t n = 300;
  std::vector<uint8_t> mask(static_cast<size_t>(n), 0);
  mask.back() = 1;
  AttentionOptions options;
  options.mask = true;
  AveragingLayer layer(2, 2, 16);
  LayerCall call(layer.shape(), SelfCall(1, n));
  call.attention.mask = {mask.data(), DataType::kBool, {1, 1, 1, n}};
  std::vector<int64_t> columns(32);
  std::iota(columns.begin(), columns.end(), 0);
  ASSERT_TRUE(call.Run(layer.Choosing(columns, ""), options).ok());
  const std::vector<float> x = call.x().Values();
  const std::vector<float> out = call.out().Values();
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], x[static_cast<size_t>((n - 1) * 32) + i % 32]) << i;
  }
}

// Of key j of all, counted over the sequences, kv head h holds j + 10 h.
TEST(PublicCasesLayers, C095RaggedDecodeWithEmptySequences) {
  const std::vector<int64_t> q_offsets = {0, 0, 1, 1, 2};
  const std::vector<int64_t> k_offsets = {0, 0, 3, 3, 8};
  std::vector<float> x_kv;
  for (int j = 0; j < 8; ++j) {
    for (int h = 0; h < 3; ++h) x_kv.push_back(static_cast<float>(j + 10 * h));
  }
  AttentionOptions options;
  options.ragged = true;
  for (const std::string& target : TestedTargets()) {
    AveragingLayer layer(9, 3, 1);
    // Each output column is one query head of another kv head.
    for (int64_t h = 0; h < 3; ++h) {
      LayerCall call(layer.shape(), CrossCall(4, 2, 8), DenseStrides, /*ragged=*/true);
      call.x_kv().Set(x_kv);
      call.attention.q_offsets = {q_offsets.data(), 5};
      call.attention.k_offsets = {k_offsets.data(), 5};
      const Status status = call.Run(layer.Choosing({h, 3 + h, 6 + h}, target), options);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(call.out().Values(), (std::vector<float>{1, 11, 21, 5, 15, 25}))
          << target << ", head " << h << " of each kv head";
    }
  }
}

TEST(PublicCasesLayers, C097TheSameCallGivesTheSameBits) {
  const MultiHeadShape shape = LayerShape(4, 4, 8);
  const Parameters parameters(shape);
  const MultiHeadAttention layer = MakeLayer(shape, parameters.Apart());
  LayerCall first(shape, SelfCall(2, 40));
  LayerCall second(shape, SelfCall(2, 40));
  ASSERT_TRUE(first.Run(layer).ok());
  ASSERT_TRUE(second.Run(layer).ok());
  EXPECT_EQ(first.Bits(), second.Bits());
}

}  // namespace
}  // namespace lanewise::testing
