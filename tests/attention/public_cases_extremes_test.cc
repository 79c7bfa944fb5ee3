// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about extreme scores, exp and the scale (group D), as far as they need no
// bias, mask or softcap.

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/mentions.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(PublicCases, C026_ScoresBeyondTheRangeOfExp) {
  AttentionCase c = PlainCase(1, 4);
  c.shape.value_dim = 4;
  c.q = {1};
  c.k = {7999.99F, 8000, 2, 1};
  c.v = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  ExpectKnownResult(c, {.out = {0.4975586, 0.5024414, 0, 0}, .out_tolerance = 1e-5}, EveryPath());
}

// The report uses a bias; scores as low do the same.
TEST(PublicCases, C029_NoWeightLeaksFromVeryLowScores) {
  AttentionCase c = PlainCase(1, 3);
  c.q = {1};
  c.v = {0, 0, 1e35F};
  for (const float low : {-1e9F, -kInf}) {
    c.k = {1, 2, low};
    ExpectKnownResult(c, {.out = {0}}, EveryPath());
  }
}

TEST(PublicCases, C030_EquallyLowScoresAreOrdinary) {
  AttentionCase c = PlainCase(1, 3);
  c.q = {1};
  c.v = {3, 6, 12};
  for (const float low : {-40000.0F, -1e9F, -1e30F, -FLT_MAX}) {
    c.k = {low, low, low};
    ExpectKnownResult(c, {.out = {7}, .out_tolerance = T32(c.v)}, EveryPath());
  }
}

constexpr float kExpArguments[] = {0,      1e-7F, 0.5F,   1,   10,     20,  80,    86,
                                   87.33F, 88,    88.72F, 100, 103.9F, 104, 10000, kInf};

// Is `got` the weight of a key whose score lies `x` below the other one's?
::testing::AssertionResult IsWeight(float got, float x) {
  const double want = std::exp(-double{x}) / (1.0 + std::exp(-double{x}));
  const double tolerance = want >= double{FLT_MIN} ? 1e-6 * want : x == kInf ? 0.0 : 1.2e-38;
  if (std::abs(double{got} - want) <= tolerance) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "at " << x << " below the maximum the weight is " << got
                                       << ", expected " << want << " within " << tolerance;
}

TEST(PublicCases, C032_ExpOverItsWholeRange) {
  for (const Path& path : EveryPath()) {
    float previous = 1.0F;
    for (const float x : kExpArguments) {
      AttentionCase c = PlainCase(1, 2);
      c.q = {1};
      c.k = {0, -x};
      c.v = {0, 1};
      const float got = PreparedCase(c).Run(path).out.at(0);
      ASSERT_TRUE(IsWeight(got, x)) << path.ToString();
      ASSERT_LE(got, previous) << "x " << x << ", " << path.ToString();
      previous = got;
    }
  }
}

// One head for each position of the two keys; all other keys have weight 0.
TEST(PublicCases, C032_ExpAtEveryPositionOfARow) {
  constexpr int64_t kKeys = 37;
  constexpr int64_t kPositions = kKeys - 1;
  AttentionCase c = PlainCase(1, kKeys);
  c.shape.heads = kPositions;
  c.shape.kv_heads = kPositions;
  c.q = Repeat(1, kPositions);
  for (const float x : kExpArguments) {
    c.k = Repeat(-kInf, kPositions * kKeys);
    c.v = Repeat(0, kPositions * kKeys);
    for (size_t p = 0; p < kPositions; ++p) {
      c.k[p * kKeys + p] = 0.0F;
      c.k[p * kKeys + p + 1] = -x;
      c.v[p * kKeys + p + 1] = 1.0F;
    }
    const PreparedCase prepared(c);
    for (const Path& path : EveryTile()) {
      const std::vector<float> out = prepared.Run(path).out;
      for (size_t p = 0; p < out.size(); ++p) {
        ASSERT_TRUE(IsWeight(out[p], x)) << "position " << p << ", " << path.ToString();
      }
    }
  }
}

AttentionCase C038Case() {
  AttentionCase c = PlainCase(3, 3);
  c.options.causal = true;
  c.q = {1, 2, 3};
  c.k = {1, 5, -2};
  c.v = {1, 10, 100};
  return c;
}

TEST(PublicCases, C038_ScaleZeroIsHonoured) {
  AttentionCase c = C038Case();
  c.options.scale = 0.0F;
  ExpectKnownResult(c, {.out = {1, 5.5, 37}, .out_tolerance = T32(c.v)}, EveryPath());
}

TEST(PublicCases, C038_AbsentScaleIsTheDefault) {
  AttentionCase one = C038Case();
  AttentionCase absent = C038Case();
  absent.options.scale.reset();
  AttentionCase zero = C038Case();
  zero.options.scale = 0.0F;
  for (const Path& path : EveryPath()) {
    const AttentionRun run = PreparedCase(absent).Run(path);
    EXPECT_TRUE(SameBits(run, PreparedCase(one).Run(path))) << path.ToString();
    EXPECT_FALSE(SameBits(run, PreparedCase(zero).Run(path))) << path.ToString();
  }
}

TEST(PublicCases, C038_ScaleThatIsNoNumberIsAnError) {
  AttentionCase c = C038Case();
  c.options.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(PlanAttention(c.shape, c.options).status(), IsInvalid({"scale", "nan"}));
  c.options.scale = -kInf;
  EXPECT_THAT(PlanAttention(c.shape, c.options).status(), IsInvalid({"scale", "inf"}));
}

}  // namespace
}  // namespace lanewise::testing
