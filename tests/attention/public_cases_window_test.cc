// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about local attention (group F) and about positions in decode (C067).

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

TEST(PublicCases, C049_WindowCountsKeysBesideTheOwnOne) {
  AttentionCase c = MeansCase(6, {1, 2, 4, 8, 16, 32});
  c.options.window = {2, 0};
  ExpectMeans(c, {1, 1.5, 2.33333333, 4.66666667, 9.33333333, 18.66666667});
}

TEST(PublicCases, C050_WindowIsClippedAtTheEnds) {
  AttentionCase c = MeansCase(7, Ramp(0, 1, 7));
  c.options.window = AttentionWindow::Radius(2);
  ExpectMeans(c, {1, 1.5, 2, 3, 4, 4.5, 5});
}

AttentionCase C051Case() {
  AttentionCase c;
  c.shape = {.queries = 6, .keys = 6, .dim = 5, .value_dim = 4};
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

TEST(PublicCases, C051_RadiusZeroIsTheOwnKey) {
  AttentionCase c = C051Case();
  c.options.window = AttentionWindow::Radius(0);
  const PreparedCase prepared(c);
  for (const Path& path : EveryPath()) {
    const AttentionRun run = prepared.Run(path);
    EXPECT_TRUE(prepared.Agrees(run, prepared.FromReference())) << path.ToString();
    EXPECT_EQ(run.out, c.v) << path.ToString();
  }
}

TEST(PublicCases, C051_AbsentAndUnlimitedAreFullAttention) {
  AttentionCase c = C051Case();
  const PreparedCase absent(c);
  c.options.window = {kUnlimited, kUnlimited};
  const PreparedCase unlimited(c);
  c.options.window = {6, 6};
  const PreparedCase wide(c);
  const Expectation expected = absent.FromReference();
  for (const Path& path : EveryPath()) {
    const AttentionRun full = absent.Run(path);
    EXPECT_TRUE(absent.Agrees(full, expected)) << path.ToString();
    EXPECT_TRUE(SameBits(unlimited.Run(path), full)) << path.ToString();
    EXPECT_TRUE(SameBits(wide.Run(path), full)) << path.ToString();
  }
}

TEST(PublicCases, C053_RightSideCounts) {
  AttentionCase c = MeansCase(5, Ramp(0, 1, 5));
  c.options.window = {1, 1};
  ExpectMeans(c, {0.5, 1, 2, 3, 3.5});
  c.options.window = {kUnlimited, 1};
  ExpectMeans(c, {0.5, 1, 1.5, 2, 2});
  c.options.window = {1, kUnlimited};
  ExpectMeans(c, {2, 2, 2.5, 3, 3.5});
}

TEST(PublicCases, C053_OtherNegativeSidesAreErrors) {
  const AttentionShape shape = PlainCase(5, 5).shape;
  AttentionOptions options;
  options.window = {-3, 1};
  EXPECT_THAT(PlanAttention(shape, options).status(), IsInvalid({"window", "left", "-3"}));
  options.window = {1, -2};
  EXPECT_THAT(PlanAttention(shape, options).status(), IsInvalid({"window", "right", "-2"}));
}

TEST(PublicCases, C054_WindowWorksAlone) {
  AttentionCase c;
  c.shape = {.queries = 64, .keys = 80, .dim = 8, .value_dim = 8};
  c.v = Gen(3, Count(c.v_sizes()));
  c.options.window = {31, 0};
  ExpectMatchesReference(c, EveryPath());
  const PreparedCase wide(c);
  c.options.window = {0, 0};
  ExpectMatchesReference(c, EveryPath());
  const PreparedCase own(c);
  for (const Path& path : EveryPath()) {
    const AttentionRun run = own.Run(path);
    EXPECT_EQ(run.out, std::vector<float>(c.v.begin() + 16 * 8, c.v.end())) << path.ToString();
    EXPECT_FALSE(SameBits(run, wide.Run(path))) << path.ToString();
  }
}

TEST(PublicCases, C055_CausalWithARadius) {
  AttentionCase c = MeansCase(5, Ramp(0, 1, 5));
  c.options.causal = true;
  c.options.window = AttentionWindow::Radius(1);
  ExpectMeans(c, {0, 0.5, 1.5, 2.5, 3.5});
}

AttentionCase C059Case(int64_t kv_heads, bool with_bias) {
  AttentionCase c;
  c.shape = {
      .heads = 2, .kv_heads = kv_heads, .queries = 50, .keys = 50, .dim = 16, .value_dim = 16};
  c.options.causal = true;
  c.options.window = {6, 0};
  c.q = Gen(1, Count(c.q_sizes()));
  if (with_bias) c.SetBias(c.pair_sizes(), Gen(4, Count(c.pair_sizes())));
  return c;
}

TEST(PublicCases, C059_WindowInPrefill) {
  for (const int64_t kv_heads : {2, 1}) {
    for (const bool with_bias : {false, true}) {
      AttentionCase c = C059Case(kv_heads, with_bias);
      ExpectMatchesReference(c, EveryPath());
      const PreparedCase prepared(c);
      c.options.window = {};
      const PreparedCase without(c);
      for (const Path& path : EveryTarget()) {
        const std::vector<float> out = prepared.Run(path).out;
        const std::vector<float> unlimited = without.Run(path).out;
        EXPECT_FALSE(SameBits({out.end() - 16, out.end()}, {unlimited.end() - 16, unlimited.end()}))
            << path.ToString();
      }
    }
  }
}

// Row by row: with the valid length that decode has at that row, and with an offset.
TEST(PublicCases, C059_WindowInDecode) {
  for (const int64_t kv_heads : {2, 1}) {
    for (const bool with_bias : {false, true}) {
      const AttentionCase whole = C059Case(kv_heads, with_bias);
      const PreparedCase prefill(whole);
      // Paths that fix the variant: it follows from the number of rows.
      std::vector<std::vector<float>> all;
      for (const Path& path : EveryTile()) all.push_back(prefill.Run(path).out);
      for (int64_t row = 0; row < 50; ++row) {
        AttentionCase decode = whole;
        decode.shape.queries = 1;
        decode.q.clear();
        std::vector<float> bias;
        for (int64_t h = 0; h < 2; ++h) {
          const auto query = whole.q.begin() + (h * 50 + row) * 16;
          decode.q.insert(decode.q.end(), query, query + 16);
          if (!with_bias) continue;
          const auto pairs = whole.bias.begin() + (h * 50 + row) * 50;
          bias.insert(bias.end(), pairs, pairs + 50);
        }
        if (with_bias) decode.SetBias({1, 2, 1, 50}, bias);
        AttentionCase by_offset = decode;
        by_offset.options.query_offset = row;
        decode.SetKvLen({row + 1});
        for (const AttentionCase& c : {decode, by_offset}) {
          const PreparedCase one(c);
          const Expectation expected = one.FromReference();
          for (size_t i = 0; i < all.size(); ++i) {
            const Path& path = EveryTile()[i];
            const AttentionRun run = one.Run(path);
            EXPECT_TRUE(one.Agrees(run, expected)) << path.ToString();
            for (int64_t h = 0; h < 2; ++h) {
              const auto want = all[i].begin() + (h * 50 + row) * 16;
              EXPECT_TRUE(SameBits({run.out.begin() + h * 16, run.out.begin() + (h + 1) * 16},
                                   {want, want + 16}))
                  << "row " << row << ", head " << h << ", " << path.ToString();
            }
          }
        }
      }
    }
  }
}

TEST(PublicCases, C067_AlibiCountsFromThePositionInDecode) {
  AttentionCase c = MeansCase(1, Ramp(0, 1, 4));
  c.SetAlibiSlopes({0.5F});
  ExpectKnownResult(c, {.out = {2.08457649}, .out_tolerance = T32(c.v)}, EveryPath());
  // As values, these make the output the weights.
  c.v = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  c.shape.value_dim = 4;
  ExpectKnownResult(
      c, {.out = {0.10153632, 0.16740510, 0.27600434, 0.45505423}, .out_tolerance = T32(c.v)},
      EveryPath());
}

// The same at the end of a cache that is longer than its valid part.
TEST(PublicCases, C067_AlibiCountsFromTheValidLength) {
  AttentionCase c = MeansCase(1, Ramp(0, 1, 40));
  c.SetAlibiSlopes({0.5F});
  c.SetKvLen({4});
  ExpectKnownResult(c, {.out = {2.08457649}, .out_tolerance = T32(c.v)}, EveryPath());
}

}  // namespace
}  // namespace lanewise::testing
