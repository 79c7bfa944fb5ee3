// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Control groups for child processes, where a test may make them.

#ifndef LANEWISE_TESTS_PROCESS_CGROUP_H_
#define LANEWISE_TESTS_PROCESS_CGROUP_H_

#include <string>

namespace lanewise::testing {

// A child of this process' own group in the hierarchy of one controller; removed when it goes.
class Cgroup {
 public:
  // "cpu" or "pids".
  explicit Cgroup(const std::string& controller);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Whether there is such a group, and if not, why.
  bool ok() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }

  // Sets a limit: `cpus` of "cpu", `count` tasks of "pids". False if that failed.
  bool LimitCpus(double cpus);
  bool LimitTasks(int count);

  // Puts the calling process into the group that was made last. Async-safe.
  static bool Enter();

 private:
  bool WriteTo(const std::string& file, const std::string& text);

  bool version_2_ = false;
  std::string directory_;
  std::string why_not_;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_PROCESS_CGROUP_H_
