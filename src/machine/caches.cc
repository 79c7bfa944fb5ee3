// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cache figures from sysfs and CPUID, checked and completed.

#include "src/machine/caches.h"

#include <algorithm>     // std::max, std::clamp
#include <filesystem>    // is_directory
#include <limits>        // narrowing
#include <optional>      // parsed numbers
#include <system_error>  // std::error_code

#include "src/machine/text.h"

namespace lanewise::machine {
namespace {

// Bounds of the believable. The largest known: l1d 128 KiB, l2 36 MiB (IBM Telum II), l3 some
// hundred MiB a die; a virtual machine may report the sum over a socket.
constexpr int64_t kMinL1dBytes = int64_t{4} << 10;
constexpr int64_t kMaxL1dBytes = int64_t{1} << 20;
constexpr int64_t kMaxL2Bytes = int64_t{256} << 20;
constexpr int64_t kMaxL3Bytes = int64_t{4} << 30;
constexpr int kMinLineBytes = 16;
constexpr int kMaxLineBytes = 1024;

// CPUs read to find the smallest caches. No machine with cores of different kinds has more; on
// larger ones the CPUs are alike.
constexpr int kMaxCpusRead = 64;
constexpr int kMaxIndexes = 8;

// sysfs attributes are a line long; a CPU list may be a few hundred bytes.
constexpr std::size_t kMaxAttributeBytes = 4096;

int ReadInt(const std::string& path) {
  const int64_t value = ParseInteger(ReadFile(path, kMaxAttributeBytes)).value_or(0);
  return static_cast<int>(std::clamp<int64_t>(value, 0, std::numeric_limits<int>::max()));
}

// Adds the caches of one CPU, `directory` being its cache/ directory.
void ReadCpu(const std::string& directory, std::vector<CacheReading>* readings) {
  for (int index = 0; index < kMaxIndexes; ++index) {
    const std::string prefix = directory + "/index" + std::to_string(index) + "/";
    CacheReading reading;
    reading.level = ReadInt(prefix + "level");
    if (reading.level < 1 || reading.level > 3) continue;
    const std::string type = ReadFile(prefix + "type", kMaxAttributeBytes);
    if (Trim(type) != "Data" && Trim(type) != "Unified") continue;
    reading.bytes = ParseBytes(ReadFile(prefix + "size", kMaxAttributeBytes)).value_or(0);
    reading.ways = ReadInt(prefix + "ways_of_associativity");
    reading.shared_by = CountCpuList(ReadFile(prefix + "shared_cpu_list", kMaxAttributeBytes));
    reading.line_bytes = ReadInt(prefix + "coherency_line_size");
    readings->push_back(reading);
  }
}

std::vector<CacheReading> SysfsCaches(const std::string& sysfs_root) {
  std::vector<CacheReading> readings;
  for (int cpu = 0; cpu < kMaxCpusRead; ++cpu) {
    const std::string directory =
        sysfs_root + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    std::error_code error;
    if (std::filesystem::is_directory(directory, error)) ReadCpu(directory, &readings);
  }
  return readings;
}

// The smallest cache of that level with a positive size, or null.
const CacheReading* Smallest(const std::vector<CacheReading>& readings, int level) noexcept {
  const CacheReading* smallest = nullptr;
  for (const CacheReading& reading : readings) {
    if (reading.level != level || reading.bytes <= 0) continue;
    if (smallest == nullptr || reading.bytes < smallest->bytes) smallest = &reading;
  }
  return smallest;
}

CacheLevel FromReading(const CacheReading& reading, const char* source) {
  constexpr int kMaxWays = 1 << 12;
  CacheLevel level;
  level.bytes = reading.bytes;
  level.ways = reading.ways > 0 && reading.ways <= kMaxWays ? reading.ways : 0;
  level.shared_by = std::max(reading.shared_by, 1);
  level.source = source;
  return level;
}

// The believable figures of a level and what replaces others.
struct LevelRule {
  int level;
  int64_t low;
  int64_t high;
  int64_t if_below;   // for a figure under `low`
  int64_t otherwise;  // for a figure over `high` and for none
};

CacheLevel ChooseLevel(const std::vector<CacheReading>& sysfs,
                       const std::vector<CacheReading>& cpuid, const LevelRule& rule) {
  CacheLevel level;
  if (const CacheReading* reading = Smallest(sysfs, rule.level); reading != nullptr) {
    level = FromReading(*reading, "sysfs");
  } else if (reading = Smallest(cpuid, rule.level); reading != nullptr) {
    level = FromReading(*reading, "cpuid");
  } else {
    level.bytes = rule.otherwise;
    level.source = "default";
  }
  if (level.bytes < rule.low || level.bytes > rule.high) {
    level.source = "clamped from " + std::to_string(level.bytes);
    level.bytes = level.bytes < rule.low ? rule.if_below : rule.otherwise;
    level.ways = 0;
  }
  return level;
}

int ChooseLine(const std::vector<CacheReading>& sysfs, const std::vector<CacheReading>& cpuid) {
  for (const std::vector<CacheReading>* readings : {&sysfs, &cpuid}) {
    for (const CacheReading& reading : *readings) {
      const int line = reading.line_bytes;
      const bool power_of_two = (line & (line - 1)) == 0;
      if (line >= kMinLineBytes && line <= kMaxLineBytes && power_of_two) return line;
    }
  }
  return kDefaultLineBytes;
}

}  // namespace

Caches DetectCaches(const std::string& sysfs_root) {
  return DetectCaches(sysfs_root, CpuidCaches());
}

Caches DetectCaches(const std::string& sysfs_root, const std::vector<CacheReading>& cpuid) {
  const std::vector<CacheReading> sysfs = SysfsCaches(sysfs_root);
  Caches caches;
  caches.l1d = ChooseLevel(sysfs, cpuid,
                           {1, kMinL1dBytes, kMaxL1dBytes, kDefaultL1dBytes, kDefaultL1dBytes});
  const int64_t l1d = caches.l1d.bytes;
  caches.l2 = ChooseLevel(sysfs, cpuid, {2, l1d, kMaxL2Bytes, l1d, std::max(l1d, kDefaultL2Bytes)});
  const int64_t l2 = caches.l2.bytes;
  caches.l3 = ChooseLevel(sysfs, cpuid, {3, l2, kMaxL3Bytes, l2, l2});
  if (caches.l3.source == "default") caches.l3.shared_by = caches.l2.shared_by;
  caches.line_bytes = ChooseLine(sysfs, cpuid);
  return caches;
}

}  // namespace lanewise::machine
