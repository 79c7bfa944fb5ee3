// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Results of small cases: what is filled in, and that overrides and errors get through. No speeds.

#include "bench/run_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/attention_cases.h"
#include "bench/gemm_cases.h"
#include "bench/work.h"
#include "tests/bench/small_cases.h"

namespace lanewise::bench {
namespace {

TEST(RunCaseTest, FillsInTheRow) {
  const AttentionCase benchmark = CustomCase(SmallShape(30), {});
  for (const int threads : {1, 3}) {
    const Result<CaseResult> result =
        RunCase(ToCase(benchmark), Threads(threads), {}, ShortMeasure());
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->name, benchmark.name);
    EXPECT_FALSE(result->plan.tile.empty());
    EXPECT_GT(result->seconds, 0.0);
    EXPECT_DOUBLE_EQ(result->gflops * result->seconds * 1e9, Flops(benchmark));
    EXPECT_GE(result->spread, 0.0);
    EXPECT_TRUE(std::isfinite(result->fma_peak_gflops) && result->fma_peak_gflops > 0.0);
    EXPECT_FALSE(result->gbps.has_value());
    EXPECT_FALSE(result->memory_gbps.has_value());
  }
}

TEST(RunCaseTest, DecodeHasBandwidths) {
  const AttentionCase benchmark = CustomCase(SmallShape(1), {});
  const Result<CaseResult> result = RunCase(ToCase(benchmark), Threads(2), {}, ShortMeasure());
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_TRUE(result->gbps.has_value());
  EXPECT_DOUBLE_EQ(*result->gbps * result->seconds * 1e9, 2.0 * 50 * (16 + 24) * 4);
  ASSERT_TRUE(result->memory_gbps.has_value());
  EXPECT_GT(*result->memory_gbps, 0.0);
}

TEST(RunCaseTest, DecodeCountsTheBytesOfItsTypes) {
  AttentionShape shape = SmallShape(1);
  // Odd numbers of elements, so that K and V end in the middle of a word.
  shape.heads = shape.kv_heads = 1;
  shape.keys = 51;
  shape.dim = 17;
  shape.value_dim = 23;
  for (const DataType k_type : {DataType::kF32, DataType::kF16}) {
    shape.k_type = k_type;
    shape.v_type = DataType::kBF16;
    const AttentionCase benchmark = CustomCase(shape, {});
    const Result<CaseResult> result = RunCase(ToCase(benchmark), Threads(2), {}, ShortMeasure());
    ASSERT_TRUE(result.ok()) << benchmark.name << ": " << result.status().message();
    ASSERT_TRUE(result->gbps.has_value());
    const int k_bytes = k_type == DataType::kF32 ? 4 : 2;
    EXPECT_DOUBLE_EQ(*result->gbps * result->seconds * 1e9, 51.0 * (17 * k_bytes + 23 * 2));
    EXPECT_GT(*result->memory_gbps, 0.0);
  }
}

// Each sequence counts with its own lengths.
TEST(RunCaseTest, RaggedBatches) {
  AttentionShape shape = SmallShape(12);
  shape.batch = 3;
  AttentionOptions options;
  options.ragged = true;
  const AttentionCase prefill =
      CustomCase(shape, options, {.q_offsets = {0, 2, 2, 12}, .k_offsets = {0, 5, 38, 50}});
  const Result<CaseResult> result = RunCase(ToCase(prefill), Threads(2), {}, ShortMeasure());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->name, "b3_h4_kv2_q12_k50_d16_v24_ragged_q0to10_k5to33");
  EXPECT_DOUBLE_EQ(result->gflops * result->seconds * 1e9, 2.0 * 4 * (2 * 5 + 10 * 12) * (16 + 24));
  EXPECT_FALSE(result->gbps.has_value());

  shape.queries = 2;
  const AttentionCase decode =
      CustomCase(shape, options, {.q_offsets = {0, 1, 1, 2}, .k_offsets = {0, 5, 38, 50}});
  const Result<CaseResult> read = RunCase(ToCase(decode), Threads(2), {}, ShortMeasure());
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_TRUE(read->gbps.has_value());
  EXPECT_DOUBLE_EQ(*read->gbps * read->seconds * 1e9, 2.0 * (5 + 12) * (16 + 24) * 4);
  EXPECT_GT(*read->memory_gbps, 0.0);
}

TEST(RunCaseTest, ForcedTargetIsTheOneThatRuns) {
  for (const std::string& target : AvailableTargets()) {
    Runtime runtime = Threads(1);
    runtime.target = target;
    const Result<CaseResult> result =
        RunCase(ToCase(CustomCase(SmallShape(20), {})), runtime, {}, ShortMeasure());
    ASSERT_TRUE(result.ok()) << target << ": " << result.status().message();
    EXPECT_EQ(result->plan.target, target);
  }
}

TEST(RunCaseTest, OverridesReachThePlan) {
  Overrides overrides;
  overrides.kv_block = 32;
  const Result<CaseResult> result =
      RunCase(ToCase(CustomCase(SmallShape(20), {})), Threads(1), overrides, ShortMeasure());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->plan.Number("kv_block"), 32);

  overrides.tile = "no such tile";
  EXPECT_FALSE(
      RunCase(ToCase(CustomCase(SmallShape(20), {})), Threads(1), overrides, ShortMeasure()).ok());
}

TEST(RunCaseTest, ErrorsOfThePlanGetThrough) {
  AttentionShape shape = SmallShape(20);
  shape.kv_heads = 3;
  EXPECT_EQ(RunCase(ToCase(CustomCase(shape, {})), Threads(1), {}, ShortMeasure()).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(RunCaseTest, ThreadsOfTheCallersArenaAreNotMeasurable) {
  const Status status =
      RunCase(ToCase(CustomCase(SmallShape(20), {})), Threads(0), {}, ShortMeasure()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("threads"), std::string::npos) << status.message();
}

TEST(RunCaseTest, RunsWithEveryArray) {
  AttentionShape shape = SmallShape(20);
  shape.batch = 2;
  AttentionOptions options = AllArrays();
  options.window = {9, 3};
  options.softcap = 5.0f;
  const Result<CaseResult> result = RunCase(
      ToCase(CustomCase(shape, options, {.kv_len = {50, 31}})), Threads(2), {}, ShortMeasure());
  EXPECT_TRUE(result.ok()) << result.status().message();
}

TEST(RunCaseTest, LengthsThatDoNotFitAreErrors) {
  AttentionOptions options;
  options.kv_len = true;
  for (const std::vector<int64_t>& kv_len :
       std::vector<std::vector<int64_t>>{{}, {50, 50}, {51}, {-1}}) {
    const Status status = RunCase(ToCase(CustomCase(SmallShape(20), options, {.kv_len = kv_len})),
                                  Threads(1), {}, ShortMeasure())
                              .status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("kv_len"), std::string::npos) << status.message();
  }
}

GemmCase SmallProduct(int64_t rows) {
  GemmCase benchmark;
  benchmark.name = "small";
  benchmark.shape.rows = rows;
  benchmark.shape.columns = 21;
  benchmark.shape.depth = 10;
  return benchmark;
}

TEST(PreparedGemmTest, RunFillsTheOutput) {
  for (const bool packed : {false, true}) {
    GemmCase benchmark = SmallProduct(7);
    benchmark.options.packed_b = packed;
    benchmark.options.bias = benchmark.options.residual = true;
    const Result<std::unique_ptr<PreparedCase>> prepared =
        PreparedGemm::Make(benchmark, Threads(1), {});
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    const auto* c = static_cast<const float*>(
        static_cast<const PreparedGemm*>(prepared->get())->tensors().c.data);
    const float before = c[0];
    const Status status = (*prepared)->Run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_NE(c[0], before);
    EXPECT_DOUBLE_EQ((*prepared)->flops(), 2.0 * 7 * 21 * 10);
  }
}

TEST(PreparedGemmTest, OneRowHasBandwidths) {
  for (const bool transposed : {false, true}) {
    GemmCase benchmark = SmallProduct(1);
    benchmark.options.transpose_b = transposed;
    const Result<CaseResult> result = RunCase(ToCase(benchmark), Threads(2), {}, ShortMeasure());
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_TRUE(result->gbps.has_value());
    EXPECT_DOUBLE_EQ(*result->gbps * result->seconds * 1e9, 21.0 * 10 * 4);
    EXPECT_GT(*result->memory_gbps, 0.0);
    EXPECT_EQ(result->plan.variant, transposed ? "dots" : "rows");
  }
  EXPECT_FALSE(RunCase(ToCase(SmallProduct(7)), Threads(1), {}, ShortMeasure())->gbps.has_value());
}

TEST(PreparedGemmTest, OverridesReachThePlan) {
  Overrides overrides;
  overrides.variant = "blocks";
  overrides.depth_block = 5;
  const Result<CaseResult> result =
      RunCase(ToCase(SmallProduct(7)), Threads(1), overrides, ShortMeasure());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->plan.variant, "blocks");
  EXPECT_EQ(result->plan.Number("depth_block"), 5);
}

TEST(RunCaseTest, OverridesOfOtherKindsAreRefused) {
  Overrides overrides;
  overrides.row_block = 12;
  const Status attention =
      RunCase(ToCase(CustomCase(SmallShape(20), {})), Threads(1), overrides, ShortMeasure())
          .status();
  EXPECT_EQ(attention.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(attention.message().find("row_block: found 12"), std::string::npos)
      << attention.message();
  overrides = {};
  overrides.kv_block = 32;
  const Status product =
      RunCase(ToCase(SmallProduct(7)), Threads(1), overrides, ShortMeasure()).status();
  EXPECT_EQ(product.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(product.message().find("kv_block: found 32"), std::string::npos) << product.message();
}

TEST(RunCaseTest, ScoreFunctions) {
  AttentionShape shape = SmallShape(30);
  AttentionOptions options;
  options.score = AttentionScore::kAdditive;
  options.wq = true;
  shape.hidden = 20;
  shape.key_dim = 20;
  const AttentionCase additive = CustomCase(shape, options);
  EXPECT_EQ(additive.name, "b1_h4_kv2_q30_k50_d16_v24_kd20_additive20_wq");
  const Result<CaseResult> result = RunCase(ToCase(additive), Threads(1), {}, ShortMeasure());
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_TRUE(result->tanh_fraction);
  EXPECT_GT(*result->tanh_fraction, 0.0);
  EXPECT_EQ(CustomCase(shape, {}).name, "b1_h4_kv2_q30_k50_d16_v24_kd20_hidden20");
  options = {};
  options.score = AttentionScore::kGaussian;
  options.bandwidth = 1.5f;
  const AttentionCase gaussian = CustomCase(SmallShape(30), options);
  EXPECT_EQ(gaussian.name, "b1_h4_kv2_q30_k50_d16_v24_gaussian1.5");
  AttentionOptions wrong;
  wrong.bandwidth = 1.5f;
  wrong.scale = 0.25f;
  EXPECT_EQ(CustomCase(SmallShape(30), wrong).name,
            "b1_h4_kv2_q30_k50_d16_v24_bandwidth1.5_scale0.25");
  const Result<CaseResult> other = RunCase(ToCase(gaussian), Threads(1), {}, ShortMeasure());
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_FALSE(other->tanh_fraction);
}

}  // namespace
}  // namespace lanewise::bench
