// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Runs the built `lanewise` binary and captures what it does.

#ifndef LANEWISE_TESTS_TOOLS_COMMAND_RUNNER_H_
#define LANEWISE_TESTS_TOOLS_COMMAND_RUNNER_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/machine/temp_tree.h"

extern char** environ;

namespace lanewise::tools {

struct Outcome {
  int exit_code = -1;  // -1: it did not exit by itself
  std::string out;
  std::string err;
};

inline std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Starts the command with its standard output and error going to files (an empty `out_path` closes
// the former); -1 if that is impossible.
// `environment` holds NAME=value, and other variables of lanewise are removed.
inline pid_t StartCommand(std::vector<std::string> arguments, std::vector<std::string> environment,
                          const std::string& out_path, const std::string& err_path) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (!variable.starts_with("LANEWISE_")) environment.push_back(variable);
  }
  arguments.insert(arguments.begin(), "lanewise");
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> all;
    for (std::string& text : strings) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out_path.empty()) {
    posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  pid_t child = -1;
  const int error = posix_spawn(&child, LANEWISE_COMMAND_PATH, &actions, nullptr,
                                pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  ADD_FAILURE() << LANEWISE_COMMAND_PATH << " cannot be started, error " << error;
  return -1;
}

// The status that waitpid has for it.
inline int WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// `stdout_path` replaces the captured standard output, which is closed if it is empty.
inline Outcome RunCommand(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {},
                          const std::optional<std::string>& stdout_path = std::nullopt) {
  const machine::TempTree captured;
  const std::string out_path = stdout_path.value_or(captured.Path("out"));
  const std::string err_path = captured.Path("err");
  Outcome outcome;
  const pid_t child = StartCommand(arguments, environment, out_path, err_path);
  if (child < 0) return outcome;
  const int status = WaitFor(child);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (!stdout_path) outcome.out = ContentsOf(out_path);
  outcome.err = ContentsOf(err_path);
  return outcome;
}

// Exit code, no error text.
inline ::testing::AssertionResult Succeeds(const Outcome& outcome) {
  if (outcome.exit_code == 0 && outcome.err.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "exit code " << outcome.exit_code << ", stderr \"" << outcome.err << "\"";
}

// `exit_code`, and exactly one line on stderr, which starts with "lanewise: " and contains `text`.
inline ::testing::AssertionResult FailsWith(const Outcome& outcome, int exit_code,
                                            const std::string& text) {
  const bool one_line = outcome.err.starts_with("lanewise: ") && outcome.err.ends_with('\n') &&
                        std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1;
  if (outcome.exit_code == exit_code && one_line && outcome.err.find(text) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "exit code " << outcome.exit_code << ", stderr \"" << outcome.err
         << "\"; expected exit code " << exit_code << " and one line with \"" << text << "\"";
}

}  // namespace lanewise::tools

#endif  // LANEWISE_TESTS_TOOLS_COMMAND_RUNNER_H_
