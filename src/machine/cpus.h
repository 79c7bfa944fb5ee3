// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How many CPUs this process may use, why, and what the CPU is called.

#ifndef LANEWISE_SRC_MACHINE_CPUS_H_
#define LANEWISE_SRC_MACHINE_CPUS_H_

#include <optional>  // quota
#include <string>    // names

#include "src/machine/cgroup.h"  // CgroupCpuQuota

namespace lanewise::machine {

// Logical CPUs that the calling thread may run on; where the system does not tell, all of them.
// At least 1.
int AffinityCpus();

struct CpuBudget {
  int affinity = 1;             // AffinityCpus()
  std::optional<double> quota;  // CgroupCpuQuota(), in CPUs
  int threads = 1;              // ThreadCount(affinity, quota)
  std::string source;           // what decided: "affinity", "container quota", "hardware count"
};

// min(affinity, quota rounded down), at least 1. Rounded down, because a group that exceeds its
// quota is stopped as a whole for the rest of the period (up to 100 ms): with 2 threads on a quota
// of 1.5, every parallel loop that runs into the limit waits for that, and so does every
// measurement of the tuner. The fraction is left to the other threads of the process. Whoever
// wants throughput on a small fractional quota sets the thread count.
int ThreadCount(int affinity, std::optional<double> quota) noexcept;

// Arguments as of CgroupCpuQuota. Reads files: call it once.
CpuBudget DetectCpuBudget(const std::string& proc_root = "/proc",
                          const std::string& mount_root = "/sys/fs/cgroup");

// The model name for people and profile files, e.g. "AMD EPYC 9354 32-Core Processor": from
// `proc_root`/cpuinfo, else from the CPU itself, else "unknown". Printable ASCII, single spaces,
// at most 128 characters. Arm kernels print numbers instead of a name: "Arm 0x41 part 0xd0c".
std::string CpuName(const std::string& proc_root = "/proc");

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_CPUS_H_
