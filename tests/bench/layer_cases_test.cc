// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Layers and row softmax as cases: the lines of their tables, what they compute and count.

#include "bench/layer_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/run_case.h"
#include "bench/softmax_cases.h"
#include "tests/support/mentions.h"

namespace lanewise::bench {
namespace {

const Runtime kOneThread = {.threads = 1, .target = "", .note = ""};

LayerCase SmallLayer() {
  LayerCase benchmark;
  benchmark.name = "small";
  benchmark.shape.d_model = 24;
  benchmark.shape.heads = 3;
  benchmark.call.batch = 2;
  benchmark.call.queries = 20;
  return benchmark;
}

TEST(LayerCasesTest, LinesOfTheTable) {
  const std::vector<LayerCase> cases = LayerCases();
  ASSERT_EQ(cases.size(), 8U);
  EXPECT_EQ(cases[0].shape.d_model, 512);
  EXPECT_EQ(cases[0].shape.heads, 8);
  EXPECT_EQ(cases[0].call.queries, 512);
  EXPECT_EQ(cases[1].shape.d_model, 384);
  EXPECT_EQ(cases[1].shape.heads, 12);
  EXPECT_EQ(cases[1].call.batch, 8);
  EXPECT_EQ(cases[1].call.queries, 128);
  for (size_t i = 2; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].name, "heads_" + std::to_string(cases[i].shape.heads));
    EXPECT_EQ(cases[i].shape.heads, int64_t{1} << (i - 2));
    EXPECT_EQ(cases[i].shape.d_model, 512);
    EXPECT_EQ(cases[i].call.queries, 1024);
  }
}

TEST(PreparedLayerTest, RunsAndCounts) {
  const auto made = PreparedLayer::Make(SmallLayer(), kOneThread, {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  // Four products of 40 x 24 x 24, and 2 x 3 heads of 20 x 20 pairs of dim 8.
  EXPECT_EQ((*made)->flops(), 4 * 2.0 * 40 * 24 * 24 + 2.0 * 2 * 3 * 20 * 20 * (8 + 8));
  ASSERT_TRUE((*made)->Run().ok());
  const auto& prepared = static_cast<const PreparedLayer&>(**made);
  const auto* out = static_cast<const float*>(prepared.tensors().out.data);
  for (size_t i = 0; i < 2 * 20 * 24; ++i) ASSERT_TRUE(std::isfinite(out[i])) << i;
  EXPECT_FALSE((*made)->bytes().has_value());
  EXPECT_EQ((*made)->Explain().variant, "lanes");
}

TEST(PreparedLayerTest, RefusesOverrides) {
  Overrides overrides;
  overrides.tile = "8x1v";
  EXPECT_THAT(PreparedLayer::Make(SmallLayer(), kOneThread, overrides).status(),
              testing::IsInvalid({"tile", "8x1v", "none", "layer"}));
  overrides = {};
  overrides.kv_block = 32;
  EXPECT_THAT(PreparedSoftmax::Make({"", 2, 3}, kOneThread, overrides).status(),
              testing::IsInvalid({"kv_block", "32", "none", "softmax"}));
}

TEST(PreparedSoftmaxTest, RunsInPlaceAndIsComparedWithMemcpy) {
  const SoftmaxCase benchmark = {"small", 5, 40};
  const auto made = PreparedSoftmax::Make(benchmark, kOneThread, {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_TRUE((*made)->Run().ok());
  const auto& prepared = static_cast<const PreparedSoftmax&>(**made);
  const auto* rows = static_cast<const float*>(prepared.rows().data);
  for (size_t row = 0; row < 5; ++row) {
    double sum = 0;
    for (size_t j = 0; j < 40; ++j) sum += double{rows[row * 40 + j]};
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_EQ((*made)->bytes(), 5 * 40 * 4.0);
  EXPECT_EQ((*made)->Explain().variant, "resident");

  tune::MeasureOptions measure;
  measure.seconds = 0.01;
  measure.sample_seconds = 1e-4;
  const Result<CaseResult> result = RunCase(ToCase(benchmark), kOneThread, {}, measure);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->memory_work, MemoryWork::kCopy);
  EXPECT_GT(result->gbps.value(), 0);
  EXPECT_GT(result->memory_gbps.value(), 0);
  EXPECT_EQ(SoftmaxCases().at(0).name, "softmax_rows");
}

}  // namespace
}  // namespace lanewise::bench
