// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// fork, exec and wait.

#include "tests/support/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/support/sanitizers.h"

extern char** environ;

namespace lanewise::testing {
namespace {

// Number of the descriptor that a fresh process reports to; set only there.
constexpr char kReportVariable[] = "LANEWISE_TEST_REPORT_FD";

ChildOutcome WaitFor(pid_t child) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited != child) return {false, std::string("waitpid: ") + std::strerror(errno)};
  if (WIFSIGNALED(status)) {
    return {false, WTERMSIG(status) == SIGALRM
                       ? "the child did not finish in time"
                       : "the child died of signal " + std::to_string(WTERMSIG(status))};
  }
  if (WEXITSTATUS(status) != 0) {
    return {false, "the child returned " + std::to_string(WEXITSTATUS(status))};
  }
  return {true, ""};
}

std::string CurrentTestName() {
  const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

}  // namespace

bool CanFork() { return !kThreadSanitizer; }

ChildOutcome RunInFork(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child < 0) return {false, std::string("fork: ") + std::strerror(errno)};
  if (child == 0) {
    alarm(kChildSeconds);
    // _exit: buffers and exit handlers belong to the parent.
    _exit(body() ? 0 : 1);
  }
  return WaitFor(child);
}

std::string RunTestInFreshProcess(const FreshProcess& settings) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe: " << std::strerror(errno);
    return "";
  }
  // All memory that the child needs is made here: after fork() it may not allocate.
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // Report files and shards are the parent's; lanewise settings are the test's to choose.
    if (std::strncmp(*entry, "GTEST_", 6) == 0 || std::strncmp(*entry, "LANEWISE_", 9) == 0)
      continue;
    environment.emplace_back(*entry);
  }
  environment.push_back(std::string(kReportVariable) + "=" + std::to_string(ends[1]));
  for (const auto& [name, value] : settings.environment) environment.push_back(name + "=" + value);
  std::vector<char*> environment_pointers;
  for (std::string& entry : environment) environment_pointers.push_back(entry.data());
  environment_pointers.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=" + CurrentTestName();
  char* arguments[] = {program.data(), filter.data(), nullptr};

  const pid_t child = fork();
  if (child == 0) {
    alarm(kChildSeconds);  // survives exec
    const int sink = open("/dev/null", O_WRONLY);
    if (fcntl(ends[1], F_SETFD, 0) != 0 || dup2(sink, STDOUT_FILENO) < 0) _exit(100);
    if (settings.before_exec != nullptr && !settings.before_exec()) _exit(101);
    execve(program.c_str(), arguments, environment_pointers.data());
    _exit(102);
  }
  close(ends[1]);
  std::string report;
  char buffer[4096];
  ssize_t count = 0;
  while (child > 0 && (count = read(ends[0], buffer, sizeof(buffer))) != 0) {
    if (count > 0) report.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  const ChildOutcome outcome =
      child < 0 ? ChildOutcome{false, std::string("fork: ") + std::strerror(errno)}
                : WaitFor(child);
  EXPECT_TRUE(outcome.ok) << outcome.what;
  return report;
}

bool InFreshProcess() { return std::getenv(kReportVariable) != nullptr; }

void ReportToParent(const std::string& text) {
  const int descriptor = std::atoi(std::getenv(kReportVariable));
  const ssize_t written = write(descriptor, text.data(), text.size());
  EXPECT_EQ(written, static_cast<ssize_t>(text.size()));
}

}  // namespace lanewise::testing
