// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The sums of src/kernels/lane_sums-inl.h on every target: of every vector the same bits, wherever
// it stands and whatever stands beside it.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/kernels/dispatch.h"
#include "src/machine/targets.h"
#include "tests/support/gen.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/lane_sums_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/lane_sums-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_LANE_SUMS_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_LANE_SUMS_TEST_TYPES_
namespace lanewise::kernels {

// The functions of one target. Vectors lie one after the other in memory.
struct LaneSumFunctions {
  size_t lanes;
  void (*sums)(const float* vectors, float* sums);  // of `lanes` vectors
  float (*sum)(const float* vector);
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_LANE_SUMS_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

void Sums(const float* vectors, float* sums) {
  const FloatTag d;
  FloatVec v[kLanes];
  for (size_t i = 0; i < kLanes; ++i) v[i] = hn::LoadU(d, vectors + i * kLanes);
  hn::StoreU(SumsOfLanes(d, v), d, sums);
}

float Sum(const float* vector) {
  const FloatTag d;
  return LaneSum(d, hn::LoadU(d, vector));
}

LaneSumFunctions Functions() { return {kLanes, &Sums, &Sum}; }

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(Functions);

using testing::Gen;

class LaneSumsTest : public ::testing::TestWithParam<std::string> {
 protected:
  LaneSumFunctions Functions() const {
    return FunctionForTarget(HWY_DISPATCH_TABLE(Functions), *machine::FindTarget(GetParam()))();
  }
};

// Integers, whose sums are exact in any order; powers of two, so that each lane counts once.
TEST_P(LaneSumsTest, EveryLaneCountsOnce) {
  const LaneSumFunctions f = Functions();
  std::vector<float> vectors(f.lanes * f.lanes);
  for (size_t i = 0; i < f.lanes; ++i) {
    for (size_t lane = 0; lane < f.lanes; ++lane) {
      vectors[i * f.lanes + lane] = std::ldexp(1.0F, static_cast<int>((i + lane) % f.lanes));
    }
    vectors[i * f.lanes] += static_cast<float>(1 << 18) * static_cast<float>(i);
  }
  std::vector<float> sums(f.lanes);
  f.sums(vectors.data(), sums.data());
  const float ones = std::ldexp(1.0F, static_cast<int>(f.lanes)) - 1.0F;
  for (size_t i = 0; i < f.lanes; ++i) {
    EXPECT_EQ(sums[i], ones + static_cast<float>(1 << 18) * static_cast<float>(i))
        << GetParam() << ", vector " << i;
  }
}

TEST_P(LaneSumsTest, AreNearPlainSums) {
  const LaneSumFunctions f = Functions();
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    const std::vector<float> vectors = Gen(seed, static_cast<int64_t>(f.lanes * f.lanes));
    std::vector<float> sums(f.lanes);
    f.sums(vectors.data(), sums.data());
    for (size_t i = 0; i < f.lanes; ++i) {
      double sum = 0;
      double magnitude = 0;
      for (size_t lane = 0; lane < f.lanes; ++lane) {
        sum += double{vectors[i * f.lanes + lane]};
        magnitude += std::abs(double{vectors[i * f.lanes + lane]});
      }
      // Four roundings at most, as 16 lanes are added in pairs.
      EXPECT_NEAR(double{sums[i]}, sum, 4 * magnitude * std::ldexp(1.0, -24))
          << GetParam() << ", vector " << i;
    }
  }
}

// Numbers of very different sizes, so that another order of additions would show.
TEST_P(LaneSumsTest, AllVectorsAreAddedInTheSameOrder) {
  const LaneSumFunctions f = Functions();
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::vector<float> vector = Gen(seed, static_cast<int64_t>(f.lanes));
    for (size_t lane = 0; lane < f.lanes; ++lane) {
      vector[lane] = std::ldexp(vector[lane], static_cast<int>(testing::GenBits(seed, 77) % 24) *
                                                  static_cast<int>(lane % 3));
    }
    const uint32_t expected = std::bit_cast<uint32_t>(f.sum(vector.data()));
    std::vector<float> vectors;
    for (size_t i = 0; i < f.lanes; ++i) {
      vectors.insert(vectors.end(), vector.begin(), vector.end());
    }
    std::vector<float> sums(f.lanes);
    f.sums(vectors.data(), sums.data());
    for (size_t i = 0; i < f.lanes; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(sums[i]), expected)
          << GetParam() << ", seed " << seed << ", vector " << i;
    }
  }
}

TEST_P(LaneSumsTest, VectorsDoNotMix) {
  const LaneSumFunctions f = Functions();
  const std::vector<float> vector = Gen(5, static_cast<int64_t>(f.lanes));
  for (size_t at = 0; at < f.lanes; ++at) {
    std::vector<float> vectors(f.lanes * f.lanes, std::numeric_limits<float>::quiet_NaN());
    for (size_t lane = 0; lane < f.lanes; ++lane) vectors[at * f.lanes + lane] = vector[lane];
    std::vector<float> sums(f.lanes);
    f.sums(vectors.data(), sums.data());
    for (size_t i = 0; i < f.lanes; ++i) {
      EXPECT_EQ(std::isnan(sums[i]), i != at) << GetParam() << ", vector " << i << ", not " << at;
    }
    EXPECT_EQ(sums[at], f.sum(vector.data())) << GetParam() << ", vector " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LaneSumsTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
