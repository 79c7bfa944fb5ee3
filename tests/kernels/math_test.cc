// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Exp and Tanh of src/kernels/vectors-inl.h on every target, against the double functions of the
// standard library.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/kernels/dispatch.h"
#include "src/machine/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/vectors-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_MATH_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_MATH_TEST_TYPES_
namespace lanewise::kernels {

// Arrays hold a multiple of this many floats: eight vectors of any target, four, two or one.
inline constexpr size_t kChunk = 128;

// The functions of one target, on `count` floats in place.
using InPlace = void (*)(float* x, size_t count);
struct MathFunctions {
  InPlace exp;                // one vector at a time
  InPlace exp_of_many[4];     // 1, 2, 4 and 8
  InPlace tanh;               // one vector at a time
  InPlace tanh_unbounded[3];  // 1, 2 and 4
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_MATH_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

void ExpOfOne(float* x, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += kLanes) hn::StoreU(Exp(d, hn::LoadU(d, x + i)), d, x + i);
}

template <size_t U>
void ExpOfMany(float* x, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += U * kLanes) {
    FloatVec vectors[U];
    for (size_t u = 0; u < U; ++u) vectors[u] = hn::LoadU(d, x + i + u * kLanes);
    Exp<U>(d, vectors);
    for (size_t u = 0; u < U; ++u) hn::StoreU(vectors[u], d, x + i + u * kLanes);
  }
}

void TanhOfOne(float* x, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += kLanes) hn::StoreU(Tanh(d, hn::LoadU(d, x + i)), d, x + i);
}

template <size_t U>
void TanhOfMany(float* x, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += U * kLanes) {
    FloatVec vectors[U];
    for (size_t u = 0; u < U; ++u) vectors[u] = hn::LoadU(d, x + i + u * kLanes);
    TanhUnbounded<U>(d, vectors);
    for (size_t u = 0; u < U; ++u) hn::StoreU(vectors[u], d, x + i + u * kLanes);
  }
}

MathFunctions Functions() {
  return {&ExpOfOne,
          {&ExpOfMany<1>, &ExpOfMany<2>, &ExpOfMany<4>, &ExpOfMany<8>},
          &TanhOfOne,
          {&TanhOfMany<1>, &TanhOfMany<2>, &TanhOfMany<4>}};
}

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(Functions);

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Floats in order of value: -0 and 0 are both 0, neighbours one apart.
int32_t Rank(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  return bits >= 0 ? bits : -(bits & 0x7FFFFFFF);
}
float AtRank(int64_t rank) {
  return std::bit_cast<float>(rank >= 0 ? static_cast<uint32_t>(rank)
                                        : 0x80000000U | static_cast<uint32_t>(-rank));
}

// `count` floats from `low` to `high`, evenly spaced in value.
std::vector<float> Sweep(double low, double high, size_t count) {
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) /
                                        static_cast<double>(count - 1));
  }
  return x;
}

// The `count` floats around `center`, each one.
std::vector<float> Neighbours(float center, size_t count) {
  std::vector<float> x(count);
  const int64_t first = Rank(center) - static_cast<int64_t>(count / 2);
  for (size_t i = 0; i < count; ++i) x[i] = AtRank(first + static_cast<int64_t>(i));
  return x;
}

std::vector<float> Apply(InPlace function, std::vector<float> x) {
  const size_t count = x.size();
  x.resize((count + kChunk - 1) / kChunk * kChunk);
  function(x.data(), x.size());
  x.resize(count);
  return x;
}

float ApplyToOne(InPlace function, float x) { return Apply(function, std::vector{x})[0]; }

class MathTest : public ::testing::TestWithParam<std::string> {
 protected:
  MathFunctions Functions() const {
    return FunctionForTarget(HWY_DISPATCH_TABLE(Functions), *machine::FindTarget(GetParam()))();
  }

  void ExpectExpNear(const std::vector<float>& x) const {
    const std::vector<float> y = Apply(Functions().exp, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      ASSERT_NEAR(y[i], expected, 5e-7 * expected) << GetParam() << ", exp(" << x[i] << ")";
    }
  }
};

TEST_P(MathTest, ExpRelativeError) {
  ExpectExpNear(Sweep(-87.3, 8, 1 << 20));
  // The reduction changes n halfway between multiples of ln 2.
  for (int n = -126; n < 12; ++n) {
    ExpectExpNear(Neighbours(static_cast<float>((n + 0.5) * std::log(2.0)), 1024));
  }
}

TEST_P(MathTest, ExpUpTo88) { ExpectExpNear(Sweep(8, 88, 1 << 16)); }

TEST_P(MathTest, ExpSmallResults) {
  // Subnormal results may be flushed.
  for (const float y : Apply(Functions().exp, Sweep(-88, -87.3, 1 << 16))) {
    ASSERT_GE(y, 0.0F) << GetParam();
    ASSERT_LT(y, 0x1.1p-126F) << GetParam();
  }
  std::vector<float> below = Sweep(-120, -88.0001, 1 << 14);
  below.insert(below.end(), {-1e4F, -1e30F, -std::numeric_limits<float>::max(), -kInfinity});
  const std::vector<float> zeros = Apply(Functions().exp, below);
  for (size_t i = 0; i < below.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(zeros[i]), 0U) << GetParam() << ", exp(" << below[i] << ")";
  }
}

TEST_P(MathTest, ExpOfZeroIsOne) {
  EXPECT_EQ(ApplyToOne(Functions().exp, 0.0F), 1.0F) << GetParam();
  EXPECT_EQ(ApplyToOne(Functions().exp, -0.0F), 1.0F) << GetParam();
  // Neighbours of 0 too, subnormal ones included.
  for (const float y : Apply(Functions().exp, Neighbours(0, 4096))) ASSERT_EQ(y, 1.0F);
}

TEST_P(MathTest, NanStaysNan) {
  for (const uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0xFFFFFFFFU, 0x7FFFFFFFU, 0x7F800001U,
                              0xFF800001U, 0x7FA00000U, 0x7FC00001U}) {
    // Placed by the bits: a float parameter could be made quiet on its way.
    std::vector<float> x(kChunk);
    x[3] = std::bit_cast<float>(bits);
    for (const InPlace function : {Functions().exp, Functions().exp_of_many[2], Functions().tanh,
                                   Functions().tanh_unbounded[1]}) {
      const std::vector<float> y = Apply(function, x);
      EXPECT_TRUE(std::isnan(y[3])) << GetParam() << ", " << std::hex << bits << " gives " << y[3];
      EXPECT_FALSE(std::isnan(y[2]) || std::isnan(y[4])) << GetParam();
    }
  }
}

// Over all floats from -88.5 to 8, some 3000 steps to the next float fall, each to one unit in the
// last place below the largest result so far: the polynomial's roundings differ.
constexpr int32_t kLargestFall = 1;

TEST_P(MathTest, ExpNeverFallsByMoreThanOneUlp) {
  std::vector<std::vector<float>> ranges = {Sweep(-88.5, 8, 1 << 20), Neighbours(-0.25F, 1 << 16),
                                            Neighbours(0.25F, 1 << 16)};
  for (int n = -127; n < 12; ++n) {
    ranges.push_back(Neighbours(static_cast<float>((n + 0.5) * std::log(2.0)), 4096));
  }
  for (const std::vector<float>& x : ranges) {
    const std::vector<float> y = Apply(Functions().exp, x);
    float largest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, y[i]);
      ASSERT_GE(Rank(y[i]), Rank(largest) - kLargestFall) << GetParam() << ", exp(" << x[i] << ")";
    }
  }
}

TEST_P(MathTest, ExpOfManyIsExpOfEach) {
  std::vector<float> x = Sweep(-90, 88, 1 << 14);
  x.insert(x.end(), {0.0F, -0.0F, -kInfinity, -88.0F, -87.33655F});
  const std::vector<float> each = Apply(Functions().exp, x);
  for (const InPlace function : Functions().exp_of_many) {
    const std::vector<float> many = Apply(function, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(many[i]), std::bit_cast<uint32_t>(each[i]))
          << GetParam() << ", exp(" << x[i] << ")";
    }
  }
}

TEST_P(MathTest, TanhErrors) {
  std::vector<float> x = Sweep(-12, 12, 1 << 20);
  for (const float center : {1.0F, 8.7F, 9.0F, 9.1F}) {
    const std::vector<float> more = Neighbours(center, 4096);
    x.insert(x.end(), more.begin(), more.end());
  }
  for (float tiny = 0.1F; tiny > 1e-37F; tiny *= 0.37F) x.push_back(tiny);
  const std::vector<float> y = Apply(Functions().tanh, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tanh(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], expected, 3.6e-7 * std::abs(expected))
        << GetParam() << ", tanh(" << x[i] << ")";
    ASSERT_LE(std::abs(y[i]), 1.0F) << GetParam() << ", tanh(" << x[i] << ")";
  }
}

TEST_P(MathTest, TanhIsOdd) {
  std::vector<float> x = Sweep(0, 12, 1 << 16);
  std::vector<float> minus_x = x;
  for (float& value : minus_x) value = -value;
  const std::vector<float> y = Apply(Functions().tanh, x);
  const std::vector<float> minus_y = Apply(Functions().tanh, minus_x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(minus_y[i]), std::bit_cast<uint32_t>(-y[i]))
        << GetParam() << ", tanh(" << x[i] << ")";
  }
}

TEST_P(MathTest, UnboundedTanhIsTanhWithinItsError) {
  std::vector<float> x = Sweep(-12, 12, 1 << 14);
  x.insert(x.end(), {0.0F, -0.0F, kInfinity, -kInfinity, 1e-40F, 3e38F});
  const std::vector<float> each = Apply(Functions().tanh, x);
  for (const InPlace function : Functions().tanh_unbounded) {
    const std::vector<float> many = Apply(function, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const float bounded = std::min(std::max(many[i], -1.0F), 1.0F);
      ASSERT_EQ(std::bit_cast<uint32_t>(bounded), std::bit_cast<uint32_t>(each[i]))
          << GetParam() << ", tanh(" << x[i] << ")";
      ASSERT_LE(std::abs(many[i]), 1.0F + 3.6e-7F) << GetParam() << ", tanh(" << x[i] << ")";
    }
  }
}

// A subnormal number is its own tanh, up to one step of theirs.
TEST_P(MathTest, TanhOfSubnormals) {
  for (const float x : {1e-45F, 1e-44F, 3e-42F, 1e-39F, 1.1e-38F}) {
    EXPECT_NEAR(ApplyToOne(Functions().tanh, x), x, 1.5e-45) << GetParam();
    EXPECT_NEAR(ApplyToOne(Functions().tanh, -x), -x, 1.5e-45) << GetParam();
  }
}

// From 9 on the argument no longer counts.
TEST_P(MathTest, TanhEnds) {
  const float end = ApplyToOne(Functions().tanh, 9.0F);
  EXPECT_LE(end, 1.0F) << GetParam();
  EXPECT_NEAR(end, 1.0F, 3.6e-7F) << GetParam();
  for (const float large :
       {9.1F, 11.0F, 44.5F, 1e10F, 1e20F, std::numeric_limits<float>::max(), kInfinity}) {
    EXPECT_EQ(ApplyToOne(Functions().tanh, large), end) << GetParam() << ", " << large;
    EXPECT_EQ(ApplyToOne(Functions().tanh, -large), -end) << GetParam() << ", " << large;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MathTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
