// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Inside an application's OpenMP regions.

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/process/cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/process.h"
#include "tests/support/process_state.h"
#include "tests/support/sanitizers.h"

namespace lanewise::testing {
namespace {

#if defined(_OPENMP)

constexpr int kRegionThreads = 4;

// More than the machine may have, so that a plan can have its threads.
constexpr int kSchedulerThreads = 4;

// oneTBB may start a thread where one that is about to sleep would have done. There would be many
// more if each thread of a region had its own.
constexpr int kSpareThreads = 2;

tbb::global_control SchedulerThreads() {
  return {tbb::global_control::max_allowed_parallelism, kSchedulerThreads};
}

class OpenMpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not know OpenMP";
  }
};

std::string Settings() {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  std::string text;
  for (const int setting :
       {omp_get_max_threads(), omp_get_num_threads(), omp_get_thread_num(), omp_get_num_procs(),
        omp_get_dynamic(), omp_get_max_active_levels(), omp_get_level(), omp_get_thread_limit(),
        static_cast<int>(kind), chunk, static_cast<int>(omp_get_proc_bind()), omp_in_parallel()}) {
    text += std::to_string(setting) + " ";
  }
  return text;
}

// One thread of a region: a shared plan, everything else its own.
int Differences(const PreparedCase& prepared, const AttentionPlan& plan,
                const std::vector<float>& expected) {
  Workspace workspace(plan.workspace_bytes());
  std::vector<float> out(expected.size());
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(out.data(), prepared.description().out_sizes());
  int differences = 0;
  for (int i = 0; i < 5; ++i) {
    std::fill(out.begin(), out.end(), 0.0F);
    const std::string before = Settings();
    differences += !plan.Run(tensors, workspace).ok();
    differences += Settings() != before;
    differences += !SameBits(out, expected);
  }
  return differences;
}

// In a fresh process for each plan, so that all threads there are counted.
TEST_F(OpenMpTest, EveryThreadOfARegionComputes) {
  if (!InFreshProcess()) {
    for (const char* threads : {"1", "2", "3", "0"}) {
      for (const char* name : {"prefill", "decode"}) {
        EXPECT_EQ(RunTestInFreshProcess(
                      {.environment = {{"TEST_PLAN_THREADS", threads}, {"TEST_CASE", name}}}),
                  "done")
            << name << ", threads " << threads;
      }
    }
    return;
  }
  const int threads = std::atoi(std::getenv("TEST_PLAN_THREADS"));
  const bool decode = std::string(std::getenv("TEST_CASE")) == "decode";
  const PreparedCase prepared(decode ? DecodeCase() : PrefillCase());
  const AttentionRun alone = prepared.Run(OnThreads(1));
  const tbb::global_control scheduler = SchedulerThreads();
  const Result<AttentionPlan> plan = PlanAttention(
      prepared.description().shape, prepared.description().options, OnThreads(threads).runtime);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  omp_set_dynamic(0);
  const std::string settings = Settings();
  std::atomic<int> differences = 0;
  std::atomic<int> region_threads = 0;
#pragma omp parallel num_threads(kRegionThreads)
  {
    ++region_threads;
    differences += Differences(prepared, *plan, alone.out);
  }
  EXPECT_EQ(differences, 0);
  EXPECT_EQ(region_threads, kRegionThreads);
  EXPECT_EQ(Settings(), settings);
  // In no arena of its own a plan has the threads of the scheduler.
  const int plan_threads = threads == 0 ? kSchedulerThreads : threads;
  const int spare_threads = plan_threads > 1 ? kSpareThreads : 0;
  EXPECT_LE(ThreadCount(), kRegionThreads + plan_threads - 1 + spare_threads);
  ReportToParent("done");
}

// Plans made in the region, one for each thread, share the threads of the scheduler.
TEST_F(OpenMpTest, EveryThreadOfARegionPlans) {
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({}), "done");
    return;
  }
  const tbb::global_control scheduler = SchedulerThreads();
  for (const AttentionCase& c : ProcessCases()) {
    const PreparedCase prepared(c);
    const AttentionRun alone = prepared.Run(OnThreads(1));
    for (const int threads : {3, 0}) {
      std::atomic<int> differences = 0;
#pragma omp parallel for num_threads(kRegionThreads) schedule(dynamic)
      for (int i = 0; i < 20; ++i) {
        differences += !SameBits(prepared.Run(OnThreads(threads)), alone);
      }
      EXPECT_EQ(differences, 0) << c.ToString() << ", threads " << threads;
    }
    EXPECT_LE(ThreadCount(), kRegionThreads + kSchedulerThreads - 1 + kSpareThreads)
        << c.ToString();
  }
  ReportToParent("done");
}

// One thread of a region calls while the others wait or work.
TEST_F(OpenMpTest, OneThreadOfARegionComputes) {
  const PreparedCase prepared(PrefillCase());
  const AttentionRun alone = prepared.Run(OnThreads(1));
  for (const int threads : {1, 2, 0}) {
    bool same = false;
#pragma omp parallel num_threads(kRegionThreads)
    {
#pragma omp single
      same = static_cast<bool>(SameBits(prepared.Run(OnThreads(threads)), alone));
    }
    EXPECT_TRUE(same) << "threads " << threads;
  }
}

#else

TEST(OpenMpTest, EveryThreadOfARegionComputes) {
  GTEST_SKIP() << "the compiler of this build has no OpenMP";
}

#endif

}  // namespace
}  // namespace lanewise::testing
