// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about threads, processes and global state (group O). C110 is in
// concurrency_test.cc.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include <cfenv>
#include <clocale>
#include <sstream>
#include <string>
#include <thread>

#include "tests/support/attention_case.h"
#include "tests/support/process.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern char** environ;

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

Path Threads(int threads) {
  Path path;
  path.runtime.threads = threads;
  return path;
}

TEST(PublicCases, C104_ChildOfAForkComputes) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  const PreparedCase prepared(ParallelCase());
  for (const int threads : {2, 0}) {
    const AttentionRun before = prepared.Run(Threads(threads));

    // A plan, and so its threads, made by the parent; then one made by the child.
    const Result<AttentionPlan> plan =
        PlanAttention(prepared.description().shape, {}, Threads(threads).runtime);
    ASSERT_TRUE(plan.ok());
    Workspace workspace(plan->workspace_bytes());
    std::vector<float> out = Repeat(0, static_cast<int64_t>(before.out.size()));
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), prepared.description().out_sizes());
    const ChildOutcome child = RunInFork([&] {
      const bool old_plan = plan->Run(tensors, workspace).ok() && SameBits(out, before.out);
      return old_plan && SameBits(prepared.Run(Threads(threads)), before);
    });
    EXPECT_TRUE(child.ok) << child.what << ", threads " << threads;

    ASSERT_TRUE(plan->Run(tensors, workspace).ok());
    EXPECT_TRUE(SameBits(out, before.out));
    EXPECT_TRUE(SameBits(prepared.Run(Threads(threads)), before));
  }
}

// Everything that a library might change behind the back of its process, as text.
std::string ProcessState() {
  std::ostringstream state;
  state << "rounding " << std::fegetround();
#if defined(__x86_64__)
  std::fenv_t environment;
  std::fegetenv(&environment);
  constexpr unsigned kStickyFlags = 0x3F;
  state << ", x87 control " << environment.__control_word << ", mxcsr "
        << (_mm_getcsr() & ~kStickyFlags);
#endif
  // Flush-to-zero on any architecture.
  volatile double smallest = 5e-324;
  state << ", subnormals " << (smallest != 0.0 && smallest / 2 == 0.0);

  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  state << ", affinity";
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) state << " " << cpu;
  }
  state << ", signals";
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    struct sigaction action = {};
    if (sigaction(signal_number, nullptr, &action) != 0) continue;
    state << " " << reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(action.sa_handler));
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  state << ", blocked";
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    state << sigismember(&blocked, signal_number);
  }
  state << ", locale " << std::setlocale(LC_ALL, nullptr) << ", environment";
  for (char** entry = environ; *entry != nullptr; ++entry) state << " " << *entry;
  return state.str();
}

std::string ProcessStateOfANewThread() {
  std::string state;
  std::thread([&] { state = ProcessState(); }).join();
  return state;
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
  AttentionCase decode;
  decode.shape = {.queries = 1, .keys = 5000, .dim = 64, .value_dim = 64};
  for (const AttentionCase& c : {ParallelCase(), decode}) {
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
  for (const char* ignored : {"0", "abc", "-1", "2x", "1.5", "99999999999999999999"}) {
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
