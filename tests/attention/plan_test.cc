// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a plan says about itself, and how plans and workspaces may be handled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/attention_case.h"
#include "tests/support/sanitizers.h"

namespace lanewise::testing {
namespace {

AttentionShape SquareShape(int64_t length) {
  return {.heads = 2, .kv_heads = 2, .queries = length, .keys = length, .dim = 32, .value_dim = 32};
}

size_t WorkspaceBytes(const AttentionShape& shape, int threads) {
  Runtime runtime;
  runtime.threads = threads;
  const Result<AttentionPlan> plan = PlanAttention(shape, {}, runtime);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? plan->workspace_bytes() : 0;
}

std::string SourceOf(const PlanExplanation& plan, const std::string& parameter) {
  for (const ParameterSource& source : plan.sources) {
    if (source.parameter == parameter) return source.source;
  }
  return "absent";
}

TEST(AttentionPlan, ExplainsItsDefaults) {
  Runtime runtime;
  runtime.threads = 2;
  const Result<AttentionPlan> plan = PlanAttention(SquareShape(200), {}, runtime);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const PlanExplanation explanation = plan->Explain();
  EXPECT_EQ(explanation.variant, "lanes");
  EXPECT_EQ(explanation.target, AvailableTargets().front());
  EXPECT_EQ(explanation.threads, 2);
  EXPECT_EQ(explanation.workspace_bytes, static_cast<int64_t>(plan->workspace_bytes()));
  EXPECT_GE(explanation.q_groups, 1);
  EXPECT_GE(explanation.grain, 1);
  bool tile_exists = false;
  for (const kernels::LanesKernel& tile : TilesOf(explanation.target)) {
    tile_exists |= tile.tile == explanation.tile;
  }
  EXPECT_TRUE(tile_exists) << explanation.tile;
  for (const char* parameter : {"tile", "kv_block", "q_groups", "grain", "target"}) {
    EXPECT_EQ(SourceOf(explanation, parameter), "default") << parameter;
  }
  runtime.threads = DefaultRuntime().threads;
  runtime.target = AvailableTargets().front();
  const PlanExplanation forced = PlanAttention(SquareShape(200), {}, runtime)->Explain();
  EXPECT_EQ(SourceOf(forced, "target"), "override");
  EXPECT_EQ(SourceOf(forced, "threads"), "default");
  ++runtime.threads;
  const PlanExplanation wider = PlanAttention(SquareShape(200), {}, runtime)->Explain();
  EXPECT_EQ(SourceOf(wider, "threads"), "override");
  EXPECT_THAT(explanation.ToString(),
              ::testing::AllOf(::testing::HasSubstr(explanation.tile),
                               ::testing::HasSubstr(explanation.target),
                               ::testing::HasSubstr(std::to_string(explanation.kv_block))));
}

TEST(AttentionPlan, ExplainsOverrides) {
  for (const std::string& target : AvailableTargets()) {
    for (const kernels::LanesKernel& tile : TilesOf(target)) {
      Path path = TilePath(target, tile);
      path.overrides.kv_block = 96;
      path.overrides.q_groups = 2;
      path.overrides.grain = 3;
      const Result<AttentionPlan> plan =
          attention::PlanAttentionWith(SquareShape(500), {}, path.runtime, path.overrides);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const PlanExplanation explanation = plan->Explain();
      EXPECT_EQ(explanation.tile, tile.tile);
      EXPECT_EQ(explanation.kv_block, 96);
      EXPECT_EQ(explanation.q_groups, 2);
      EXPECT_EQ(explanation.grain, 3);
      for (const char* parameter : {"tile", "kv_block", "q_groups", "grain"}) {
        EXPECT_EQ(SourceOf(explanation, parameter), "override") << parameter;
      }
    }
  }
}

TEST(AttentionPlan, WorkspaceDoesNotGrowWithTheLength) {
  for (const int threads : {1, 2}) {
    const size_t large = WorkspaceBytes(SquareShape(10000), threads);
    EXPECT_EQ(WorkspaceBytes(SquareShape(1000000), threads), large);
    EXPECT_LT(large, size_t{8} << 20);
    AttentionShape batch = SquareShape(10000);
    batch.batch = 64;
    EXPECT_LE(WorkspaceBytes(batch, threads), large + 64 * 32);  // a few numbers an item
  }
}

TEST(AttentionPlan, PlanningAllocatesNoMemoryForTheArrays) {
  // Far more elements than memory.
  AttentionShape shape = SquareShape(int64_t{1} << 40);
  shape.dim = shape.value_dim = 16;
  const Result<AttentionPlan> plan = PlanAttention(shape);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
}

TEST(AttentionPlan, CopiesOutliveTheOriginalAndReuseOneWorkspace) {
  AttentionCase c;
  c.shape = SquareShape(50);
  const PreparedCase prepared(c);
  const AttentionRun expected = prepared.Run(Path());

  Runtime runtime;
  runtime.threads = 1;
  auto original = std::make_unique<Result<AttentionPlan>>(PlanAttention(c.shape, {}, runtime));
  ASSERT_TRUE(original->ok());
  const AttentionPlan copy = **original;
  original.reset();

  Workspace workspace(copy.workspace_bytes() + 1000);
  Workspace moved = std::move(workspace);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.data()) % 128, 0U);
  for (int i = 0; i < 3; ++i) {
    std::vector<float> out = Repeat(0, Count(c.out_sizes()));
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), c.out_sizes());
    const Status status = copy.Run(tensors, moved);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(SameBits(out, expected.out)) << "run " << i;
  }
}

// What a workspace held before has no influence.
TEST(AttentionPlan, WorkspaceContentIsIrrelevant) {
  AttentionCase c;
  c.shape = SquareShape(70);
  c.options.causal = true;
  const PreparedCase prepared(c);
  for (const Path& path : EveryTile()) {
    const AttentionRun expected = prepared.Run(path);
    const Result<AttentionPlan> plan =
        attention::PlanAttentionWith(c.shape, c.options, path.runtime, path.overrides);
    ASSERT_TRUE(plan.ok());
    Workspace workspace(plan->workspace_bytes());
    std::vector<float> out = Repeat(0, Count(c.out_sizes()));
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), c.out_sizes());
    for (const int byte : {0, 0x7F, 0xFF}) {
      std::memset(workspace.data(), byte, workspace.size_bytes());
      ASSERT_TRUE(plan->Run(tensors, workspace).ok());
      EXPECT_TRUE(SameBits(out, expected.out)) << "byte " << byte << ", " << path.ToString();
    }
  }
}

TEST(AttentionPlan, WorkspaceThatMemoryCannotHoldIsEmpty) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "sanitizers end the process instead";
  const Workspace impossible(SIZE_MAX / 2);
  EXPECT_EQ(impossible.size_bytes(), 0U);
}

}  // namespace
}  // namespace lanewise::testing
