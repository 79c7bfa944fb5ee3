// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Static objects of the application that end after everything of the library that could.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lanewise/attention.h"
#include "tests/process/cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/process.h"

namespace lanewise::testing {
namespace {

constexpr const char* kThreads = "two, or three, threads, please";

// Plans and runs at its end, if a test armed it; ends the process with 3 if that goes wrong.
struct RunsLate {
  const PreparedCase* prepared = nullptr;
  std::string note;

  ~RunsLate() {
    if (prepared == nullptr) return;
    const AttentionRun alone = prepared->Run(OnThreads(1));
    if (DefaultRuntime().note != note || !SameBits(prepared->Run(OnThreads(2)), alone)) _exit(3);
  }
};
RunsLate runs_late;

TEST(LateRuntimeTest, StaticObjectsMayPlanAndRun) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({.environment = {{"LANEWISE_THREADS", kThreads}}}), "done");
    return;
  }
  // After `runs_late` was made, so whatever has an end has it before.
  EXPECT_NE(DefaultRuntime().note.find(kThreads), std::string::npos);
  static const PreparedCase* const prepared = new PreparedCase(PrefillCase());
  prepared->Run(OnThreads(2));
  runs_late.note = DefaultRuntime().note;
  runs_late.prepared = prepared;
  ReportToParent("done");
}

}  // namespace
}  // namespace lanewise::testing
