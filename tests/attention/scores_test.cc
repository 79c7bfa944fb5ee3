// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What edits scores: softcap, bias, ALiBi, sinks; against the definition, and by what must hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

AttentionCase ScoresCase() {
  AttentionCase c;
  c.shape = {.heads = 4, .kv_heads = 2, .queries = 37, .keys = 101, .dim = 24, .value_dim = 13};
  c.options.scale = 1.0F;
  c.q = Gen(1, Count(c.q_sizes()), 4.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

TEST(AttentionScores, SoftcapOfAnySize) {
  for (const float cap : {1e-30F, 0.01F, 0.5F, 1.0F, 5.0F, 30.0F, 50.0F, 1e4F, 1e10F, 1e30F}) {
    AttentionCase c = ScoresCase();
    c.options.softcap = cap;
    ExpectMatchesReference(c, EveryTile());
    c.options.causal = true;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionScores, SoftcapAtTheEndsOfItsRange) {
  for (const float cap : {FLT_TRUE_MIN, 1e-39F, FLT_MIN, 3e38F, FLT_MAX}) {
    AttentionCase c = ScoresCase();
    c.options.softcap = cap;
    ExpectMatchesReference(c, EveryTile());
  }
}

// One key a head beside one with score 0, so that the weight tells its capped score.
TEST(AttentionScores, SoftcapOverAllArguments) {
  std::vector<float> scores = {0,      1e-30F, -1e-10F, 1e-3F, -0.1F,  0.5F,  0.624F, 0.626F,
                               1.0F,   -3.0F,  5.0F,    -9.0F, 9.9F,   10.1F, 20.0F,  44.0F,
                               -89.0F, 500.0F, -1e4F,   1e10F, -1e30F, kInf,  -kInf};
  const int64_t heads = static_cast<int64_t>(scores.size());
  AttentionCase c = PlainCase(1, 2);
  c.shape.heads = c.shape.kv_heads = heads;
  c.q = Repeat(1, heads);
  c.k.clear();
  for (const float score : scores) c.k.insert(c.k.end(), {score, 0});
  c.v.clear();
  for (int64_t h = 0; h < heads; ++h) c.v.insert(c.v.end(), {1, 0});
  for (const float cap : {1.0F, 2.5F, 20.0F}) {
    c.options.softcap = cap;
    const PreparedCase prepared(c);
    for (const Path& path : EveryPath()) {
      const AttentionRun run = prepared.Run(path);
      for (size_t h = 0; h < scores.size(); ++h) {
        const double capped = double{cap} * std::tanh(double{scores[h]} / double{cap});
        const double weight = 1 / (1 + std::exp(-capped));
        ASSERT_NEAR(run.out[h], weight, 1e-6 * weight * (1 + double{cap}))
            << "score " << scores[h] << ", cap " << cap << ", " << path.ToString();
        if (run.lse.empty()) continue;
        ASSERT_NEAR(run.lse[h], std::log1p(std::exp(capped)), 2e-6 * (1 + double{cap}))
            << "score " << scores[h] << ", cap " << cap << ", " << path.ToString();
      }
    }
  }
}

TEST(AttentionScores, AHugeSoftcapChangesLittle) {
  AttentionCase c = ScoresCase();
  const PreparedCase plain(c);
  c.options.softcap = 1e6F;
  const PreparedCase capped(c);
  for (const Path& path : EveryPath()) {
    const std::vector<float> want = plain.Run(path).out;
    const std::vector<float> got = capped.Run(path).out;
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-5) << i;
  }
}

TEST(AttentionScores, NanPassesTheSoftcap) {
  AttentionCase c = ScoresCase();
  c.options.softcap = 2.0F;
  for (size_t row = 0; row < 4 * 37; row += 3) {
    c.q[row * 24 + row % 24] = std::numeric_limits<float>::quiet_NaN();
  }
  ExpectMatchesReference(c, EveryPath());
}

TEST(AttentionScores, BiasOfAnySize) {
  for (const float factor : {1e-3F, 1.0F, 20.0F, 1e4F}) {
    AttentionCase c = ScoresCase();
    c.SetBias(c.pair_sizes(), Gen(4, Count(c.pair_sizes()), factor));
    ExpectMatchesReference(c, EveryTile());
    c.SetBias(c.pair_sizes(), BiasWithHoles(4, Count(c.pair_sizes()), factor, 50));
    ExpectMatchesReference(c, EveryTile());
  }
}

// One number on all pairs shifts the log-sum-exp and nothing else, as far as sums are exact.
TEST(AttentionScores, AConstantBiasShiftsTheLogSumExp) {
  AttentionCase c = ScoresCase();
  const PreparedCase plain(c);
  c.SetBias({1, 1, 1, 1}, {8.0F});
  const PreparedCase shifted(c);
  for (const Path& path : EveryPath()) {
    const AttentionRun want = plain.Run(path);
    const AttentionRun got = shifted.Run(path);
    for (size_t i = 0; i < want.out.size(); ++i) ASSERT_NEAR(got.out[i], want.out[i], 1e-5);
    for (size_t i = 0; i < want.lse.size(); ++i) ASSERT_NEAR(got.lse[i], want.lse[i] + 8, 1e-5);
  }
}

// The Gaussian kernel smoother (Nadaraya-Watson): scale 1/h^2 and a bias of -|k|^2 / 2h^2.
TEST(AttentionScores, AKeyBiasMakesTheGaussianSmoother) {
  AttentionCase c = ScoresCase();
  c.shape.heads = c.shape.kv_heads = 1;
  c.q = Gen(1, Count(c.q_sizes()), 2.0F);
  c.k = Gen(2, Count(c.k_sizes()), 2.0F);
  c.v = Gen(3, Count(c.v_sizes()));
  const double h_squared = 6.0;
  c.options.scale = static_cast<float>(1 / h_squared);
  std::vector<float> bias;
  for (size_t j = 0; j < 101; ++j) {
    double norm = 0;
    for (size_t d = 0; d < 24; ++d) norm += double{c.k[j * 24 + d]} * double{c.k[j * 24 + d]};
    bias.push_back(static_cast<float>(-norm / (2 * h_squared)));
  }
  c.SetBias({1, 1, 1, 101}, bias);
  std::vector<double> smoothed;
  for (size_t i = 0; i < 37; ++i) {
    std::vector<double> sum(13, 0.0);
    double total = 0;
    for (size_t j = 0; j < 101; ++j) {
      double distance = 0;
      for (size_t d = 0; d < 24; ++d) {
        const double difference = double{c.q[i * 24 + d]} - double{c.k[j * 24 + d]};
        distance += difference * difference;
      }
      const double weight = std::exp(-distance / (2 * h_squared));
      total += weight;
      for (size_t column = 0; column < 13; ++column) {
        sum[column] += weight * double{c.v[j * 13 + column]};
      }
    }
    for (const double value : sum) smoothed.push_back(value / total);
  }
  const PreparedCase prepared(c);
  for (const Path& path : EveryPath()) {
    const std::vector<float> out = prepared.Run(path).out;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_NEAR(out[i], smoothed[i], T32(c.v)) << i << ", " << path.ToString();
    }
  }
}

TEST(AttentionScores, AlibiAtAllPositions) {
  for (const int64_t queries : {1, 37, 101, 150}) {
    AttentionCase c = ScoresCase();
    c.shape.queries = queries;
    c.q = Gen(1, Count(c.q_sizes()), 4.0F);
    // The geometric slopes of 4 heads, some of them reversed or off.
    for (const std::vector<float>& slopes :
         {std::vector<float>{0.25F, 0.0625F, 0.015625F, 0.00390625F}, {-0.25F, 0, 8, -0.01F}}) {
      c.options = {};
      c.SetAlibiSlopes(slopes);
      ExpectMatchesReference(c, EveryTile());
      c.options.causal = true;
      ExpectMatchesReference(c, EveryTile());
      c.options.top_left = true;
      ExpectMatchesReference(c, EveryTile());
      c.options = {};
      c.SetAlibiSlopes(slopes);
      c.options.query_offset = 300;
      ExpectMatchesReference(c, EveryTile());
      c.options.query_offset = -300;
      ExpectMatchesReference(c, EveryTile());
      c.options.window = {400, 390};
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(AttentionScores, AlibiIsABias) {
  AttentionCase c = ScoresCase();
  c.options.scale.reset();
  c.SetAlibiSlopes({0.5F, 0.25F, 0.125F, 0.0625F});
  AttentionCase biased = c;
  biased.options.alibi_slopes = false;
  std::vector<float> bias;
  for (int64_t h = 0; h < 4; ++h) {
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < 101; ++j) {
        const int64_t position = i + 101 - 37;
        const double distance = static_cast<double>(std::abs(position - j));
        bias.push_back(
            static_cast<float>(-double{c.alibi_slopes[static_cast<size_t>(h)]} * distance));
      }
    }
  }
  biased.SetBias(biased.pair_sizes(), bias);
  const PreparedCase by_slope(c);
  const PreparedCase by_bias(biased);
  const Expectation expected = by_bias.FromReference();
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(by_slope.Agrees(by_slope.Run(path), expected)) << path.ToString();
  }
}

TEST(AttentionScores, SlopesOfZeroAreNoSlopes) {
  AttentionCase c = ScoresCase();
  const PreparedCase plain(c);
  c.SetAlibiSlopes(Repeat(0, 4));
  const PreparedCase zero(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(zero.Run(path), plain.Run(path))) << path.ToString();
  }
}

// Far positions: the distance is large, or not even a float.
TEST(AttentionScores, AlibiFarAway) {
  AttentionCase c = ScoresCase();
  c.SetAlibiSlopes({1e-6F, 1e-7F, 1e-9F, 1e-12F});
  for (const int64_t offset :
       {int64_t{1} << 24, (int64_t{1} << 31) + 7, -(int64_t{1} << 40), int64_t{1} << 60}) {
    c.options.query_offset = offset;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionScores, SinksOfAnySize) {
  for (const std::vector<float>& sinks : {std::vector<float>{0, 1, -1, 3},
                                          {10, -10, 30, -30},
                                          {80, 90, 100, 200},
                                          {-80, -90, -100, -1e30F},
                                          {1e4F, -1e4F, 1e30F, -kInf}}) {
    AttentionCase c = ScoresCase();
    c.SetSinks(sinks);
    ExpectMatchesReference(c, EveryPath());
    c.options.causal = true;
    ExpectMatchesReference(c, EveryTile());
  }
}

// out = Σ p v / (1 + e^sink) with one key of score 0; the log-sum-exp includes the sink.
TEST(AttentionScores, SinkByHand) {
  AttentionCase c = MeansCase(1, {6});
  c.SetSinks({std::log(2.0F)});
  ExpectKnownResult(c,
                    {.out = {2},
                     .out_tolerance = 1e-6,
                     .lse = {std::log(1 + std::exp(double{c.sinks[0]}))},
                     .lse_tolerance = 1e-6},
                    EveryPath());
  // Neither scaled nor capped.
  c.options.scale = 0.125F;
  c.options.softcap = 0.5F;
  ExpectKnownResult(c, {.out = {2}, .out_tolerance = 1e-6}, EveryPath());
}

TEST(AttentionScores, ASinkOfMinusInfinityIsNone) {
  AttentionCase c = ScoresCase();
  c.options.window = {10, 0};
  const PreparedCase plain(c);
  c.SetSinks(Repeat(-kInf, 4));
  const PreparedCase none(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(none.Run(path), plain.Run(path))) << path.ToString();
  }
}

// Rows without a key stay 0, rows beside them do not.
TEST(AttentionScores, SinksAndRowsWithoutKeys) {
  AttentionCase c = ScoresCase();
  c.SetSinks({2, -2, 0, 50});
  for (const int64_t offset : {-40, -20, -1}) {
    c.options.causal = true;
    c.options.query_offset = offset;
    ExpectMatchesReference(c, EveryPath());
  }
  c.options.query_offset.reset();
  c.SetMask({1, 1, 37, 101}, BlockMask(5, {1, 1, 37, 101}, {1, 101}, 50));
  ExpectMatchesReference(c, EveryPath());
  c.SetMask({1, 1, 37, 101}, BlockMask(5, {1, 1, 37, 101}, {8, 48}, 30));
  ExpectMatchesReference(c, EveryPath());
}

// A score of -inf is seen, and has weight 0: with a sink the denominator is the sink alone.
TEST(AttentionScores, ScoresOfMinusInfinityBesideASink) {
  AttentionCase c = PlainCase(2, 3);
  c.q = {1, 2};
  c.k = {-kInf, -kInf, -kInf};
  c.v = {1, 2, 3};
  ExpectKnownResult(c, {.out = {0, 0}, .lse = {double{-kInf}, double{-kInf}}}, EveryPath());
  c.SetSinks({1.5F});
  ExpectKnownResult(c, {.out = {0, 0}, .lse = {1.5, 1.5}}, EveryPath());
  c.k[1] = 0;
  ExpectKnownResult(c,
                    {.out = {0.36485105, 0.36485105},
                     .out_tolerance = 1e-6,
                     .lse = {1.70141328, 1.70141328},
                     .lse_tolerance = 1e-6},
                    EveryPath());
}

}  // namespace
}  // namespace lanewise::testing
