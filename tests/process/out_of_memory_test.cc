// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every allocation of every public function may fail: the function says so, and throws nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/gemm.h"
#include "lanewise/kv_cache.h"
#include "lanewise/layers.h"
#include "lanewise/softmax.h"
#include "tests/process/cases.h"
#include "tests/process/failing_allocations.h"
#include "tests/support/process.h"

namespace lanewise::testing {
namespace {

// Calls with the first allocation failing, the second, ... until none does. Returns how many did.
int FailOneByOne(const std::string& what, const std::function<Status()>& call) {
  for (int index = 0;; ++index) {
    Status status;
    bool failed = false;
    {
      const FailingAllocations failing(index);
      status = call();
      failed = failing.failed();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << what << ": " << status.message();
      return index;
    }
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kOutOfMemory)
        << what << ", allocation " << index << ": " << status.message();
  }
}

// In a fresh process, which has not read the environment yet.
TEST(OutOfMemory, DefaultRuntime) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({.environment = {{"LANEWISE_THREADS", "3"}}}), "1, then 3");
    return;
  }
  int threads_then = 0;
  const int failures = FailOneByOne("DefaultRuntime", [&] {
    const int threads = DefaultRuntime().threads;
    if (threads_then == 0) threads_then = threads;
    return Status();
  });
  EXPECT_GT(failures, 0);
  ReportToParent(std::to_string(threads_then) + ", then " +
                 std::to_string(DefaultRuntime().threads));
}

// A run on one thread needs nothing, with any score, variant and type.
TEST(OutOfMemory, RunsAllocateNothing) {
  AttentionCase additive = PrefillCase();
  additive.SetAdditive(additive.shape.dim, false, false);
  AttentionCase typed = PrefillCase();
  typed.SetTypes(DataType::kBF16);
  typed.SetMask({1, 1, 200, 200}, std::vector<uint8_t>(200 * 200, 1));
  for (const AttentionCase& c : {PrefillCase(), DecodeCase(), additive, typed}) {
    const PreparedCase prepared(c);
    const Result<AttentionPlan> plan = PlanAttention(c.shape, c.options, OnThreads(1).runtime);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Workspace workspace(plan->workspace_bytes());
    std::vector<float> out(static_cast<size_t>(Count(c.out_sizes())));
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), c.shape.out_type, c.out_sizes());
    EXPECT_EQ(FailOneByOne("Run", [&] { return plan->Run(tensors, workspace); }), 0)
        << c.ToString();
  }
}

TEST(OutOfMemory, OneCallForms) {
  constexpr int64_t kRows = 20;
  constexpr int64_t kDim = 24;
  const Sizes sizes = {1, 2, kRows, kDim};
  const std::vector<float> in(2 * kRows * kDim, 0.5F);
  std::vector<float> out(in.size());
  const ConstTensor array(in.data(), sizes);
  const Tensor result(out.data(), sizes);
  Runtime runtime;
  runtime.threads = 1;
  EXPECT_GT(FailOneByOne("Attention",
                         [&] { return Attention(array, array, array, result, {}, runtime); }),
            0);

  const Sizes square = {1, 1, kDim, kDim};
  GemmTensors product = {ConstTensor(in.data(), square), ConstTensor(in.data(), square),
                         Tensor(out.data(), square)};
  EXPECT_GT(FailOneByOne("Gemm", [&] { return Gemm(product, {}, runtime); }), 0);
  for (const DataType type : {DataType::kF32, DataType::kF16}) {
    EXPECT_GT(FailOneByOne("PackB",
                           [&, type] {
                             return PackB({in.data(), type, square}, false, runtime).status();
                           }),
              0);
  }
  FailOneByOne("Softmax", [&] { return Softmax(array, result, {}, runtime); });

  MultiHeadShape shape;
  shape.d_model = kDim;
  shape.heads = 2;
  MultiHeadWeights weights;
  weights.q = weights.k = weights.v = weights.out = ConstTensor(in.data(), square);
  EXPECT_GT(FailOneByOne("MakeMultiHeadAttention",
                         [&] { return MakeMultiHeadAttention(shape, weights, runtime).status(); }),
            0);
  const Result<MultiHeadAttention> layer = MakeMultiHeadAttention(shape, weights, runtime);
  ASSERT_TRUE(layer.ok());
  MultiHeadCall call;
  call.queries = kRows;
  EXPECT_GT(FailOneByOne("MultiHeadAttention::Plan", [&] { return layer->Plan(call).status(); }),
            0);
}

// Wrong arguments, whose messages allocate.
TEST(OutOfMemory, Messages) {
  Runtime runtime;
  runtime.threads = -1;
  KvCache cache;
  cache.batch = -1;
  for (int index = 0; index < 4; ++index) {
    bool any_ok = false;
    {
      const FailingAllocations failing(index);
      any_ok = PlanAttention({}, {}, runtime).ok() || PlanGemm({}, {}, runtime).ok() ||
               AppendKv(cache, {}, {}).ok();
    }
    EXPECT_FALSE(any_ok) << index;
  }
}

}  // namespace
}  // namespace lanewise::testing
