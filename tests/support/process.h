// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Child processes of a test, for promises about whole processes.

#ifndef LANEWISE_TESTS_SUPPORT_PROCESS_H_
#define LANEWISE_TESTS_SUPPORT_PROCESS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lanewise::testing {

// After this time a child that hangs is killed.
inline constexpr unsigned kChildSeconds = 30;

// fork() works under every build except the thread sanitizer's.
bool CanFork();

// Runs `body` in a child made by fork() and without exec. True if it returned true in time; says
// what happened if not.
struct ChildOutcome {
  bool ok = false;
  std::string what;
};
ChildOutcome RunInFork(const std::function<bool()>& body);

// Starts this test program anew, in a fresh process that runs the current test only and in which
// InFreshProcess() is true, and returns the text it gave to ReportToParent.
struct FreshProcess {
  std::vector<std::pair<std::string, std::string>> environment = {};  // added
  bool (*before_exec)() = nullptr;                                    // in the child; async-safe
};
std::string RunTestInFreshProcess(const FreshProcess& settings);
bool InFreshProcess();
void ReportToParent(const std::string& text);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_PROCESS_H_
