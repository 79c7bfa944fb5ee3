// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Which SIMD targets can run here: the ones the compiler generated code for, cut down to what the
// CPU and the operating system support. A target is one bit, as in Highway's HWY_TARGETS, and its
// name is Highway's: AVX3, AVX2, SSE4, SSSE3, NEON, EMU128, SCALAR ...

#ifndef LANEWISE_SRC_MACHINE_TARGETS_H_
#define LANEWISE_SRC_MACHINE_TARGETS_H_

#include <cstdint>      // int64_t
#include <string>       // names
#include <string_view>  // TargetName
#include <vector>       // AvailableTargets

#include "lanewise/status.h"

namespace lanewise::machine {

// Bit sets of targets; in both, the lowest set bit is the best target.
struct TargetSets {
  int64_t generated = 0;  // kernels for these are in this build
  int64_t supported = 0;  // the CPU and the operating system can run these

  int64_t available() const noexcept { return generated & supported; }
};

// Asks the CPU every time, which costs some ten CPUID instructions (tens of microseconds inside a
// virtual machine). Targets that the process has switched off with hwy::DisableTargets do not
// count as supported; there is always at least one available target. Highway's process-wide chosen
// target is afterwards as Highway's own dispatch left it: unset, or the enabled targets.
// Thread-safe.
TargetSets DetectTargets();

// The name of the one target in `target`; "Unknown" when it is not a target of this architecture.
std::string_view TargetName(int64_t target) noexcept;

// The names of the available targets, best first; at least one. Detected once per process.
std::vector<std::string> AvailableTargets();

// The available target called `name`, upper or lower case; an empty name is the best one.
// Errors: kInvalidArgument for a name that is no target at all, kUnsupported for a target that
// this build does not contain or this machine cannot run. The message lists what is available.
// Detected once per process.
Result<int64_t> FindTarget(std::string_view name);

// The same for given sets.
Result<int64_t> FindTarget(std::string_view name, const TargetSets& sets);

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_TARGETS_H_
