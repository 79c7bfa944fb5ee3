// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about extreme scores, exp, softcap and the scale (group D).

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "tests/support/means.h"
#include "tests/support/mentions.h"

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

// As a bias and as a score.
TEST(PublicCases, C029_NoWeightLeaksFromVeryLowScores) {
  AttentionCase c = PlainCase(1, 3);
  c.q = {1};
  c.v = {0, 0, 1e35F};
  for (const float low : {-1e9F, -kInf}) {
    c.options.bias = false;
    c.k = {1, 2, low};
    ExpectKnownResult(c, {.out = {0}}, EveryPath());
    c.k = {1, 2, 0};
    c.SetBias({1, 1, 1, 3}, {0, 0, low});
    ExpectKnownResult(c, {.out = {0}}, EveryPath());
  }
}

TEST(PublicCases, C030_EquallyLowScoresAreOrdinary) {
  for (const float low : {-40000.0F, -1e9F, -1e30F, -FLT_MAX}) {
    AttentionCase c = MeansCase(1, {3, 6, 12});
    c.q = {1};
    c.k = {low, low, low};
    ExpectMeans(c, {7});
    c.q = {0};
    c.k = {1, 2, 3};
    c.SetBias({1, 1, 1, 3}, {low, low, low});
    ExpectMeans(c, {7});
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

// One head for each position of the two keys; all others have no weight: by a score of -inf, or by
// a bias.
TEST(PublicCases, C032_ExpAtEveryPositionOfARow) {
  constexpr int64_t kKeys = 37;
  constexpr int64_t kPositions = kKeys - 1;
  AttentionCase c = PlainCase(1, kKeys);
  c.shape.heads = kPositions;
  c.shape.kv_heads = kPositions;
  c.q = Repeat(1, kPositions);
  for (const float x : kExpArguments) {
    std::vector<float> scores = Repeat(-kInf, kPositions * kKeys);
    c.v = Repeat(0, kPositions * kKeys);
    for (size_t p = 0; p < kPositions; ++p) {
      scores[p * kKeys + p] = 0.0F;
      scores[p * kKeys + p + 1] = -x;
      c.v[p * kKeys + p + 1] = 1.0F;
    }
    AttentionCase by_bias = c;
    by_bias.k = Repeat(0, kPositions * kKeys);
    by_bias.SetBias({1, kPositions, 1, kKeys}, scores);
    AttentionCase by_score = c;
    by_score.k = scores;
    for (const AttentionCase& way : {by_bias, by_score}) {
      const PreparedCase prepared(way);
      for (const Path& path : EveryTile()) {
        const std::vector<float> out = prepared.Run(path).out;
        for (size_t p = 0; p < out.size(); ++p) {
          ASSERT_TRUE(IsWeight(out[p], x)) << "position " << p << ", " << path.ToString();
        }
      }
    }
  }
}

// Key 1 is hidden by a mask, a bias, causality, a window and the valid length.
TEST(PublicCases, C034_SoftcapComesBeforeHiding) {
  AttentionCase c = PlainCase(1, 2);
  c.q = {10};
  c.k = {1, 1};
  c.v = {1, 100};
  c.options.softcap = 1.0F;
  std::vector<AttentionCase> cases(5, c);
  cases[0].SetMask({1, 1, 1, 2}, {1, 0});
  cases[1].SetBias({1, 1, 1, 2}, {0, -kInf});
  cases[2].options.causal = cases[2].options.top_left = true;
  cases[3].options.window = {kUnlimited, 0};
  cases[3].options.top_left = true;
  cases[4].SetKvLen({1});
  for (const AttentionCase& one : cases) {
    ExpectKnownResult(one, {.out = {1}, .lse = {std::tanh(10.0)}, .lse_tolerance = 1e-6},
                      EveryPath());
  }
}

TEST(PublicCases, C036_SoftcapZeroIsOff) {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 19, .keys = 35, .dim = 12, .value_dim = 9};
  const PreparedCase absent(c);
  c.options.softcap = 0.0F;
  const PreparedCase zero(c);
  c.options.softcap = 0.5F;
  const PreparedCase half(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(zero.Run(path), absent.Run(path))) << path.ToString();
    EXPECT_FALSE(SameBits(half.Run(path), absent.Run(path))) << path.ToString();
  }
}

TEST(PublicCases, C036_SoftcapThatIsNoCapIsAnError) {
  AttentionOptions options;
  options.softcap = -1.0F;
  EXPECT_THAT(PlanAttention(PlainCase(1, 1).shape, options).status(), IsInvalid({"softcap", "-1"}));
  options.softcap = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(PlanAttention(PlainCase(1, 1).shape, options).status(),
              IsInvalid({"softcap", "nan"}));
  for (const float infinite : {kInf, -kInf}) {
    options.softcap = infinite;
    EXPECT_THAT(PlanAttention(PlainCase(1, 1).shape, options).status(),
                IsInvalid({"softcap", "inf"}));
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
