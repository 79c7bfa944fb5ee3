// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cache sizes of this machine, for the block sizes that are computed from them. Always usable:
// whatever the sources say, the figures satisfy
//   4 KiB <= l1d <= 1 MiB,  l1d <= l2 <= 256 MiB,  l2 <= l3 <= 4 GiB,  line in [16, 1024].

#ifndef LANEWISE_SRC_MACHINE_CACHES_H_
#define LANEWISE_SRC_MACHINE_CACHES_H_

#include <cstdint>  // int64_t
#include <string>   // source
#include <vector>   // second source

#include "src/machine/cpuid.h"

namespace lanewise::machine {

struct CacheLevel {
  int64_t bytes = 0;
  int ways = 0;        // associativity; 0 = unknown
  int shared_by = 1;   // logical CPUs that share these bytes
  std::string source;  // "sysfs", "cpuid", "default", or "clamped from <bytes>"
};

struct Caches {
  CacheLevel l1d;
  CacheLevel l2;
  CacheLevel l3;  // equals l2 in bytes where there is no third level
  int line_bytes = 0;
};

// Figures that stand in when no source has a usable one: small, common sizes, since a block that
// is too small costs a few per cent and one that overflows its cache costs far more. There is no
// such figure for l3: l2 stands in, which claims no cache that may not exist.
inline constexpr int64_t kDefaultL1dBytes = int64_t{32} << 10;
inline constexpr int64_t kDefaultL2Bytes = int64_t{512} << 10;
inline constexpr int kDefaultLineBytes = 64;

// Each level from the first source that has a positive figure: the operating system
// (`sysfs_root`/devices/system/cpu/cpuN/cache), then CPUID, then the default. Where CPUs differ
// (performance and efficiency cores), the smallest figure of a level counts, whatever CPUs the
// process is pinned to, so that the answer names the machine. A figure outside the bounds above
// says nothing and is replaced: an l2 below l1d by l1d, an l3 in any case by l2, others by the
// default. Reads up to some thousand small files (milliseconds): call it once. Thread-safe.
Caches DetectCaches(const std::string& sysfs_root = "/sys");

// The same with `cpuid` in place of what this CPU says.
Caches DetectCaches(const std::string& sysfs_root, const std::vector<CacheReading>& cpuid);

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_CACHES_H_
