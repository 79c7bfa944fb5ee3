// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One plan and one packed matrix in several threads at once, each with a workspace of its own.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lanewise/gemm.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

TEST(ConcurrencyGemmTest, SharedPlanAndPackedMatrix) {
  constexpr int64_t kRows = 40;
  constexpr int64_t kColumns = 70;
  constexpr int64_t kDepth = 30;
  constexpr int kCallers = 3;
  const std::vector<float> a = Gen(1, kRows * kDepth);
  const std::vector<float> b = Gen(2, kDepth * kColumns);
  GemmShape shape;
  shape.rows = kRows;
  shape.columns = kColumns;
  shape.depth = kDepth;
  GemmOptions options;
  options.packed_b = true;
  Runtime runtime;
  runtime.threads = 2;
  const Result<PackedMatrix> packed =
      PackB(ConstTensor(b.data(), Sizes{1, 1, kDepth, kColumns}), false, runtime);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  const Result<GemmPlan> plan = PlanGemm(shape, options, runtime);
  ASSERT_TRUE(plan.ok()) << plan.status().message();

  std::vector<std::vector<float>> results(kCallers, std::vector<float>(kRows * kColumns, -1));
  std::vector<StatusCode> codes(kCallers, StatusCode::kOutOfMemory);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      Workspace workspace(plan->workspace_bytes());
      GemmTensors tensors;
      tensors.a = ConstTensor(a.data(), Sizes{1, 1, kRows, kDepth});
      tensors.c = Tensor(results[i].data(), Sizes{1, 1, kRows, kColumns});
      tensors.packed_b = &*packed;
      for (int call = 0; call < 5; ++call) codes[i] = plan->Run(tensors, workspace).code();
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (size_t i = 0; i < kCallers; ++i) {
    EXPECT_EQ(codes[i], StatusCode::kOk);
    EXPECT_EQ(results[i], results[0]) << i;
  }
  EXPECT_NE(results[0][0], -1);
}

}  // namespace
}  // namespace lanewise::testing
