// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Inside an application's own oneTBB arenas and tasks.

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/process.h"
#include "tests/support/process_state.h"
#include "tests/support/sanitizers.h"

namespace lanewise::testing {
namespace {

// More threads than the machine may have, so that arenas really get them.
constexpr int kSchedulerThreads = 8;

tbb::global_control ManyThreads() {
  return {tbb::global_control::max_allowed_parallelism, kSchedulerThreads};
}

// Counts the threads in an arena.
class ArenaThreads : public tbb::task_scheduler_observer {
 public:
  explicit ArenaThreads(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) {
    observe(true);
  }
  ~ArenaThreads() override { observe(false); }

  void on_scheduler_entry(bool /*is_worker*/) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    most_ = std::max(most_, ++inside_);
  }
  void on_scheduler_exit(bool /*is_worker*/) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    --inside_;
  }

  // Most at the same time.
  int most() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  int inside_ = 0;
  int most_ = 0;
};

// In fresh processes, whose schedulers have started no thread yet. One arena each: the scheduler
// may start more for a second one before it has withdrawn those of the first.
TEST(ArenaTest, UsesNoMoreThreadsThanTheArenaHas) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    for (const char* width : {"1", "2", "3", "5"}) {
      for (const char* name : {"prefill", "decode"}) {
        EXPECT_EQ(RunTestInFreshProcess(
                      {.environment = {{"TEST_ARENA_WIDTH", width}, {"TEST_CASE", name}}}),
                  "done")
            << name << ", width " << width;
      }
    }
    return;
  }
  const int width = std::atoi(std::getenv("TEST_ARENA_WIDTH"));
  const bool decode = std::string(std::getenv("TEST_CASE")) == "decode";
  const PreparedCase prepared(decode ? DecodeCase() : PrefillCase());
  const AttentionRun alone = prepared.Run(OnThreads(1));
  const tbb::global_control many_threads = ManyThreads();
  tbb::task_arena arena(width);
  ArenaThreads threads(arena);
  for (int i = 0; i < 10; ++i) {
    const AttentionRun run = arena.execute([&] { return prepared.Run(OnThreads(0)); });
    EXPECT_TRUE(SameBits(run, alone));
    EXPECT_EQ(run.plan.threads, width);
  }
  EXPECT_LE(threads.most(), width);
  EXPECT_LE(ThreadCount(), width);
  ReportToParent("done");
}

TEST(ArenaTest, PlanOfOneArenaRunsInAnother) {
  const tbb::global_control many_threads = ManyThreads();
  for (const AttentionCase& c : ProcessCases()) {
    const PreparedCase prepared(c);
    const AttentionRun alone = prepared.Run(OnThreads(1));
    for (const int made : {1, 2, 4}) {
      tbb::task_arena maker(made);
      const Result<AttentionPlan> plan =
          maker.execute([&] { return PlanAttention(c.shape, c.options, OnThreads(0).runtime); });
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      Workspace workspace(plan->workspace_bytes());
      for (const int run : {1, 3, 6}) {
        tbb::task_arena runner(run);
        ArenaThreads threads(runner);
        std::vector<float> out(alone.out.size());
        AttentionTensors tensors = prepared.inputs();
        tensors.out = Tensor(out.data(), c.out_sizes());
        EXPECT_TRUE(runner.execute([&] { return plan->Run(tensors, workspace); }).ok());
        EXPECT_TRUE(SameBits(out, alone.out)) << made << " and " << run << ", " << c.ToString();
        EXPECT_LE(threads.most(), run);
      }
    }
  }
}

// A task that waits for a call inside of it must not be used for another task of the application,
// whose data for each thread would be in use twice.
TEST(ArenaTest, TasksOfTheApplicationStayApart) {
  const tbb::global_control many_threads = ManyThreads();
  static thread_local bool busy = false;
  for (const int threads : {0, 1, 2, 4}) {
    const PreparedCase prepared(PrefillCase());
    const AttentionRun alone = prepared.Run(OnThreads(1));
    std::atomic<int> interrupted = 0;
    std::atomic<int> different = 0;
    tbb::task_arena arena(4);
    arena.execute([&] {
      tbb::parallel_for(0, 24, [&](int) {
        if (busy) ++interrupted;
        busy = true;
        if (!SameBits(prepared.Run(OnThreads(threads)), alone)) ++different;
        busy = false;
      });
    });
    EXPECT_EQ(interrupted, 0) << "threads " << threads;
    EXPECT_EQ(different, 0) << "threads " << threads;
  }
}

// A plan with threads of its own does not depend on the width of the caller's arena.
TEST(ArenaTest, OwnThreadsInsideANarrowArena) {
  const tbb::global_control many_threads = ManyThreads();
  for (const AttentionCase& c : ProcessCases()) {
    const PreparedCase prepared(c);
    const AttentionRun alone = prepared.Run(OnThreads(1));
    tbb::task_arena narrow(1);
    for (const int threads : {2, 3, 8}) {
      const AttentionRun run = narrow.execute([&] { return prepared.Run(OnThreads(threads)); });
      EXPECT_TRUE(SameBits(run, alone)) << "threads " << threads << ", " << c.ToString();
    }
  }
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Arenas that end right after use stay in memory, and make the next ones slow.
TEST(ArenaTest, PlansLeaveNothingBehind) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (kAddressSanitizer) GTEST_SKIP() << "the address sanitizer keeps freed memory for a while";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({}), "done");
    return;
  }
  constexpr int kPlans = 10000;
  constexpr int64_t kBytes = int64_t{1} << 20;
  AttentionCase c;
  c.shape = {.heads = 4, .kv_heads = 4, .queries = 64, .keys = 64, .dim = 16, .value_dim = 16};
  const PreparedCase prepared(c);
  for (int i = 0; i < 100; ++i) prepared.Run(OnThreads(2));
  const int64_t before = ResidentBytes();
  for (int i = 0; i < kPlans; ++i) prepared.Run(OnThreads(2));
  const int64_t left = ResidentBytes() - before;
  ReportToParent(left < kBytes ? "done" : std::to_string(left) + " bytes left");
}

TEST(ArenaTest, PlansOfSeveralWidthsRunAtTheSameTime) {
  const tbb::global_control many_threads = ManyThreads();
  const PreparedCase prepared(PrefillCase());
  const AttentionRun alone = prepared.Run(OnThreads(1));
  constexpr int kCallers = 6;
  std::atomic<int> different = 0;
  std::vector<std::thread> callers;
  callers.reserve(kCallers);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 20; ++i) {
        if (!SameBits(prepared.Run(OnThreads(2 + (caller + i) % 3)), alone)) ++different;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace lanewise::testing
