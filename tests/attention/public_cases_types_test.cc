// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about f16 and bf16 (group N), and the rows of other groups that ask for
// these types as well: A, B, C, D, F, I and K.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tests/attention/public_cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/half.h"
#include "tests/support/means.h"
#include "tests/support/patterns.h"
#include "tests/support/slices.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr DataType kHalves[] = {DataType::kF16, DataType::kBF16};

// "T" for outputs of `type` over the values `v`.
double T(DataType type, const std::vector<float>& v) {
  return PublicTolerance(type, T32(v) / PublicTolerance(DataType::kF32, 1));
}

// `description` with everything in f16, then in bf16, against known numbers that both types hold,
// and more closely against the reference.
void ExpectInHalves(AttentionCase description, const KnownResult& known) {
  for (const DataType type : kHalves) {
    description.SetTypes(type);
    KnownResult rounded = known;
    if (known.out_tolerance != 0) rounded.out_tolerance = T(type, description.v);
    ExpectKnownResult(description, rounded, EveryTile());
    ExpectMatchesReference(description, EveryTile());
  }
}

TEST(PublicCases, C001_MaskRowThatIsAllFalseInHalves) { ExpectInHalves(C001Case(), C001Result()); }

// C010 with `tail` in all that lies behind the valid keys.
AttentionCase C010Tail(DataType type, int64_t queries, float tail) {
  AttentionCase c = C010Case(queries);
  c.SetTypes(type);
  c.options.causal = queries > 1;
  FillTails(c.k, c.k_sizes(), c.kv_len, tail);
  FillTails(c.v, c.v_sizes(), c.kv_len, tail);
  return c;
}

TEST(PublicCases, C010_WhateverLiesBehindTheValidKeysInHalves) {
  const float all_ones = std::bit_cast<float>(0xFFFFFFFFU);
  for (const DataType type : kHalves) {
    for (const int64_t queries : {1, 5, 33}) {
      const PreparedCase zeros(C010Tail(type, queries, 0));
      const Expectation expected = zeros.FromReference();
      for (const float bad : {kNan, kInf, all_ones}) {
        const PreparedCase poisoned(C010Tail(type, queries, bad));
        for (const Path& path : EveryTile()) {
          const AttentionRun want = zeros.Run(path);
          EXPECT_TRUE(zeros.Agrees(want, expected)) << path.ToString();
          EXPECT_TRUE(SameBits(poisoned.Run(path), want))
              << bad << ", " << path.ToString() << "; " << poisoned.description().ToString();
        }
      }
    }
  }
}

TEST(PublicCases, C025_WeightsSumToExactlyOneInHalves) {
  AttentionCase c = C025Case();
  for (const DataType type : kHalves) {
    c.SetTypes(type);
    c.v = Repeat(1, 5000 * 64);
    const PreparedCase ones(c);
    c.v = Gen(3, 5000 * 64);
    for (float& value : c.v) value = Rounded(type, value);
    const PreparedCase mixed(c);
    for (const Path& path : EveryTile()) {
      EXPECT_EQ(ones.Run(path).out, Repeat(1, 4 * 64)) << path.ToString();
      ExpectInHull(mixed.Run(path).out, c.v, T(type, c.v), path.ToString());
    }
  }
}

// Dot products of 65536 that f16 arithmetic could not hold.
TEST(PublicCases, C027_ScoresBeyondTheRangeOfF16) {
  AttentionCase c = PlainCase(1, 3);
  c.shape.dim = 64;
  c.options.scale = 0.125F;
  c.q = Repeat(32, 64);
  c.k = Repeat(32, 2 * 64);
  c.k.resize(3 * 64, 0.0F);
  c.v = {1, 3, 1000};
  ExpectInHalves(c, {.out = {2}, .lse = {8192 + std::log(2.0)}, .lse_tolerance = 1e-3});
}

// As a bias, which is f32, and as scores.
TEST(PublicCases, C030_LowestNumbersOfHalvesAreOrdinary) {
  const float lowest[] = {-65504.0F, -0x1.FEp127F};
  for (size_t i = 0; i < 2; ++i) {
    AttentionCase c = MeansCase(1, {3, 6, 12});
    c.SetTypes(kHalves[i]);
    c.k = {1, 2, 3};
    c.SetBias({1, 1, 1, 3}, Repeat(lowest[i], 3));
    ExpectKnownResult(c, {.out = {7}}, EveryTile());
    c.options.bias = false;
    c.q = {1};
    c.k = Repeat(lowest[i], 3);
    ExpectKnownResult(c, {.out = {7}}, EveryTile());
  }
}

TEST(PublicCases, C059_WindowInHalves) {
  for (const DataType type : kHalves) {
    for (const int64_t kv_heads : {2, 1}) {
      for (const bool with_bias : {false, true}) {
        AttentionCase c;
        c.shape = {.heads = 2,
                   .kv_heads = kv_heads,
                   .queries = 50,
                   .keys = 50,
                   .dim = 16,
                   .value_dim = 16};
        c.SetTypes(type);
        c.options.causal = true;
        c.options.window = {6, 0};
        c.q = Gen(1, Count(c.q_sizes()));
        c.k = Gen(2, Count(c.k_sizes()));
        c.v = Gen(3, Count(c.v_sizes()));
        if (with_bias) c.SetBias(c.pair_sizes(), Gen(4, Count(c.pair_sizes())));
        ExpectMatchesReference(c, EveryTile());
        for (int64_t row = 0; row < 50; ++row) {
          ExpectMatchesReference(PartOf(c, {{0, 1}, {0, 2}, {row, row + 1}}), EveryTarget());
        }
        const PreparedCase windowed(c);
        c.options.window = {};
        const PreparedCase unlimited(c);
        for (const Path& path : EveryTarget()) {
          const std::vector<float> with = windowed.Run(path).out;
          const std::vector<float> without = unlimited.Run(path).out;
          EXPECT_FALSE(SameBits({with.end() - 16, with.end()}, {without.end() - 16, without.end()}))
              << path.ToString();
        }
      }
    }
  }
}

TEST(PublicCases, C078_AnyElementAlignmentInHalves) {
  for (const DataType type : kHalves) {
    for (const int64_t dim : {3, 7, 11, 15, 19, 37}) {
      AttentionCase c;
      c.shape = {.queries = 18, .keys = 21, .dim = dim, .value_dim = dim};
      c.SetTypes(type);
      c.SetMask({1, 1, 18, 21}, RandomMask(5, 18 * 21, 70));
      c.placement = {.guard = GuardSide::kBefore, .lead = 0};
      const PreparedCase aligned(c);
      const Expectation expected = aligned.FromReference();
      std::vector<AttentionRun> at_zero;
      for (const Path& path : EveryTile()) {
        at_zero.push_back(aligned.Run(path));
        EXPECT_TRUE(aligned.Agrees(at_zero.back(), expected)) << path.ToString();
      }
      for (size_t lead = 1; lead < 16; ++lead) {
        c.placement.lead = lead;
        const PreparedCase moved(c);
        for (size_t i = 0; i < at_zero.size(); ++i) {
          const Path& path = EveryTile()[i];
          EXPECT_TRUE(SameBits(moved.Run(path), at_zero[i]))
              << path.ToString() << "; " << c.ToString() << ", first element at " << lead;
        }
      }
    }
  }
}

TEST(PublicCases, C092_MaskIsHonouredInHalves) {
  AttentionCase c;
  c.shape = {.queries = 1024, .keys = 1024, .dim = 64, .value_dim = 64};
  c.v = Gen(3, Count(c.v_sizes()));
  std::vector<uint8_t> mask = UniformMask(1024, false);
  mask.back() = 1;
  c.SetMask({1, 1, 1, 1024}, mask);
  for (const DataType type : kHalves) {
    c.SetTypes(type);
    std::vector<float> last(c.v.end() - 64, c.v.end());
    for (float& value : last) value = Rounded(type, value);
    std::vector<float> want;
    for (int row = 0; row < 1024; ++row) want.insert(want.end(), last.begin(), last.end());
    const PreparedCase prepared(c);
    for (const Path& path : EveryTile()) {
      EXPECT_TRUE(SameBits(prepared.Run(path).out, want)) << path.ToString();
    }
  }
}

// The mean of two values, in every column of every row.
void ExpectMeanOfTwo(DataType type, float first, float second, float mean) {
  for (const int64_t queries : {1, 3, 20}) {
    AttentionCase c = PlainCase(queries, 2);
    c.SetTypes(type);
    c.shape.value_dim = 19;
    c.q = Repeat(0, queries);
    c.v = Repeat(first, 19);
    c.v.resize(2 * 19, second);
    const PreparedCase prepared(c);
    for (const Path& path : EveryTile()) {
      for (const float value : prepared.Run(path).out) {
        EXPECT_TRUE(std::isnan(mean) ? std::isnan(value) : value == mean)
            << value << " from " << first << " and " << second << ", " << path.ToString() << "; "
            << c.ToString();
      }
    }
  }
}

TEST(PublicCases, C100_OutputsAreRoundedToNearestEven) {
  for (const DataType type : kHalves) {
    const float step = type == DataType::kF16 ? 0x1p-10F : 0x1p-7F;
    ExpectMeanOfTwo(type, 1, 1 + step, 1);
    ExpectMeanOfTwo(type, 1 + step, 1 + 2 * step, 1 + 2 * step);
    ExpectMeanOfTwo(type, -1 - step, -1 - 2 * step, -1 - 2 * step);
    ExpectMeanOfTwo(type, kNan, 1, kNan);
    ExpectMeanOfTwo(type, 1, kNan, kNan);
    ExpectMeanOfTwo(type, kInf, 1, kInf);
  }
}

TEST(PublicCases, C103_MixedTypes) {
  const struct {
    DataType q, k, v;
  } mixes[] = {{DataType::kF32, DataType::kF16, DataType::kF16},
               {DataType::kBF16, DataType::kF32, DataType::kF32},
               {DataType::kF16, DataType::kF16, DataType::kBF16},
               {DataType::kF32, DataType::kF16, DataType::kBF16}};
  for (const auto& mix : mixes) {
    for (const DataType out : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
      for (const int64_t queries : {1, 37}) {
        AttentionCase c;
        c.shape = {.batch = 2,
                   .heads = 4,
                   .kv_heads = 2,
                   .queries = queries,
                   .keys = 61,
                   .dim = 24,
                   .value_dim = 17};
        c.shape.q_type = mix.q;
        c.shape.k_type = mix.k;
        c.shape.v_type = mix.v;
        c.shape.out_type = out;
        ExpectMatchesReference(c, EveryTile());
      }
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
