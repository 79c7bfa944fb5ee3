// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about threads, processes and global state (group O). C110 is in
// concurrency_test.cc.

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/process.h"
#include "tests/support/process_state.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lanewise::testing {
namespace {

AttentionCase ParallelCase() {
  AttentionCase c;
  c.shape = {.batch = 2,
             .heads = 3,
             .kv_heads = 3,
             .queries = 300,
             .keys = 300,
             .dim = 64,
             .value_dim = 64};
  return c;
}

// Fewer rows than lanes, and keys enough for several threads.
AttentionCase DecodeCase() {
  AttentionCase c;
  c.shape = {.heads = 8, .kv_heads = 2, .queries = 1, .keys = 5000, .dim = 64, .value_dim = 64};
  return c;
}

Path Threads(int threads) {
  Path path;
  path.runtime.threads = threads;
  return path;
}

TEST(PublicCases, C104_ChildOfAForkComputes) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  for (const AttentionCase& c : {ParallelCase(), DecodeCase()}) {
    const PreparedCase prepared(c);
    for (const int threads : {2, 4, 0}) {
      const std::string what = c.ToString() + ", threads " + std::to_string(threads);
      const AttentionRun before = prepared.Run(Threads(threads));

      // A plan, and so its threads, made by the parent; then one made by the child.
      Result<AttentionPlan> plan = PlanAttention(c.shape, {}, Threads(threads).runtime);
      ASSERT_TRUE(plan.ok());
      Workspace workspace(plan->workspace_bytes());
      std::vector<float> out = Repeat(0, static_cast<int64_t>(before.out.size()));
      AttentionTensors tensors = prepared.inputs();
      tensors.out = Tensor(out.data(), c.out_sizes());
      ASSERT_TRUE(plan->Run(tensors, workspace).ok());
      const ChildOutcome child = RunInFork([&] {
        const bool old_plan = plan->Run(tensors, workspace).ok() && SameBits(out, before.out);
        plan = Status::OutOfMemory();  // which destroys it
        return old_plan && SameBits(prepared.Run(Threads(threads)), before);
      });
      EXPECT_TRUE(child.ok) << child.what << ", " << what;

      ASSERT_TRUE(plan->Run(tensors, workspace).ok());
      EXPECT_TRUE(SameBits(out, before.out)) << what;
      EXPECT_TRUE(SameBits(prepared.Run(Threads(threads)), before)) << what;
    }
  }
}

// Threads that have just finished take a lock on their way to sleep, and a child that is forked
// then has it locked for good. One child in 2500 waited for it when plans were destroyed in
// children.
TEST(PublicCases, C104_ChildDestroysAPlanWhoseThreadsWereBusy) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  AttentionCase c;
  c.shape = {.heads = 8, .kv_heads = 8, .queries = 64, .keys = 64, .dim = 16, .value_dim = 16};
  const PreparedCase prepared(c);
  std::vector<float> out(prepared.Run(Threads(2)).out.size());
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(out.data(), c.out_sizes());
  for (int round = 0; round < 500; ++round) {
    Result<AttentionPlan> plan = PlanAttention(c.shape, {}, Threads(2).runtime);
    ASSERT_TRUE(plan.ok());
    Workspace workspace(plan->workspace_bytes());
    ASSERT_TRUE(plan->Run(tensors, workspace).ok());
    const ChildOutcome child = RunInFork([&] {
      plan = Status::OutOfMemory();  // which destroys it
      return true;
    });
    ASSERT_TRUE(child.ok) << child.what << ", round " << round;
  }
}

// In a fresh process, where no test has used the library before.
TEST(PublicCases, C106_ProcessStateIsLeftAlone) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({}), "done");
    return;
  }
#if defined(__x86_64__)
  // What the dynamic loader may have run has not touched it either.
  EXPECT_EQ(_mm_getcsr() & ~0x3FU, 0x1F80U);
#endif
  const std::string before = ProcessState();
  const std::string before_in_thread = ProcessStateOfANewThread();
  const PreparedCase prepared(ParallelCase());
  for (const Path& path : EveryTile()) prepared.Run(path);
  (void)DefaultRuntime();
  (void)prepared.Run(Threads(0));
  EXPECT_EQ(ProcessState(), before);
  EXPECT_EQ(ProcessStateOfANewThread(), before_in_thread);
  ReportToParent("done");
}

TEST(PublicCases, C108_ThreadCountDoesNotChangeABit) {
  for (const AttentionCase& c : {ParallelCase(), DecodeCase()}) {
    const PreparedCase prepared(c);
    Path path = Threads(1);
    path.lse = true;
    const AttentionRun one = prepared.Run(path);
    EXPECT_TRUE(prepared.Agrees(one, prepared.FromReference()));
    for (const int threads : {1, 2, 3, 7}) {
      path.runtime.threads = threads;
      EXPECT_TRUE(SameBits(prepared.Run(path), one)) << "threads " << threads;
      EXPECT_TRUE(SameBits(prepared.Run(path), one)) << "threads " << threads << ", again";
    }
  }
}

// What DefaultRuntime() says in a fresh process: "3" or "2 with a note".
std::string DefaultThreads(const FreshProcess& settings) {
  const std::string report = RunTestInFreshProcess(settings);
  EXPECT_FALSE(report.empty());
  return report;
}

void ReportDefaultThreads() {
  const Runtime& runtime = DefaultRuntime();
  ReportToParent(std::to_string(runtime.threads) + (runtime.note.empty() ? "" : " with a note"));
}

TEST(PublicCases, C111_DefaultThreadsFromTheVariable) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (InFreshProcess()) return ReportDefaultThreads();
  const auto with = [](const std::string& value) {
    return DefaultThreads({.environment = {{"LANEWISE_THREADS", value}}});
  };
  EXPECT_EQ(with("3"), "3");
  EXPECT_EQ(with("1"), "1");
  const std::string unset = DefaultThreads({});
  for (const char* ignored : {"0", "abc", "-1", "2x", "1.5", "4097", "99999999999999999999"}) {
    EXPECT_EQ(with(ignored), unset + " with a note") << ignored;
  }
}

bool UseOneCpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return false;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    return sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
  }
  return false;
}

TEST(PublicCases, C111_DefaultThreadsFromTheAffinity) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (InFreshProcess()) return ReportDefaultThreads();
  EXPECT_EQ(DefaultThreads({.before_exec = UseOneCpu}), "1");
}

}  // namespace
}  // namespace lanewise::testing
