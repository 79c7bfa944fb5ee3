// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the x86 CPUID instruction says about caches and the model. On other architectures and
// compilers every function here returns nothing.

#ifndef LANEWISE_SRC_MACHINE_CPUID_H_
#define LANEWISE_SRC_MACHINE_CPUID_H_

#include <cstdint>   // uint32_t
#include <optional>  // DecodeCacheLeaf
#include <string>    // CpuidBrand
#include <vector>    // CpuidCaches

namespace lanewise::machine {

// One data or unified cache as some source describes it; 0 where the source is silent.
struct CacheReading {
  int level = 0;
  int64_t bytes = 0;
  int ways = 0;
  int shared_by = 0;  // logical CPUs
  int line_bytes = 0;
};

// EAX, EBX, ECX of one sub-leaf of leaf 4 (Intel) or 0x8000001D (AMD), which share their layout.
struct CacheLeaf {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
};

// The cache that `leaf` describes; nothing for an instruction cache or an empty leaf.
std::optional<CacheReading> DecodeCacheLeaf(const CacheLeaf& leaf) noexcept;

// The data and unified caches of the CPU that runs the calling thread.
std::vector<CacheReading> CpuidCaches();

// The processor brand string as the CPU spells it, padding included.
std::string CpuidBrand();

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_CPUID_H_
