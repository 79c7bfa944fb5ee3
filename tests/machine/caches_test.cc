// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cache detection on made-up sysfs trees and CPUID readings.

#include "src/machine/caches.h"

#include <gtest/gtest.h>

#include "tests/machine/temp_tree.h"

namespace lanewise::machine {
namespace {

constexpr int64_t kKiB = 1 << 10;
constexpr int64_t kMiB = 1 << 20;

struct SysfsCache {
  int cpu;
  int index;
  std::string level;
  std::string type;
  std::string size;
  std::string shared = "0";
  std::string line = "64";
};

void WriteCache(const TempTree& tree, const SysfsCache& cache) {
  const std::string directory = "devices/system/cpu/cpu" + std::to_string(cache.cpu) +
                                "/cache/index" + std::to_string(cache.index) + "/";
  tree.Write(directory + "level", cache.level + "\n");
  tree.Write(directory + "type", cache.type + "\n");
  tree.Write(directory + "size", cache.size + "\n");
  tree.Write(directory + "shared_cpu_list", cache.shared + "\n");
  tree.Write(directory + "coherency_line_size", cache.line + "\n");
  tree.Write(directory + "ways_of_associativity", "8\n");
}

// A CPU as Linux describes it.
void WriteCpu(const TempTree& tree, int cpu, const std::string& l1d, const std::string& l2) {
  WriteCache(tree, {cpu, 0, "1", "Data", l1d});
  WriteCache(tree, {cpu, 1, "1", "Instruction", "16K"});
  WriteCache(tree, {cpu, 2, "2", "Unified", l2, "0-1"});
}

void ExpectInBounds(const Caches& caches) {
  EXPECT_GE(caches.l1d.bytes, 4 * kKiB);
  EXPECT_LE(caches.l1d.bytes, kMiB);
  EXPECT_GE(caches.l2.bytes, caches.l1d.bytes);
  EXPECT_LE(caches.l2.bytes, 256 * kMiB);
  EXPECT_GE(caches.l3.bytes, caches.l2.bytes);
  EXPECT_LE(caches.l3.bytes, 4096 * kMiB);
  EXPECT_GE(caches.line_bytes, 16);
  EXPECT_LE(caches.line_bytes, 1024);
  for (const CacheLevel& level : {caches.l1d, caches.l2, caches.l3}) {
    EXPECT_GE(level.shared_by, 1);
    EXPECT_GE(level.ways, 0);
    EXPECT_FALSE(level.source.empty());
  }
}

TEST(CachesTest, ReadsSysfs) {
  const TempTree tree;
  WriteCpu(tree, 0, "48K", "2048K");
  WriteCache(tree, {0, 3, "3", "Unified", "32M", "0-3,8-11"});
  const Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l1d.bytes, 48 * kKiB);
  EXPECT_EQ(caches.l1d.ways, 8);
  EXPECT_EQ(caches.l1d.shared_by, 1);
  EXPECT_EQ(caches.l1d.source, "sysfs");
  EXPECT_EQ(caches.l2.bytes, 2 * kMiB);
  EXPECT_EQ(caches.l2.shared_by, 2);
  EXPECT_EQ(caches.l3.bytes, 32 * kMiB);
  EXPECT_EQ(caches.l3.shared_by, 8);
  EXPECT_EQ(caches.l3.source, "sysfs");
  EXPECT_EQ(caches.line_bytes, 64);
}

TEST(CachesTest, NothingKnownMeansDefaults) {
  const Caches caches = DetectCaches("/does/not/exist", {});
  EXPECT_EQ(caches.l1d.bytes, kDefaultL1dBytes);
  EXPECT_EQ(caches.l2.bytes, kDefaultL2Bytes);
  EXPECT_EQ(caches.l3.bytes, kDefaultL2Bytes);
  EXPECT_EQ(caches.line_bytes, kDefaultLineBytes);
  for (const CacheLevel& level : {caches.l1d, caches.l2, caches.l3}) {
    EXPECT_EQ(level.source, "default");
    EXPECT_EQ(level.ways, 0);
    EXPECT_EQ(level.shared_by, 1);
  }
}

TEST(CachesTest, CpuidFillsTheLevelsThatSysfsLacks) {
  const TempTree tree;
  WriteCache(tree, {0, 0, "1", "Data", "64K", "0", "128"});
  const Caches caches = DetectCaches(
      tree.root(), {{1, 32 * kKiB, 8, 2, 64}, {2, kMiB, 16, 2, 64}, {3, 24 * kMiB, 12, 16, 64}});
  EXPECT_EQ(caches.l1d.bytes, 64 * kKiB);
  EXPECT_EQ(caches.l1d.source, "sysfs");
  EXPECT_EQ(caches.l2.bytes, kMiB);
  EXPECT_EQ(caches.l2.ways, 16);
  EXPECT_EQ(caches.l2.source, "cpuid");
  EXPECT_EQ(caches.l3.bytes, 24 * kMiB);
  EXPECT_EQ(caches.l3.shared_by, 16);
  EXPECT_EQ(caches.line_bytes, 128);
}

TEST(CachesTest, NoThirdLevelMeansTheSecondStandsIn) {
  const TempTree tree;
  WriteCpu(tree, 0, "32K", "1024K");
  const Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l3.bytes, kMiB);
  EXPECT_EQ(caches.l3.shared_by, 2);
  EXPECT_EQ(caches.l3.source, "default");
}

TEST(CachesTest, SmallestOfUnlikeCpusCounts) {
  const TempTree tree;  // CPU 0 is offline: it has no cache directory
  WriteCpu(tree, 1, "48K", "2048K");
  WriteCpu(tree, 17, "32K", "4096K");
  const Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l1d.bytes, 32 * kKiB);
  EXPECT_EQ(caches.l2.bytes, 2 * kMiB);
}

TEST(CachesTest, AbsurdFiguresAreReplaced) {
  const TempTree tree;
  WriteCpu(tree, 0, "2048K", "16K");
  WriteCache(tree, {0, 3, "3", "Unified", "8K"});
  Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l1d.bytes, kDefaultL1dBytes);
  EXPECT_EQ(caches.l1d.source, "clamped from 2097152");
  EXPECT_EQ(caches.l1d.ways, 0);
  EXPECT_EQ(caches.l2.bytes, kDefaultL1dBytes) << "an l2 below l1d adds nothing";
  EXPECT_EQ(caches.l2.source, "clamped from 16384");
  EXPECT_EQ(caches.l3.bytes, kDefaultL1dBytes);
  EXPECT_EQ(caches.l3.source, "clamped from 8192");

  WriteCpu(tree, 0, "512", "8589934591K");
  WriteCache(tree, {0, 3, "3", "Unified", "9000G"});
  caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l1d.bytes, kDefaultL1dBytes);
  EXPECT_EQ(caches.l1d.source, "clamped from 512");
  EXPECT_EQ(caches.l2.bytes, kDefaultL2Bytes);
  EXPECT_EQ(caches.l3.bytes, kDefaultL2Bytes);
  ExpectInBounds(caches);
}

TEST(CachesTest, BoundsThemselvesAreBelieved) {
  const TempTree tree;
  WriteCpu(tree, 0, "1024K", "1024K");
  WriteCache(tree, {0, 3, "3", "Unified", "4G"});
  const Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l1d.source, "sysfs");
  EXPECT_EQ(caches.l2.source, "sysfs");
  EXPECT_EQ(caches.l3.bytes, 4096 * kMiB);
  EXPECT_EQ(caches.l3.source, "sysfs");
}

TEST(CachesTest, DefaultL2IsNotBelowAKnownL1d) {
  const TempTree tree;
  WriteCache(tree, {0, 0, "1", "Data", "1024K"});
  const Caches caches = DetectCaches(tree.root(), {});
  EXPECT_EQ(caches.l2.bytes, kMiB);
  EXPECT_EQ(caches.l2.source, "default");
}

TEST(CachesTest, ZeroNegativeAndGarbageCountAsAbsent) {
  for (const std::string size :
       {"", "0", "0K", "-32K", "garbage", "\xff\xfe", "32 K B", "99999999999999999999999K"}) {
    const TempTree tree;
    WriteCpu(tree, 0, size, size);
    const Caches caches = DetectCaches(tree.root(), {{2, kMiB, 0, 0, 0}});
    EXPECT_EQ(caches.l1d.source, "default") << size;
    EXPECT_EQ(caches.l2.source, "cpuid") << size;
    EXPECT_EQ(caches.l2.shared_by, 1) << size;
  }
}

TEST(CachesTest, SurvivesHostileFiles) {
  const std::string huge(1 << 20, '9');
  for (const std::string& text :
       {std::string(), huge, std::string(5000, '\n'), std::string(10, '\0'), std::string("-1"),
        std::string("3"), std::string("0-,-,,")}) {
    const TempTree tree;
    for (int index = 0; index < 4; ++index) {
      WriteCache(tree, {0, index, text, text, text, text, text});
      WriteCache(tree, {1, index, std::to_string(index), "Unified", "64K", text, text});
    }
    tree.Write("devices/system/cpu/cpu2/cache", "a file");
    std::filesystem::create_directories(tree.Path("devices/system/cpu/cpu3/cache/index0/level"));
    ExpectInBounds(DetectCaches(tree.root(), {}));
  }
}

TEST(CachesTest, ImpossibleLineSizesAreSkipped) {
  for (const std::string line : {"0", "48", "8", "2048", "-64", "4294967360", "x"}) {
    const TempTree tree;
    WriteCache(tree, {0, 0, "1", "Data", "32K", "0", line});
    EXPECT_EQ(DetectCaches(tree.root(), {}).line_bytes, kDefaultLineBytes) << line;
    EXPECT_EQ(DetectCaches(tree.root(), {{2, kMiB, 8, 1, 256}}).line_bytes, 256) << line;
  }
}

TEST(CachesTest, DecodesCpuidLeaves) {
  // Intel Skylake server: 1 MiB, 16 ways, 64-byte lines, two threads.
  std::optional<CacheReading> reading = DecodeCacheLeaf({0x1c004143, 0x03c0003f, 0x000003ff});
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->level, 2);
  EXPECT_EQ(reading->bytes, kMiB);
  EXPECT_EQ(reading->ways, 16);
  EXPECT_EQ(reading->shared_by, 2);
  EXPECT_EQ(reading->line_bytes, 64);

  // AMD Zen 4: 32 KiB of data cache, 8 ways, two threads.
  reading = DecodeCacheLeaf({0x00004121, 0x01c0003f, 0x0000003f});
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->level, 1);
  EXPECT_EQ(reading->bytes, 32 * kKiB);

  EXPECT_FALSE(DecodeCacheLeaf({0x00004122, 0x01c0003f, 0x0000003f}).has_value()) << "instruction";
  EXPECT_FALSE(DecodeCacheLeaf({0, 0, 0}).has_value()) << "end of list";
  reading = DecodeCacheLeaf({0xffffffe3, 0xffffffff, 0xffffffff});
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->bytes, 0) << "nonsense must not overflow";
}

TEST(CachesTest, ThisMachineIsInBounds) {
  ExpectInBounds(DetectCaches());
  ExpectInBounds(DetectCaches("/does/not/exist"));
  for (const CacheReading& reading : CpuidCaches()) {
    EXPECT_GE(reading.level, 1);
    EXPECT_GE(reading.bytes, 0);
    EXPECT_GE(reading.shared_by, 1);
  }
}

}  // namespace
}  // namespace lanewise::machine
