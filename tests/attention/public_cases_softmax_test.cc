// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about blockwise softmax (group C).

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/attention/public_cases.h"
#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

// Keys 515 to 575 of 700 count: hidden by a mask, by a bias, and by scores of -inf, which have
// weight 0 as well.
TEST(PublicCases, C018_LeadingBlocksWithoutWeight) {
  std::vector<uint8_t> mask = UniformMask(700, false);
  std::fill(mask.begin() + 515, mask.begin() + 576, uint8_t{1});
  AttentionCase by_mask = MeansCase(1, Ramp(0, 1, 700));
  by_mask.SetMask({1, 1, 1, 700}, mask);
  AttentionCase by_bias = MeansCase(1, Ramp(0, 1, 700));
  by_bias.SetBias({1, 1, 1, 700}, AsBias(mask));
  AttentionCase by_score = MeansCase(1, Ramp(0, 1, 700));
  by_score.q = {1};
  by_score.k = AsBias(mask);
  for (const AttentionCase& c : {by_mask, by_bias, by_score}) {
    ExpectKnownResult(
        c, {.out = {545}, .out_tolerance = T32(c.v), .lse = {4.11087386}, .lse_tolerance = 1e-5},
        EveryPath());
  }
}

TEST(PublicCases, C020_ScoresBelowAnyFiniteSentinel) {
  AttentionCase c = PlainCase(1, 4);
  c.q = {1};
  c.k = {-1000000, -1000001, -1000002, -1000003};
  c.v = {0, 1, 2, 3};
  ExpectKnownResult(
      c,
      {.out = {0.50734727}, .out_tolerance = T32(c.v), .lse = {-999999.5598}, .lse_tolerance = 0.1},
      EveryPath());
  c.v = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  c.shape.value_dim = 4;
  ExpectKnownResult(
      c, {.out = {0.64391426, 0.23688282, 0.08714432, 0.03205860}, .out_tolerance = T32(c.v)},
      EveryPath());
}

TEST(PublicCases, C020_BiasBelowAnyFiniteSentinel) {
  AttentionCase c = MeansCase(1, {3, 6, 12});
  c.SetBias({1, 1, 1, 3}, Repeat(-1e30F, 3));
  ExpectMeans(c, {7});
}

TEST(PublicCases, C022_LaterBlocksHaveMuchLargerScores) {
  AttentionCase c = PlainCase(1, 200);
  c.q = {1};
  c.v = Ramp(1, 1, 200);
  const double tolerance = T32(c.v);

  c.k = Ramp(0, 100, 200);
  ExpectKnownResult(c, {.out = {200}, .out_tolerance = tolerance}, EveryPath());

  c.k = Ramp(19900, -100, 200);
  ExpectKnownResult(c, {.out = {1}, .out_tolerance = tolerance}, EveryPath());

  c.k = Ramp(0, 100, 200);
  for (size_t j = 1; j < c.k.size(); j += 2) c.k[j] = -c.k[j];
  ExpectKnownResult(c, {.out = {199}, .out_tolerance = tolerance}, EveryPath());
}

AttentionCase C024Case() {
  AttentionCase c;
  c.shape = {.queries = 1, .keys = 4096, .dim = 16, .value_dim = 1};
  c.options.scale = 1.0F;
  c.q = Repeat(0, 16);
  c.v = Ramp(0, 1, 4096);
  return c;
}

// Runs `c` with 1, 2, 4 and 8 threads: within tolerance, and the same bits.
void ExpectOnAnyThreads(const AttentionCase& c, const KnownResult& known) {
  ExpectKnownResult(c, known, EveryTile());
  std::vector<Path> paths;
  for (const int threads : {1, 2, 4, 8}) {
    Path path;
    path.runtime.threads = threads;
    path.lse = path.weights = true;
    paths.push_back(path);
  }
  ExpectKnownResult(c, known, paths);
  const PreparedCase prepared(c);
  for (const Path& path : paths) {
    EXPECT_TRUE(SameBits(prepared.Run(path), prepared.Run(paths[0]))) << path.ToString();
  }
}

TEST(PublicCases, C024_WindowAtTheEndOfManyKeys) {
  AttentionCase c = C024Case();
  c.options.window = {7, 0};
  ExpectOnAnyThreads(
      c, {.out = {4091.5}, .out_tolerance = T32(c.v), .lse = {2.07944154}, .lse_tolerance = 1e-6});
}

TEST(PublicCases, C024_OneValidKeyOfMany) {
  AttentionCase c = C024Case();
  c.v = Ramp(7, 1, 4096);
  c.SetKvLen({1});
  ExpectOnAnyThreads(c, {.out = {7}, .lse = {0}});
  c.options.kv_len = false;
  c.options.causal = true;
  c.options.query_offset = 0;
  ExpectOnAnyThreads(c, {.out = {7}, .lse = {0}});
}

TEST(PublicCases, C025_WeightsSumToOneAndResultsStayInTheHull) {
  AttentionCase c = C025Case();
  c.v = Repeat(1, 5000 * 64);
  const PreparedCase ones(c);
  c.v = Gen(3, 5000 * 64);
  const PreparedCase mixed(c);
  for (const Path& path : EveryTile()) {
    for (const float value : ones.Run(path).out) {
      ASSERT_NEAR(value, 1.0, 1e-5) << path.ToString();
    }
    ExpectInHull(mixed.Run(path).out, c.v, T32(c.v), path.ToString());
  }
}

}  // namespace
}  // namespace lanewise::testing
