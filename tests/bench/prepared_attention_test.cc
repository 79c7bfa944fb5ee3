// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The arrays of attention cases, and calls on them.

#include "bench/prepared_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/attention_cases.h"
#include "src/reference/attention.h"
#include "tests/bench/small_cases.h"
#include "tests/support/half.h"

namespace lanewise::bench {
namespace {

TEST(PreparedAttentionTest, FillsItsArrays) {
  AttentionShape shape = SmallShape(20);
  shape.batch = 2;
  const Result<CaseArrays> arrays =
      CaseArrays::Make(CustomCase(shape, AllArrays(), {.kv_len = {50, 31}}));
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  const AttentionTensors& tensors = arrays->tensors();
  EXPECT_EQ(tensors.mask.sizes, (Sizes{1, 1, 20, 50}));
  EXPECT_EQ(tensors.mask.type, DataType::kBool);
  EXPECT_EQ(tensors.bias.sizes, (Sizes{1, 1, 20, 50}));
  float least = 0;
  float most = 0;
  for (int64_t i = 0; i < 20 * 50; ++i) {
    EXPECT_EQ(static_cast<const uint8_t*>(tensors.mask.data)[i], 1);
    least = std::min(least, static_cast<const float*>(tensors.bias.data)[i]);
    most = std::max(most, static_cast<const float*>(tensors.bias.data)[i]);
  }
  EXPECT_TRUE(least >= -1 && least < -0.9f) << least;
  EXPECT_TRUE(most < 1 && most > 0.9f) << most;
  ASSERT_EQ(tensors.alibi_slopes.size, 4);
  for (int h = 0; h < 4; ++h) {
    EXPECT_FLOAT_EQ(tensors.alibi_slopes.data[h], std::exp2(-2.0f * static_cast<float>(h + 1)));
  }
  EXPECT_EQ(tensors.sinks.size, 4);
  ASSERT_EQ(tensors.kv_len.size, 2);
  EXPECT_EQ(tensors.kv_len.data[1], 31);
  EXPECT_EQ(tensors.lse.sizes, (Sizes{2, 4, 20, 1}));
  EXPECT_EQ(tensors.weights.sizes, (Sizes{2, 4, 20, 50}));

  const Result<CaseArrays> plain = CaseArrays::Make(CustomCase(shape, {}));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(plain->tensors().mask.data, nullptr);
  EXPECT_EQ(plain->tensors().weights.data, nullptr);
}

TEST(PreparedAttentionTest, ArraysBeyondMemoryAreAnError) {
  AttentionShape shape = SmallShape(int64_t{1} << 40);
  shape.heads = shape.kv_heads = 0;
  shape.keys = int64_t{1} << 40;
  AttentionOptions options;
  options.bias = true;
  EXPECT_EQ(CaseArrays::Make(CustomCase(shape, options)).status().code(), StatusCode::kOutOfMemory);
}

// Arrays of every type hold the numbers of the f32 ones, rounded.
TEST(PreparedAttentionTest, ArraysOfEveryTypeHoldTheSameNumbers) {
  AttentionShape shape = SmallShape(20);
  shape.kv_heads = shape.heads = 3;
  shape.keys = 51;
  shape.dim = 17;
  const Result<CaseArrays> plain = CaseArrays::Make(CustomCase(shape, {}));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    shape.q_type = shape.k_type = shape.v_type = shape.out_type = type;
    const Result<CaseArrays> typed = CaseArrays::Make(CustomCase(shape, {}));
    ASSERT_TRUE(typed.ok()) << typed.status().message();
    const std::pair<ConstTensor, ConstTensor> arrays[] = {
        {typed->tensors().q, plain->tensors().q},
        {typed->tensors().k, plain->tensors().k},
        {typed->tensors().v, plain->tensors().v},
        {typed->tensors().out, plain->tensors().out}};
    for (const auto& [got, want] : arrays) {
      ASSERT_EQ(got.type, type);
      ASSERT_EQ(got.sizes, want.sizes);
      ASSERT_EQ(got.strides, DenseStrides(got.sizes));
      for (int64_t i = 0; i < got.sizes[0] * got.strides[0]; ++i) {
        const double number{static_cast<const float*>(want.data)[i]};
        ASSERT_EQ(static_cast<const uint16_t*>(got.data)[i], testing::ToHalf(type, number))
            << DataTypeName(type) << " " << i;
      }
    }
  }
}

TEST(PreparedAttentionTest, OtherBatchesAreRefused) {
  for (const char* name : {"kv_first", "paged"}) {
    AttentionOptions options;
    options.kv_first = std::string(name) == "kv_first";
    options.paged = std::string(name) == "paged";
    const Status status = CaseArrays::Make(CustomCase(SmallShape(20), options)).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }
}

TEST(PreparedAttentionTest, OtherTypesAreRefused) {
  AttentionShape shape = SmallShape(20);
  shape.v_type = DataType::kBool;
  const Status status = CaseArrays::Make(CustomCase(shape, {})).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("bool"), std::string::npos) << status.message();
}

TEST(PreparedAttentionTest, RunFillsTheOutput) {
  const Result<std::unique_ptr<PreparedCase>> prepared =
      PreparedAttention::Make(CustomCase(SmallShape(20), {}), Threads(1), {});
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  const auto* attention = static_cast<const PreparedAttention*>(prepared->get());
  const auto* out = static_cast<const float*>(attention->tensors().out.data);
  const float before = out[0];
  ASSERT_TRUE((*prepared)->Run().ok());
  EXPECT_NE(out[0], before);
}

// Sequences of 3, 7, 0 and 10 queries and of 5, 4, 30 and 11 keys.
AttentionCase RaggedCase(AttentionOptions options) {
  AttentionShape shape = SmallShape(20);
  shape.batch = 4;
  options.ragged = true;
  return CustomCase(shape, options,
                    {.q_offsets = {0, 3, 10, 10, 20}, .k_offsets = {0, 5, 9, 39, 50}});
}

TEST(PreparedAttentionTest, RaggedArraysHoldAllSequences) {
  AttentionOptions options;
  options.alibi_slopes = options.sinks = options.lse = true;
  const Result<CaseArrays> arrays = CaseArrays::Make(RaggedCase(options));
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  const AttentionTensors& tensors = arrays->tensors();
  EXPECT_EQ(tensors.q.sizes, (Sizes{1, 4, 20, 16}));
  EXPECT_EQ(tensors.k.sizes, (Sizes{1, 2, 50, 16}));
  EXPECT_EQ(tensors.v.sizes, (Sizes{1, 2, 50, 24}));
  EXPECT_EQ(tensors.out.sizes, (Sizes{1, 4, 20, 24}));
  EXPECT_EQ(tensors.lse.sizes, (Sizes{1, 4, 20, 1}));
  EXPECT_EQ(tensors.alibi_slopes.size, 4);
  EXPECT_EQ(tensors.sinks.size, 4);
  EXPECT_EQ(tensors.kv_len.data, nullptr);
  ASSERT_EQ(tensors.q_offsets.size, 5);
  EXPECT_EQ(tensors.q_offsets.data[1], 3);
  ASSERT_EQ(tensors.k_offsets.size, 5);
  EXPECT_EQ(tensors.k_offsets.data[3], 39);
}

TEST(PreparedAttentionTest, RaggedRunComputesEverySequence) {
  std::vector<AttentionOptions> all(3);
  all[1].causal = true;
  all[2].window = {2, 1};
  all[2].alibi_slopes = all[2].sinks = true;
  for (const AttentionOptions& options : all) {
    const AttentionCase ragged = RaggedCase(options);
    const Result<std::unique_ptr<PreparedCase>> prepared =
        PreparedAttention::Make(ragged, Threads(2), {});
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    const Status status = (*prepared)->Run();
    ASSERT_TRUE(status.ok()) << status.message();
    const AttentionTensors& tensors =
        static_cast<const PreparedAttention*>(prepared->get())->tensors();
    const auto* out = static_cast<const float*>(tensors.out.data);
    const reference::AttentionResult expected = reference::Attention(tensors, ragged.options);
    for (size_t i = 0; i < expected.out.size(); ++i) {
      ASSERT_NEAR(out[i], expected.out[i], 1e-5) << ragged.name << ", element " << i;
    }
  }
}

TEST(PreparedAttentionTest, OffsetsThatDoNotFitAreErrors) {
  const AttentionLengths wrong[] = {
      {},
      {.q_offsets = {0, 3, 10, 20}, .k_offsets = {0, 5, 9, 39, 50}},
      {.q_offsets = {0, 3, 10, 10, 20}, .k_offsets = {0, 5, 9, 39, 51}},
      {.q_offsets = {0, 3, 10, 9, 20}, .k_offsets = {0, 5, 9, 39, 50}}};
  for (const AttentionLengths& lengths : wrong) {
    AttentionCase ragged = RaggedCase({});
    ragged.lengths = lengths;
    const Result<std::unique_ptr<PreparedCase>> prepared =
        PreparedAttention::Make(ragged, Threads(1), {});
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    const Status status = (*prepared)->Run();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("_offsets"), std::string::npos) << status.message();
  }
}

// What no ragged batch has.
TEST(PreparedAttentionTest, RaggedBatchesWithPairsAreRefused) {
  std::vector<AttentionOptions> all(4);
  all[0].mask = all[1].bias = all[2].weights = all[3].kv_len = true;
  for (const AttentionOptions& options : all) {
    const Status status = PreparedAttention::Make(RaggedCase(options), Threads(1), {}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("ragged"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace lanewise::bench
