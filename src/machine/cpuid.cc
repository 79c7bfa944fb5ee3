// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// CPUID cache leaves and brand string.

#include "src/machine/cpuid.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define LANEWISE_HAVE_CPUID 1
#else
#define LANEWISE_HAVE_CPUID 0
#endif

#include <algorithm>  // std::min
#include <thread>     // hardware_concurrency

namespace lanewise::machine {
namespace {

// Bits [first, first + count) of `word`.
constexpr uint32_t Bits(uint32_t word, int first, int count) noexcept {
  return (word >> first) & ((uint32_t{1} << count) - 1);
}

}  // namespace

// Layout: Intel SDM volume 2A, CPUID leaf 04H; AMD APM volume 3, appendix E.4.15. Fields that are
// never 0 are stored less one.
std::optional<CacheReading> DecodeCacheLeaf(const CacheLeaf& leaf) noexcept {
  constexpr uint32_t kData = 1;
  constexpr uint32_t kUnified = 3;
  const uint32_t type = Bits(leaf.eax, 0, 5);
  if (type != kData && type != kUnified) return std::nullopt;

  const int64_t line_bytes = int64_t{Bits(leaf.ebx, 0, 12)} + 1;
  const int64_t partitions = int64_t{Bits(leaf.ebx, 12, 10)} + 1;
  const int64_t ways = int64_t{Bits(leaf.ebx, 22, 10)} + 1;
  const int64_t sets = int64_t{leaf.ecx} + 1;
  CacheReading reading;
  reading.level = static_cast<int>(Bits(leaf.eax, 5, 3));
  // At most 2^12 * 2^10 * 2^10 * 2^32 = 2^64 in nonsense; such sets exceed any real cache.
  reading.bytes = sets > (int64_t{1} << 28) ? 0 : line_bytes * partitions * ways * sets;
  reading.ways = static_cast<int>(ways);
  reading.shared_by = static_cast<int>(Bits(leaf.eax, 14, 12)) + 1;
  reading.line_bytes = static_cast<int>(line_bytes);
  return reading;
}

#if LANEWISE_HAVE_CPUID

std::vector<CacheReading> CpuidCaches() {
  // Intel rounds the number of sharing CPUs up to a power of two.
  const int cpus = static_cast<int>(std::min(std::thread::hardware_concurrency(), 1U << 20));
  std::vector<CacheReading> readings;
  // No need to ask for the vendor: the leaf of the other one is beyond the maximum or all zero.
  for (const unsigned leaf_number : {4U, 0x8000001DU}) {
    constexpr unsigned kMaxSubLeaves = 16;  // ends a list that lacks its null entry
    for (unsigned i = 0; i < kMaxSubLeaves; ++i) {
      CacheLeaf leaf;
      unsigned edx = 0;
      if (__get_cpuid_count(leaf_number, i, &leaf.eax, &leaf.ebx, &leaf.ecx, &edx) == 0) break;
      if (Bits(leaf.eax, 0, 5) == 0) break;
      if (std::optional<CacheReading> reading = DecodeCacheLeaf(leaf); reading) {
        if (cpus > 0) reading->shared_by = std::min(reading->shared_by, cpus);
        readings.push_back(*reading);
      }
    }
    if (!readings.empty()) break;
  }
  return readings;
}

std::string CpuidBrand() {
  std::string brand;
  for (const unsigned leaf : {0x80000002U, 0x80000003U, 0x80000004U}) {
    unsigned registers[4] = {};
    if (__get_cpuid(leaf, &registers[0], &registers[1], &registers[2], &registers[3]) == 0) break;
    for (const unsigned word : registers) {
      for (int byte = 0; byte < 4; ++byte) {
        const char c = static_cast<char>(Bits(word, 8 * byte, 8));
        if (c == '\0') return brand;
        brand += c;
      }
    }
  }
  return brand;
}

#else

std::vector<CacheReading> CpuidCaches() { return {}; }

std::string CpuidBrand() { return {}; }

#endif  // LANEWISE_HAVE_CPUID

}  // namespace lanewise::machine
