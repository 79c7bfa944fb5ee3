// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Yardsticks count the work of the whole team and run for any team and array size.

#include "tune/yardsticks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/kernels/peaks.h"
#include "src/machine/targets.h"

namespace lanewise::tune {
namespace {

TEST(YardsticksTest, FmaPeakCountsEveryThread) {
  for (const std::string& name : machine::AvailableTargets()) {
    const int64_t target = *machine::FindTarget(name);
    ThreadTeam one(1);
    ThreadTeam three(3);
    const Yardstick peak = FmaPeak(target, one);
    EXPECT_GT(peak.work, 0.0) << name;
    EXPECT_DOUBLE_EQ(FmaPeak(target, three).work, 3.0 * peak.work) << name;
    EXPECT_GT(peak.timer(2), 0.0) << name;
    EXPECT_GT(FmaPeak(target, three).timer(1), 0.0) << name;
  }
}

TEST(YardsticksTest, TanhCallsCountEveryThread) {
  for (const std::string& name : machine::AvailableTargets()) {
    const int64_t target = *machine::FindTarget(name);
    ThreadTeam one(1);
    ThreadTeam three(3);
    const Yardstick calls = TanhCalls(target, one);
    EXPECT_GT(calls.work, 0.0) << name;
    EXPECT_DOUBLE_EQ(TanhCalls(target, three).work, 3.0 * calls.work) << name;
    EXPECT_GT(calls.timer(1), 0.0) << name;
  }
}

TEST(YardsticksTest, ReadSumsCountEveryArrayOnce) {
  const int64_t target = *machine::FindTarget("");
  ThreadTeam team(2);
  const std::vector<float> a(1000);
  const std::vector<float> b(77);
  const std::vector<Yardstick> sums = ReadSums(
      target, {{a.data(), a.size() * sizeof(float)}, {b.data(), b.size() * sizeof(float)}}, team);
  ASSERT_EQ(sums.size(), kernels::kReadStreams.size());
  for (const Yardstick& sum : sums) {
    EXPECT_EQ(sum.work, 1077.0 * sizeof(float));
    EXPECT_GT(sum.timer(3), 0.0);
  }
}

// More threads than words, or nothing to read.
TEST(YardsticksTest, ReadSumsOfTinyArrays) {
  const int64_t target = *machine::FindTarget("");
  ThreadTeam team(4);
  const std::vector<float> tiny(3);
  for (const Yardstick& sum :
       ReadSums(target, {{tiny.data(), 3 * sizeof(float)}, {nullptr, 0}}, team)) {
    EXPECT_EQ(sum.work, 12.0);
    EXPECT_GE(sum.timer(1), 0.0);
  }
}

TEST(YardsticksTest, MemoryCopyCopiesEverythingOnAnyTeam) {
  for (const size_t count : {0U, 1U, 3U, 1000U}) {
    for (const int members : {1, 2, 4}) {
      std::vector<float> from(count);
      for (size_t i = 0; i < count; ++i) from[i] = static_cast<float>(i);
      std::vector<float> to(count, -1);
      ThreadTeam team(members);
      const Yardstick copy = MemoryCopy({from.data(), count * sizeof(float)}, to.data(), team);
      EXPECT_EQ(copy.work, static_cast<double>(count * sizeof(float)));
      EXPECT_GE(copy.timer(1), 0.0);
      EXPECT_EQ(to, from) << count << ", " << members;
    }
  }
}

}  // namespace
}  // namespace lanewise::tune
