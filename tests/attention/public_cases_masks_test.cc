// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about mask inputs (group K), and C074 of group I.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/mentions.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

TEST(PublicCases, C087_TrueMeansMayAttend) {
  AttentionCase c = MeansCase(3, {1, 2});
  c.SetMask({1, 1, 1, 2}, {1, 0});
  ExpectMeans(c, {1, 1, 1});
  c.SetMask({1, 1, 3, 2}, {1, 0, 1, 0, 1, 0});
  ExpectMeans(c, {1, 1, 1});
}

TEST(PublicCases, C087_AnyByteButZeroIsTrue) {
  for (int byte = 1; byte < 256; ++byte) {
    AttentionCase c = MeansCase(2, {1, 2, 7});
    const uint8_t truth = static_cast<uint8_t>(byte);
    c.SetMask({1, 1, 2, 3}, {truth, 0, truth, 0, truth, 0});
    ExpectMeans(c, {4, 2}, EveryTile());
  }
}

TEST(PublicCases, C088_BiasIsAdded) {
  AttentionCase c = MeansCase(1, {0, 1});
  c.SetBias({1, 1, 1, 2}, {1, 0});
  ExpectMeans(c, {0.26894142});

  AttentionCase random;
  random.shape = {.queries = 4, .keys = 8, .dim = 4, .value_dim = 4};
  random.SetBias({1, 1, 4, 8}, Gen(4, 32));
  ExpectMatchesReference(random, EveryPath());
}

TEST(PublicCases, C088_MaskAndBiasHaveTheirTypes) {
  const AttentionCase c = MeansCase(1, {0, 1});
  const PreparedCase prepared(c);
  const float floats[] = {1, 0};
  const uint8_t bytes[] = {1, 0};
  float out = 42;
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(&out, {1, 1, 1, 1});

  AttentionOptions options;
  options.mask = true;
  tensors.mask = ConstTensor(floats, {1, 1, 1, 2});
  EXPECT_THAT(Attention(tensors, options), IsInvalid({"mask", "f32", "bool"}));
  tensors.mask = {};
  options.mask = false;
  options.bias = true;
  tensors.bias = ConstTensor(bytes, DataType::kBool, {1, 1, 1, 2});
  EXPECT_THAT(Attention(tensors, options), IsInvalid({"bias", "f32", "bool"}));
  EXPECT_EQ(out, 42);
}

AttentionCase C090Case() {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 3, .kv_heads = 3, .queries = 4, .keys = 5, .dim = 6, .value_dim = 3};
  return c;
}

// Those of the report, and all others that broadcast.
std::vector<Sizes> BroadcastSizes(const Sizes& full) {
  std::vector<Sizes> all;
  for (unsigned axes = 0; axes < 16; ++axes) {
    Sizes sizes = full;
    for (size_t axis = 0; axis < 4; ++axis) {
      if ((axes >> axis) % 2 != 0) sizes[axis] = 1;
    }
    all.push_back(sizes);
  }
  return all;
}

TEST(PublicCases, C090_MasksThatBroadcast) {
  AttentionCase c = C090Case();
  for (const Sizes& sizes : BroadcastSizes(c.pair_sizes())) {
    const std::vector<uint8_t> mask = RandomMask(7, Count(sizes), 60);
    c.SetMask(c.pair_sizes(), Broadcast(mask, sizes, c.pair_sizes()));
    const PreparedCase materialised(c);
    const Expectation expected = materialised.FromReference();
    c.SetMask(sizes, mask);
    const PreparedCase broadcast(c);
    for (const Path& path : EveryPath()) {
      const AttentionRun run = broadcast.Run(path);
      EXPECT_TRUE(broadcast.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run, materialised.Run(path))) << path.ToString() << c.ToString();
    }
  }
}

TEST(PublicCases, C090_BiasesThatBroadcast) {
  AttentionCase c = C090Case();
  for (const Sizes& sizes : BroadcastSizes(c.pair_sizes())) {
    const std::vector<float> bias = BiasWithHoles(8, Count(sizes), 2.0F, 20);
    c.SetBias(c.pair_sizes(), Broadcast(bias, sizes, c.pair_sizes()));
    const PreparedCase materialised(c);
    const Expectation expected = materialised.FromReference();
    c.SetBias(sizes, bias);
    const PreparedCase broadcast(c);
    for (const Path& path : EveryPath()) {
      const AttentionRun run = broadcast.Run(path);
      EXPECT_TRUE(broadcast.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run, materialised.Run(path))) << path.ToString() << c.ToString();
    }
  }
}

TEST(PublicCases, C090_SizesThatDoNotBroadcast) {
  const AttentionCase c = C090Case();
  const PreparedCase prepared(c);
  const std::vector<uint8_t> mask = UniformMask(200, true);
  const std::vector<float> bias = Repeat(0, 200);
  std::vector<float> out = Repeat(42, Count(c.out_sizes()));
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(out.data(), c.out_sizes());
  for (const Sizes& sizes :
       {Sizes{1, 1, 5, 4}, Sizes{1, 1, 2, 5}, Sizes{2, 3, 4, 4}, Sizes{2, 2, 4, 5},
        Sizes{3, 3, 4, 5}, Sizes{2, 3, 4, 0}, Sizes{0, 3, 4, 5}, Sizes{2, 3, 8, 5}}) {
    std::vector<std::string> words;
    for (const int64_t size : sizes) words.push_back(std::to_string(size));
    for (const char* expected : {"2", "3", "4", "5"}) words.push_back(expected);
    AttentionOptions options;
    options.mask = true;
    tensors.mask = ConstTensor(mask.data(), DataType::kBool, sizes);
    words.push_back("mask");
    EXPECT_THAT(Attention(tensors, options), IsInvalid(words));
    tensors.mask = {};

    options.mask = false;
    options.bias = true;
    tensors.bias = ConstTensor(bias.data(), sizes);
    words.back() = "bias";
    EXPECT_THAT(Attention(tensors, options), IsInvalid(words));
    tensors.bias = {};
    EXPECT_EQ(out, Repeat(42, Count(c.out_sizes())));
  }
}

// The size 1 on an axis, or a stride of 0.
TEST(PublicCases, C090_StrideZeroBroadcastsToo) {
  AttentionCase c = C090Case();
  for (const StrideRule shared : {SharedRowStrides, SharedHeadStrides, SharedBatchStrides}) {
    Sizes sizes = c.pair_sizes();
    sizes[shared == SharedRowStrides ? 2 : shared == SharedHeadStrides ? 1 : 0] = 1;
    const std::vector<uint8_t> mask = RandomMask(7, Count(sizes), 60);
    const std::vector<float> bias = BiasWithHoles(8, Count(sizes), 2.0F, 20);
    c.SetMask(sizes, mask);
    c.SetBias(sizes, bias);
    c.pair_strides = DenseStrides;
    const PreparedCase by_size(c);
    const Expectation expected = by_size.FromReference();
    c.SetMask(c.pair_sizes(), Broadcast(mask, sizes, c.pair_sizes()));
    c.SetBias(c.pair_sizes(), Broadcast(bias, sizes, c.pair_sizes()));
    c.pair_strides = shared;
    const PreparedCase by_stride(c);
    for (const Path& path : EveryPath()) {
      const AttentionRun run = by_stride.Run(path);
      EXPECT_TRUE(by_stride.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run, by_size.Run(path))) << path.ToString() << c.ToString();
    }
  }
}

TEST(PublicCases, C074_MaskOfEachItemSharedByItsHeads) {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 2, .kv_heads = 2, .queries = 1, .keys = 2, .dim = 1, .value_dim = 1};
  c.q = Repeat(0, 4);
  c.v = {1, 2, 1, 2, 1, 2, 1, 2};
  c.SetMask({2, 1, 1, 2}, {1, 0, 0, 1});
  ExpectMeans(c, {1, 1, 2, 2});
  c.SetMask({1, 2, 1, 2}, {1, 0, 0, 1});
  ExpectMeans(c, {1, 2, 1, 2});
}

TEST(PublicCases, C092_MaskIsHonouredWhenNothingElseIsAsked) {
  AttentionCase c;
  c.shape = {.queries = 1024, .keys = 1024, .dim = 64, .value_dim = 64};
  c.v = Gen(3, Count(c.v_sizes()));
  std::vector<uint8_t> mask = UniformMask(1024, false);
  mask.back() = 1;
  std::vector<float> last;
  for (int row = 0; row < 1024; ++row) last.insert(last.end(), c.v.end() - 64, c.v.end());
  c.SetMask({1, 1, 1, 1024}, mask);
  const PreparedCase shared(c);
  c.SetMask(c.pair_sizes(), Broadcast(mask, {1, 1, 1, 1024}, c.pair_sizes()));
  const PreparedCase dense(c);
  for (const Path& path : EveryTile()) {
    EXPECT_EQ(shared.Run(path).out, last) << path.ToString();
    EXPECT_EQ(dense.Run(path).out, last) << path.ToString();
  }
}

}  // namespace
}  // namespace lanewise::testing
