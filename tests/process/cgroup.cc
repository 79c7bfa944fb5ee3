// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Finds the hierarchy of a controller and makes a directory in it.

#include "tests/process/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace lanewise::testing {
namespace {

char group_to_enter[PATH_MAX];

// Whether `list`, "cpu,cpuacct", has `name`.
bool Lists(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

// The path of this process' group in the hierarchy of `controller`, or of version 2.
std::string OwnPath(const std::string& controller, bool version_2) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : Lists(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return "/";
}

struct Mount {
  std::string directory;  // empty: there is none
  bool version_2 = false;
};

// Version 1 comes first: a controller is in one hierarchy only, and that of version 2 is there even
// if empty.
Mount MountOf(const std::string& controller) {
  Mount found;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string device;
    std::string directory;
    std::string type;
    std::string options;
    fields >> device >> directory >> type >> options;
    if (type == "cgroup" && Lists(options, controller)) return {directory, false};
    if (type == "cgroup2") found = {directory, true};
  }
  return found;
}

}  // namespace

Cgroup::Cgroup(const std::string& controller) {
  const Mount mount = MountOf(controller);
  if (mount.directory.empty()) {
    why_not_ = "no control groups are mounted";
    return;
  }
  version_2_ = mount.version_2;
  const std::string path = OwnPath(controller, version_2_);
  directory_ = mount.directory + path + (path.ends_with('/') ? "" : "/") + "lanewise-test-" +
               std::to_string(getpid());
  if (mkdir(directory_.c_str(), 0755) != 0) {
    why_not_ = "a control group cannot be made: " + directory_ + ": " + std::strerror(errno);
    directory_.clear();
    return;
  }
  std::snprintf(group_to_enter, sizeof(group_to_enter), "%s/cgroup.procs", directory_.c_str());
}

Cgroup::~Cgroup() {
  // A process that has ended may stay in its group for a moment.
  for (int i = 0; i < 100 && !directory_.empty() && rmdir(directory_.c_str()) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool Cgroup::LimitCpus(double cpus) {
  constexpr int kPeriod = 100000;
  const std::string quota = std::to_string(static_cast<int>(cpus * kPeriod));
  const std::string period = std::to_string(kPeriod);
  if (version_2_) return WriteTo("cpu.max", quota + " " + period);
  return WriteTo("cpu.cfs_period_us", period) && WriteTo("cpu.cfs_quota_us", quota);
}

bool Cgroup::LimitTasks(int count) { return WriteTo("pids.max", std::to_string(count)); }

bool Cgroup::Enter() {
  const int file = open(group_to_enter, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool entered = write(file, "0", 1) == 1;
  close(file);
  return entered;
}

bool Cgroup::WriteTo(const std::string& file, const std::string& text) {
  // Never a new file: a controller that is off has none.
  std::fstream stream(directory_ + "/" + file, std::ios::in | std::ios::out);
  stream << text << std::flush;
  return stream.good();
}

}  // namespace lanewise::testing
