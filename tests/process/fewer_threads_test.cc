// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Processes that get fewer threads than plans ask for: results are right, nothing is printed, and
// nobody ends. Each in a fresh process: how many threads can be had is found out once.

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/cases.h"
#include "tests/process/cgroup.h"
#include "tests/process/thread_limit.h"
#include "tests/support/attention_case.h"
#include "tests/support/process.h"
#include "tests/support/process_state.h"

namespace lanewise::testing {
namespace {

// More than the machine may have, so that the scheduler asks for them.
constexpr int kSchedulerThreads = 8;

// Runs every case with more and more threads, twice, and expects the bits of one thread.
void ExpectRightResults(const std::string& what) {
  ::testing::internal::CaptureStderr();
  for (const AttentionCase& c : ProcessCases()) {
    const PreparedCase prepared(c);
    const AttentionRun alone = prepared.Run(OnThreads(1));
    EXPECT_TRUE(prepared.Agrees(alone, prepared.FromReference()));
    for (const int threads : {0, 2, 4, 8, 100, 0, 2, 8}) {
      EXPECT_TRUE(SameBits(prepared.Run(OnThreads(threads)), alone))
          << what << ", threads " << threads << ", " << c.ToString();
    }
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << what;
}

TEST(FewerThreadsTest, SchedulerThatMayUseOne) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({}), "1 thread");
    return;
  }
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  ExpectRightResults("one thread");
  ReportToParent(std::to_string(ThreadCount()) + " thread");
}

// The number of threads comes from the parent, in a variable.
constexpr char kLimitVariable[] = "TEST_THREAD_LIMIT";
int LimitFromParent() { return std::atoi(std::getenv(kLimitVariable)); }

TEST(FewerThreadsTest, ThreadsCannotBeStarted) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    for (const char* limit : {"0", "1", "2", "3", "4", "6"}) {
      EXPECT_EQ(RunTestInFreshProcess({.environment = {{kLimitVariable, limit}}}), "done")
          << "limit " << limit;
    }
    return;
  }
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, kSchedulerThreads);
  const int limit = LimitFromParent();
  LimitThreads(limit);
  ExpectRightResults("limit " + std::to_string(limit));
  EXPECT_GT(RefusedThreads(), 0);
  // The application's own threads still find room.
  EXPECT_LE(ThreadCount(), 1 + (limit + 1) / 2);
  LimitThreads(100);
  ExpectRightResults("limit gone");
  ReportToParent("done");
}

// All limits let in some of the threads that are started at the same time by several callers.
TEST(FewerThreadsTest, ThreadsCannotBeStartedByAnyOfManyCallers) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    for (const char* limit : {"0", "1", "3", "5"}) {
      EXPECT_EQ(RunTestInFreshProcess({.environment = {{kLimitVariable, limit}}}), "done")
          << "limit " << limit;
    }
    return;
  }
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, kSchedulerThreads);
  const PreparedCase prepared(PrefillCase());
  const AttentionRun alone = prepared.Run(OnThreads(1));
  std::atomic<bool> go = false;
  std::atomic<int> different = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      while (!go) std::this_thread::yield();
      for (int i = 0; i < 10; ++i) {
        const int threads = std::vector<int>{2, 4, 8, 0}[static_cast<size_t>(caller + i) % 4];
        if (!SameBits(prepared.Run(OnThreads(threads)), alone)) ++different;
      }
    });
  }
  LimitThreads(LimitFromParent());
  go = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(different, 0);
  ReportToParent("done");
}

bool CanStartAThread() {
  pthread_t thread;
  const auto nothing = [](void*) -> void* { return nullptr; };
  if (pthread_create(&thread, nullptr, nothing, nullptr) != 0) return false;
  pthread_join(thread, nullptr);
  return true;
}

// A container's limit on tasks.
TEST(FewerThreadsTest, ControlGroupWithALimitOnTasks) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    for (const int tasks : {1, 2, 4, 6}) {
      Cgroup group("pids");
      if (!group.ok()) GTEST_SKIP() << group.why_not();
      if (!group.LimitTasks(tasks)) GTEST_SKIP() << "the limit of a control group cannot be set";
      EXPECT_EQ(RunTestInFreshProcess({.environment = {{kLimitVariable, std::to_string(tasks)}},
                                       .before_exec = Cgroup::Enter}),
                "done")
          << tasks << " tasks";
    }
    return;
  }
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, kSchedulerThreads);
  EXPECT_EQ(CanStartAThread(), LimitFromParent() > 1);
  ExpectRightResults("control group");
  EXPECT_LE(ThreadCount(), LimitFromParent());
  ReportToParent("done");
}

// The limit on processes and threads of a user. It does not bind root, who becomes somebody else.
TEST(FewerThreadsTest, UserWithALimitOnThreads) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    const std::string report = RunTestInFreshProcess({});
    if (report.starts_with("skip: ")) GTEST_SKIP() << report.substr(6);
    EXPECT_EQ(report, "done");
    return;
  }
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) {
    return ReportToParent("skip: root cannot become another user here");
  }
  prctl(PR_SET_DUMPABLE, 1);  // or /proc/self would be root's
  const rlimit limit = {1, 1};
  if (setrlimit(RLIMIT_NPROC, &limit) != 0 || CanStartAThread()) {
    return ReportToParent("skip: the limit on a user's threads does not bind here");
  }
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, kSchedulerThreads);
  ExpectRightResults("user limit");
  EXPECT_EQ(ThreadCount(), 1);
  ReportToParent("done");
}

// Public report C111: a container's limit on CPU time.
TEST(FewerThreadsTest, C111_DefaultThreadsObeyTheQuotaOfAControlGroup) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (InFreshProcess()) return ReportToParent(std::to_string(DefaultRuntime().threads));
  Cgroup group("cpu");
  if (!group.ok()) GTEST_SKIP() << group.why_not();
  const std::string unlimited = RunTestInFreshProcess({.before_exec = Cgroup::Enter});
  const int available = std::atoi(unlimited.c_str());
  if (available < 2) GTEST_SKIP() << "there is one CPU without a quota of its own, too";
  for (const double cpus : {1.0, 1.5, 1.99, 0.5, available - 0.01, available + 3.0}) {
    if (!group.LimitCpus(cpus)) GTEST_SKIP() << "the quota of a control group cannot be set";
    const int expected = std::clamp(static_cast<int>(cpus), 1, available);
    EXPECT_EQ(RunTestInFreshProcess({.before_exec = Cgroup::Enter}), std::to_string(expected))
        << cpus << " CPUs of " << available;
  }
}

}  // namespace
}  // namespace lanewise::testing
