// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The layer against its definition and against its parts, in every use.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/gemm.h"
#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"

namespace lanewise::testing {
namespace {

// On every target, with and without biases.
void ExpectRight(const MultiHeadShape& shape, const MultiHeadCall& c,
                 const AttentionOptions& options = {}) {
  for (const std::string& target : TestedTargets()) {
    for (const bool biases : {true, false}) {
      const Parameters parameters(shape, biases);
      LayerCall call(shape, c);
      const auto layer = MakeLayer(shape, parameters.Apart(), OneThread(target));
      const Status status = call.Run(layer, options);
      ASSERT_TRUE(status.ok()) << status.message();
      ExpectMatchesReference(shape, parameters.Apart(), call, options, target);
    }
  }
}

TEST(MultiHead, SelfAttention) {
  ExpectRight(LayerShape(4, 4, 8), SelfCall(2, 21));
  ExpectRight(LayerShape(1, 1, 16), SelfCall(1, 33));
  ExpectRight(LayerShape(3, 3, 5), SelfCall(3, 7));
}

TEST(MultiHead, FewQueries) {
  for (const int64_t queries : {1, 2, 3}) ExpectRight(LayerShape(4, 4, 8), SelfCall(2, queries));
}

TEST(MultiHead, CrossAttention) {
  ExpectRight(LayerShape(4, 4, 8), CrossCall(2, 21, 9));
  ExpectRight(LayerShape(4, 4, 8, 32, 20), CrossCall(2, 5, 40));
  ExpectRight(LayerShape(4, 2, 8, 32, 48), CrossCall(1, 1, 50));
}

TEST(MultiHead, MaskedDecoder) {
  AttentionOptions options;
  options.causal = true;
  ExpectRight(LayerShape(4, 4, 8), SelfCall(2, 21), options);
  options.window = {3, 0};
  ExpectRight(LayerShape(4, 4, 8), SelfCall(2, 21), options);
}

TEST(MultiHead, FewerHeadsOfKeysAndValues) {
  for (const int64_t kv_heads : {1, 2, 3, 6}) {
    ExpectRight(LayerShape(6, kv_heads, 8), SelfCall(2, 19));
  }
}

TEST(MultiHead, HeadsWiderOrNarrowerThanTheModel) {
  ExpectRight(LayerShape(4, 2, 16, 24), SelfCall(2, 11));
  ExpectRight(LayerShape(2, 2, 3, 50), SelfCall(2, 11));
}

TEST(MultiHead, DefaultsOfTheShape) {
  MultiHeadShape shape;
  shape.d_model = 24;
  shape.heads = 3;
  const Parameters parameters(LayerShape(3, 3, 8));
  const MultiHeadAttention layer = MakeLayer(shape, parameters.Apart());
  EXPECT_EQ(layer.shape().kv_heads, 3);
  EXPECT_EQ(layer.shape().dim, 8);
  EXPECT_EQ(layer.shape().kv_d_model, 24);
}

// a times the transposed weights, plus bias, through a plan of its own.
std::vector<float> Project(const ConstTensor& a, const ConstTensor& weights,
                           const ArrayView<float>& bias, const Runtime& runtime) {
  const Result<PackedMatrix> packed = PackB(weights, true, runtime);
  std::vector<float> c(static_cast<size_t>(a.sizes[2] * weights.sizes[2]));
  GemmTensors tensors;
  tensors.a = a;
  tensors.c = Tensor(c.data(), {1, 1, a.sizes[2], weights.sizes[2]});
  tensors.bias = bias;
  tensors.packed_b = &*packed;
  GemmOptions options;
  options.packed_b = options.bias = options.transpose_b = true;
  EXPECT_TRUE(Gemm(tensors, options, runtime).ok());
  return c;
}

// Products and attention through their own plans give the same bits.
TEST(MultiHead, EqualsAttentionOfEachHeadConcatenated) {
  const MultiHeadShape shape = LayerShape(4, 2, 8, 40);
  const int64_t rows = 21;
  for (const std::string& target : TestedTargets()) {
    const Runtime runtime = OneThread(target);
    const Parameters parameters(shape);
    LayerCall call(shape, SelfCall(1, rows));
    ASSERT_TRUE(call.Run(MakeLayer(shape, parameters.Fused(), runtime)).ok());

    const MultiHeadWeights weights = parameters.Apart();
    const ConstTensor x = call.tensors().x;
    const std::vector<float> q = Project(x, weights.q, weights.q_bias, runtime);
    const std::vector<float> k = Project(x, weights.k, weights.k_bias, runtime);
    const std::vector<float> v = Project(x, weights.v, weights.v_bias, runtime);
    std::vector<float> heads(q.size());
    // Both heads that share a kv head in one call: the variant depends on how many rows they have.
    const Sizes q_strides = {0, 8, 32, 1};
    const Sizes kv_strides = {0, 8, 16, 1};
    for (int64_t j = 0; j < 2; ++j) {
      ASSERT_TRUE(Attention(ConstTensor(q.data() + j * 16, {1, 2, rows, 8}, q_strides),
                            ConstTensor(k.data() + j * 8, {1, 1, rows, 8}, kv_strides),
                            ConstTensor(v.data() + j * 8, {1, 1, rows, 8}, kv_strides),
                            Tensor(heads.data() + j * 16, {1, 2, rows, 8}, q_strides), {}, runtime)
                      .ok());
    }
    const ConstTensor concatenated(heads.data(), {1, 1, rows, 32});
    EXPECT_EQ(call.out().Values(), Project(concatenated, weights.out, weights.out_bias, runtime))
        << target;
  }
}

TEST(MultiHead, FusedWeightsGiveTheSameBits) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    for (const int64_t kv_heads : {1, 4}) {
      const MultiHeadShape shape = LayerShape(4, kv_heads, 8);
      const Parameters parameters(shape, true, type);
      LayerCall apart(shape, SelfCall(2, 13));
      LayerCall fused(shape, SelfCall(2, 13));
      ASSERT_TRUE(apart.Run(MakeLayer(shape, parameters.Apart())).ok());
      ASSERT_TRUE(fused.Run(MakeLayer(shape, parameters.Fused())).ok());
      EXPECT_EQ(apart.Bits(), fused.Bits());
      ExpectMatchesReference(shape, parameters.Apart(), apart, {}, "weights of 16 bits too");
    }
  }
}

// Products take keys and values together, so two types of weights become one.
TEST(MultiHead, EveryTypeOfWeights) {
  const MultiHeadShape shape = LayerShape(4, 2, 8);
  const DataType types[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
  for (const DataType k_type : types) {
    for (const DataType v_type : types) {
      for (const int64_t queries : {1, 13}) {
        const Parameters k(shape, true, k_type);
        const Parameters v(shape, true, v_type);
        MultiHeadWeights weights = k.Apart();
        weights.v = v.Apart().v;
        weights.out = v.Apart().out;
        LayerCall call(shape, SelfCall(1, queries));
        ASSERT_TRUE(call.Run(MakeLayer(shape, weights)).ok());
        ExpectMatchesReference(
            shape, weights, call, {},
            std::string(DataTypeName(k_type)) + " and " + std::string(DataTypeName(v_type)));
      }
    }
  }
}

// Rows that do not lie evenly are copied first.
TEST(MultiHead, StridesDoNotChangeBits) {
  const MultiHeadShape shape = LayerShape(4, 2, 8, 0, 24);
  const MultiHeadAttention layer = MakeLayer(shape, Parameters(shape).Apart());
  for (const int64_t queries : {1, 13}) {
    LayerCall dense(shape, CrossCall(3, queries, 10));
    LayerCall padded(shape, CrossCall(3, queries, 10), PaddedStrides);
    ASSERT_TRUE(dense.Run(layer).ok());
    ASSERT_TRUE(padded.Run(layer).ok());
    EXPECT_EQ(dense.Bits(), padded.Bits()) << queries;
    EXPECT_TRUE(padded.out().IsPaddingIntact());
  }
}

TEST(MultiHead, EveryTypeOfRows) {
  const MultiHeadShape shape = LayerShape(2, 2, 8);
  const Parameters parameters(shape);
  const MultiHeadAttention layer = MakeLayer(shape, parameters.Apart());
  const struct {
    DataType type;
    double unit;
  } types[] = {{DataType::kF32, 0}, {DataType::kF16, 0x1p-11}, {DataType::kBF16, 0x1p-8}};
  for (const auto& x : types) {
    for (const auto& other : types) {
      for (const StrideRule strides : {DenseStrides, PaddedStrides}) {
        MultiHeadCall c = CrossCall(2, 9, 12);
        c.x_type = x.type;
        c.x_kv_type = c.out_type = other.type;
        LayerCall call(shape, c, strides);
        ASSERT_TRUE(call.Run(layer).ok());
        ExpectMatchesReference(shape, parameters.Apart(), call, {},
                               std::string(DataTypeName(other.type)), other.unit);
      }
    }
  }
}

TEST(MultiHead, ZeroSizes) {
  const MultiHeadShape shape = LayerShape(2, 2, 8);
  const Parameters parameters(shape);
  const MultiHeadAttention layer = MakeLayer(shape, parameters.Apart());
  LayerCall no_queries(shape, CrossCall(2, 0, 5));
  EXPECT_TRUE(no_queries.Run(layer).ok());
  LayerCall no_items(shape, SelfCall(0, 5));
  EXPECT_TRUE(no_items.Run(layer).ok());
  // Without keys what is left is the bias of the output.
  LayerCall no_keys(shape, CrossCall(2, 3, 0));
  ASSERT_TRUE(no_keys.Run(layer).ok());
  const ArrayView<float> bias = parameters.Apart().out_bias;
  const std::vector<float> out = no_keys.out().Values();
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], bias.data[i % 16]);
}

TEST(MultiHead, ThreadsDoNotChangeBits) {
  const MultiHeadShape shape = LayerShape(4, 2, 16);
  const Parameters parameters(shape);
  const auto bits = [&](int threads) {
    Runtime runtime = OneThread();
    runtime.threads = threads;
    LayerCall call(shape, CrossCall(3, 50, 70), PaddedStrides);
    EXPECT_TRUE(call.Run(MakeLayer(shape, parameters.Apart(), runtime)).ok());
    return call.Bits();
  };
  const std::vector<uint32_t> expected = bits(1);
  for (const int threads : {0, 2, 3}) EXPECT_EQ(bits(threads), expected) << threads;
}

TEST(MultiHead, ExplainsItsSteps) {
  const MultiHeadShape shape = LayerShape(4, 4, 8);
  const auto plan = MakeLayer(shape, Parameters(shape).Apart()).Plan(SelfCall(2, 100));
  ASSERT_TRUE(plan.ok());
  const MultiHeadExplanation explanation = plan->Explain();
  EXPECT_EQ(explanation.attention.variant, "lanes");
  EXPECT_FALSE(explanation.q.tile.empty());
  EXPECT_EQ(explanation.workspace_bytes, static_cast<int64_t>(plan->workspace_bytes()));
  EXPECT_NE(explanation.ToString().find("attention"), std::string::npos);
}

}  // namespace
}  // namespace lanewise::testing
