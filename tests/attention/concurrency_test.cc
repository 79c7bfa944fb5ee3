// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Several threads in the library at once. The suites that start with "Concurrency" are what the
// thread sanitizer runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/concurrency.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

// Two lane groups or more, a partial key block, and work for several threads; small enough for a
// thousand runs under a race detector.
AttentionCase SmallCase(uint32_t seed) {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 70, .keys = 40, .dim = 9, .value_dim = 7};
  c.options.causal = true;
  c.q = Gen(seed, Count(c.q_sizes()));
  c.k = Gen(seed + 100, Count(c.k_sizes()));
  c.v = Gen(seed + 200, Count(c.v_sizes()));
  c.SetMask({1, 2, 70, 40}, RandomMask(seed, 2 * 70 * 40, 70));
  c.SetBias({1, 1, 1, 40}, Gen(seed + 300, 40));
  return c;
}

// Fewer rows than lanes, and keys for several threads.
AttentionCase SmallDecodeCase(uint32_t seed) {
  AttentionCase c;
  c.shape = {.heads = 6, .kv_heads = 2, .queries = 1, .keys = 700, .dim = 9, .value_dim = 7};
  c.q = Gen(seed, Count(c.q_sizes()));
  c.k = Gen(seed + 100, Count(c.k_sizes()));
  c.v = Gen(seed + 200, Count(c.v_sizes()));
  return c;
}

using MakeCase = AttentionCase (*)(uint32_t seed);

Runtime WithThreads(int threads) {
  Runtime runtime = DefaultRuntime();
  runtime.threads = threads;
  return runtime;
}

// One user of a shared plan: own data, own workspace, own output.
class User {
 public:
  User(const AttentionPlan& plan, const AttentionCase& description)
      : prepared_(description),
        workspace_(plan.workspace_bytes()),
        out_(Repeat(0, Count(prepared_.description().out_sizes()))),
        tensors_(prepared_.inputs()) {
    tensors_.out = Tensor(out_.data(), prepared_.description().out_sizes());
    Path path;
    path.overrides.kv_block = plan.Explain().kv_block;
    expected_ = prepared_.Run(path);
    EXPECT_TRUE(prepared_.Agrees(expected_, prepared_.FromReference()));
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  // Runs that failed or gave other bits than a run alone.
  int Failures(const AttentionPlan& plan, int runs) {
    int failures = 0;
    for (int i = 0; i < runs; ++i) {
      std::fill(out_.begin(), out_.end(), 0.0F);
      if (!plan.Run(tensors_, workspace_).ok() || !SameBits(out_, expected_.out)) ++failures;
    }
    return failures;
  }

 private:
  PreparedCase prepared_;
  Workspace workspace_;
  std::vector<float> out_;
  AttentionTensors tensors_;
  AttentionRun expected_;
};

TEST(ConcurrencyAttention, ManyThreadsRunOnePlan) {
  constexpr int kUsers = 4;
  constexpr int kRuns = 50;
  for (const MakeCase make_case : {SmallCase, SmallDecodeCase}) {
    const AttentionCase first = make_case(1);
    for (const int threads : PlanThreads()) {
      const Result<AttentionPlan> plan =
          PlanAttention(first.shape, first.options, WithThreads(threads));
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      std::vector<std::unique_ptr<User>> users;
      for (uint32_t i = 0; i < kUsers; ++i) {
        users.push_back(std::make_unique<User>(*plan, make_case(10 + i)));
      }
      std::atomic<int> failures = 0;
      std::vector<std::thread> workers;
      for (const auto& user : users) {
        workers.emplace_back([&] { failures += user->Failures(*plan, kRuns); });
      }
      for (std::thread& worker : workers) worker.join();
      EXPECT_EQ(failures, 0) << "threads " << threads << ", " << first.ToString();
    }
  }
}

// Made on thread A, run on B and C at the same time, destroyed on D.
TEST(ConcurrencyPublicCases, C110_PlanWandersBetweenThreads) {
  for (const int threads : PlanThreads()) {
    std::unique_ptr<AttentionPlan> plan;
    std::thread([&] {
      Result<AttentionPlan> made =
          PlanAttention(SmallCase(1).shape, SmallCase(1).options, WithThreads(threads));
      if (made.ok()) plan = std::make_unique<AttentionPlan>(*made);
    }).join();
    ASSERT_NE(plan, nullptr);

    User first(*plan, SmallCase(21));
    User second(*plan, SmallCase(22));
    std::atomic<int> failures = 0;
    std::thread b([&] { failures += first.Failures(*plan, 1000); });
    std::thread c([&] { failures += second.Failures(*plan, 1000); });
    b.join();
    c.join();
    EXPECT_EQ(failures, 0) << "threads " << threads;
    std::thread([&] { plan.reset(); }).join();
  }
}

TEST(ConcurrencyAttention, PlanningEverywhereAtOnce) {
  constexpr int kWorkers = 8;
  constexpr int kPlans = 25;
  std::atomic<int> failures = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&failures, worker] {
      const std::vector<std::string> targets = AvailableTargets();
      for (int i = 0; i < kPlans; ++i) {
        Runtime runtime = DefaultRuntime();
        runtime.target = targets[static_cast<size_t>(worker + i) % targets.size()];
        runtime.threads = 1 + i % 3;
        const Result<AttentionPlan> plan =
            PlanAttention(SmallCase(1).shape, SmallCase(1).options, runtime);
        if (!plan.ok() || plan->Explain().target != runtime.target) ++failures;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(failures, 0);
}

TEST(ConcurrencyAttention, OneCallFormEverywhereAtOnce) {
  constexpr uint32_t kWorkers = 4;
  constexpr int kCalls = 20;
  const PreparedCase prepared(SmallCase(31));
  const Runtime runtime = WithThreads(PlanThreads().back());
  Path path;
  path.runtime = runtime;
  const AttentionRun expected = prepared.Run(path);
  std::atomic<int> failures = 0;
  std::vector<std::thread> workers;
  for (uint32_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&] {
      std::vector<float> out(expected.out.size());
      AttentionTensors tensors = prepared.inputs();
      tensors.out = Tensor(out.data(), prepared.description().out_sizes());
      for (int i = 0; i < kCalls; ++i) {
        std::fill(out.begin(), out.end(), 0.0F);
        const Status status = Attention(tensors, prepared.description().options, runtime);
        if (!status.ok() || !SameBits(out, expected.out)) ++failures;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace lanewise::testing
