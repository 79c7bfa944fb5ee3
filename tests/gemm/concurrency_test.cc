// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One plan and one packed matrix in several threads at once, each with a workspace of its own.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanewise/gemm.h"
#include "tests/support/concurrency.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

TEST(ConcurrencyGemmTest, SharedPlanAndPackedMatrix) {
  constexpr int64_t kRows = 40;
  constexpr int64_t kColumns = 70;
  constexpr int64_t kDepth = 30;
  constexpr size_t kCallers = 3;
  constexpr int kRounds = 5;
  const std::vector<float> a = Gen(1, kRows * kDepth);
  const std::vector<float> b = Gen(2, kDepth * kColumns);
  GemmShape shape;
  shape.rows = kRows;
  shape.columns = kColumns;
  shape.depth = kDepth;
  GemmOptions options;
  options.packed_b = true;
  for (const int threads : PlanThreads()) {
    Runtime runtime;
    runtime.threads = threads;
    const Result<PackedMatrix> packed =
        PackB(ConstTensor(b.data(), Sizes{1, 1, kDepth, kColumns}), false, runtime);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    const Result<GemmPlan> plan = PlanGemm(shape, options, runtime);
    ASSERT_TRUE(plan.ok()) << plan.status().message();

    const auto multiply = [&] {
      std::vector<float> c(kRows * kColumns, -1);
      Workspace workspace(plan->workspace_bytes());
      GemmTensors tensors;
      tensors.a = ConstTensor(a.data(), Sizes{1, 1, kRows, kDepth});
      tensors.c = Tensor(c.data(), Sizes{1, 1, kRows, kColumns});
      tensors.packed_b = &*packed;
      if (!plan->Run(tensors, workspace).ok()) c.clear();
      return c;
    };
    const std::vector<float> alone = multiply();
    ASSERT_FALSE(alone.empty());
    const auto run = [&](size_t /*caller*/) { return multiply() == alone; };
    EXPECT_EQ(FailuresAtOnce(kCallers, kRounds, run), 0) << "threads " << threads;
  }
}

}  // namespace
}  // namespace lanewise::testing
