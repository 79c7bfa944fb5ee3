// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What holds for attention whatever the data: properties that need no reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Sizes that are no multiple of anything, several lane groups and key blocks.
AttentionCase UnevenCase() {
  AttentionCase c;
  c.shape = {.queries = 37, .keys = 101, .dim = 24, .value_dim = 13};
  c.options.scale = 1.0F;
  c.q = Gen(1, Count(c.q_sizes()));
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
  }
}

TEST(AttentionProperties, ValuesOfOneGiveOne) {
  for (const bool causal : {false, true}) {
    AttentionCase c = UnevenCase();
    c.options.causal = causal;
    c.v = Repeat(1, Count(c.v_sizes()));
    const PreparedCase prepared(c);
    for (const Path& path : EveryPath()) {
      SCOPED_TRACE(path.ToString());
      ExpectNear(prepared.Run(path).out, Repeat(1, Count(c.out_sizes())), 1e-6);
    }
  }
}

TEST(AttentionProperties, OrderOfKeyValuePairsDoesNotMatter) {
  AttentionCase c = UnevenCase();
  const PreparedCase in_order(c);
  Expectation expected = in_order.FromReference();
  expected.value.weights.clear();  // these do follow the order
  // 101 is prime, so multiples of 37 reach every key.
  const std::vector<float> k = c.k;
  const std::vector<float> v = c.v;
  for (int64_t j = 0; j < c.shape.keys; ++j) {
    const int64_t from = 37 * j % c.shape.keys;
    std::copy_n(k.begin() + from * c.shape.dim, c.shape.dim, c.k.begin() + j * c.shape.dim);
    std::copy_n(v.begin() + from * c.shape.value_dim, c.shape.value_dim,
                c.v.begin() + j * c.shape.value_dim);
  }
  const PreparedCase permuted(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(permuted.Agrees(permuted.Run(path), expected)) << path.ToString();
  }
}

// Adding one vector to all keys adds a constant to the scores of a row.
TEST(AttentionProperties, ShiftOfAllScoresOfARow) {
  AttentionCase c = UnevenCase();
  const PreparedCase original(c);
  for (size_t i = 0; i < c.k.size(); ++i) {
    c.k[i] += 4.0F * GenValue(5, static_cast<uint32_t>(i) % 24);
  }
  const PreparedCase shifted(c);
  std::vector<double> shifts;
  for (size_t i = 0; i < 37; ++i) {
    double shift = 0.0;
    for (size_t d = 0; d < 24; ++d) {
      shift += double{c.q[i * 24 + d]} * 4.0 * double{GenValue(5, static_cast<uint32_t>(d))};
    }
    shifts.push_back(shift);
  }
  for (const Path& path : EveryPath()) {
    SCOPED_TRACE(path.ToString());
    const AttentionRun before = original.Run(path);
    const AttentionRun after = shifted.Run(path);
    ExpectNear(after.out, before.out, T32(c.v));
    for (size_t i = 0; i < before.lse.size(); ++i) {
      ASSERT_NEAR(after.lse[i], before.lse[i] + shifts[i], 3e-5) << "row " << i;
    }
  }
}

TEST(AttentionProperties, ResultsStayInTheHullOfTheValues) {
  AttentionCase c = UnevenCase();
  c.q = Gen(1, Count(c.q_sizes()), 20.0F);
  const PreparedCase prepared(c);
  const size_t columns = static_cast<size_t>(c.shape.value_dim);
  std::vector<float> min(columns, kInf);
  std::vector<float> max(columns, -kInf);
  for (size_t i = 0; i < c.v.size(); ++i) {
    min[i % columns] = std::min(min[i % columns], c.v[i]);
    max[i % columns] = std::max(max[i % columns], c.v[i]);
  }
  for (const Path& path : EveryPath()) {
    const std::vector<float> out = prepared.Run(path).out;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_GE(out[i], min[i % columns] - 1e-6F) << path.ToString();
      ASSERT_LE(out[i], max[i % columns] + 1e-6F) << path.ToString();
    }
  }
}

TEST(AttentionProperties, ScaleZeroGivesMeans) {
  AttentionCase c = UnevenCase();
  c.options.scale = 0.0F;
  std::vector<double> mean(13, 0.0);
  for (size_t i = 0; i < c.v.size(); ++i) mean[i % 13] += double{c.v[i]} / 101.0;
  KnownResult known = {.out = {}, .out_tolerance = T32(c.v)};
  for (size_t i = 0; i < 37 * 13; ++i) known.out.push_back(mean[i % 13]);
  known.lse.assign(37, std::log(101.0));
  known.lse_tolerance = 1e-6;
  ExpectKnownResult(c, known, EveryPath());
}

TEST(AttentionProperties, NegativeScaleNegatesTheScores) {
  AttentionCase c = UnevenCase();
  const PreparedCase positive(c);
  c.options.scale = -1.0F;
  for (float& value : c.q) value = -value;
  const PreparedCase negative(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(negative.Run(path), positive.Run(path))) << path.ToString();
  }
}

// With queries and keys of one norm, scaled dot product is the Nadaraya-Watson smoother whose
// squared bandwidth is sqrt(dim): exp(-|q-k|^2 / 2h^2) is exp(q·k / h^2) times a constant.
TEST(AttentionProperties, FixedNormsMakeItAGaussianSmoother) {
  AttentionCase c = UnevenCase();
  c.options.scale.reset();
  const size_t dim = static_cast<size_t>(c.shape.dim);
  for (std::vector<float>* rows : {&c.q, &c.k}) {
    for (size_t row = 0; row < rows->size(); row += dim) {
      double norm = 0.0;
      for (size_t d = 0; d < dim; ++d) norm += double{(*rows)[row + d]} * double{(*rows)[row + d]};
      for (size_t d = 0; d < dim; ++d) {
        (*rows)[row + d] = static_cast<float>(3.0 * double{(*rows)[row + d]} / std::sqrt(norm));
      }
    }
  }
  const double h_squared = std::sqrt(static_cast<double>(dim));
  std::vector<float> smoothed;
  for (size_t i = 0; i < 37; ++i) {
    std::vector<double> sum(13, 0.0);
    double total = 0.0;
    for (size_t j = 0; j < 101; ++j) {
      double distance = 0.0;
      for (size_t d = 0; d < dim; ++d) {
        const double difference = double{c.q[i * dim + d]} - double{c.k[j * dim + d]};
        distance += difference * difference;
      }
      const double weight = std::exp(-distance / (2.0 * h_squared));
      total += weight;
      for (size_t col = 0; col < 13; ++col) sum[col] += weight * double{c.v[j * 13 + col]};
    }
    for (const double value : sum) smoothed.push_back(static_cast<float>(value / total));
  }
  const PreparedCase prepared(c);
  for (const Path& path : EveryPath()) {
    SCOPED_TRACE(path.ToString());
    ExpectNear(prepared.Run(path).out, smoothed, T32(c.v));
  }
}

// Whatever lies in keys that no row sees, or that only other rows see.
TEST(AttentionProperties, HiddenKeysHaveNoInfluence) {
  AttentionCase c = UnevenCase();
  c.shape.keys = 45;
  c.k.resize(45 * 24);
  c.v.resize(45 * 13);
  c.options.causal = true;
  c.options.query_offset = -2;
  const PreparedCase clean(c);
  const float all_ones = std::bit_cast<float>(0xFFFFFFFFU);
  for (const float bad : {kNan, kInf, -kInf, 1e38F, -1e38F, all_ones}) {
    for (const bool in_keys : {false, true}) {
      AttentionCase poisoned = c;
      std::vector<float>& rows = in_keys ? poisoned.k : poisoned.v;
      // Key 20 is seen from row 22 on.
      const int64_t width = in_keys ? 24 : 13;
      std::fill(rows.begin() + 20 * width, rows.end(), bad);
      const PreparedCase prepared(poisoned);
      for (const Path& path : EveryTile()) {
        AttentionRun want = clean.Run(path);
        AttentionRun got = prepared.Run(path);
        for (AttentionRun* run : {&want, &got}) {
          run->out.resize(22 * 13);
          run->lse.resize(run->lse.empty() ? 0 : 22);
          run->weights.resize(run->weights.empty() ? 0 : 22 * 45);
        }
        EXPECT_TRUE(SameBits(got, want))
            << "with " << bad << " in " << (in_keys ? "k" : "v") << ", " << path.ToString();
      }
    }
  }
}

// In every lane position, for quiet and signalling NaN of both signs.
TEST(AttentionProperties, AnyNanInAQueryReachesItsRowOnly) {
  for (const uint32_t bits : {0x7FC00000U, 0xFFFFFFFFU, 0x7F800001U, 0xFF800001U}) {
    AttentionCase c = UnevenCase();
    const PreparedCase clean(c);
    for (size_t row = 0; row < 37; row += 3) {
      c.q[row * 24 + (row * 5) % 24] = std::bit_cast<float>(bits);
    }
    const PreparedCase poisoned(c);
    for (const Path& path : EveryTile()) {
      const std::vector<float> want = clean.Run(path).out;
      const std::vector<float> got = poisoned.Run(path).out;
      for (size_t i = 0; i < got.size(); ++i) {
        if (i / 13 % 3 == 0) {
          ASSERT_TRUE(std::isnan(got[i])) << "row " << i / 13 << ", " << path.ToString();
        } else {
          ASSERT_TRUE(SameBits({got[i]}, {want[i]})) << "row " << i / 13 << path.ToString();
        }
      }
    }
  }
}

TEST(AttentionProperties, AnyNanInASeenKeyReachesTheRowsThatSeeIt) {
  for (const uint32_t bits : {0x7FC00000U, 0xFFFFFFFFU, 0x7F800001U, 0xFF800001U}) {
    for (const size_t key : {0U, 1U, 17U, 36U}) {
      AttentionCase c = UnevenCase();
      c.options.causal = true;
      c.options.top_left = true;
      const PreparedCase clean(c);
      c.k[key * 24 + key % 24] = std::bit_cast<float>(bits);
      const PreparedCase poisoned(c);
      for (const Path& path : EveryTile()) {
        const std::vector<float> want = clean.Run(path).out;
        const std::vector<float> got = poisoned.Run(path).out;
        for (size_t i = 0; i < got.size(); ++i) {
          if (i / 13 >= key) {
            ASSERT_TRUE(std::isnan(got[i])) << "row " << i / 13 << ", " << path.ToString();
          } else {
            ASSERT_TRUE(SameBits({got[i]}, {want[i]})) << "row " << i / 13 << path.ToString();
          }
        }
      }
    }
  }
}

// Its weight is exactly 1, wherever the key stands in its block, and other rows see more.
TEST(AttentionProperties, ARowWithOneKeyIsItsValue) {
  AttentionCase c = PlainCase(131, 131);
  c.shape.dim = 16;
  c.shape.value_dim = 19;
  c.q = Gen(1, Count(c.q_sizes()), 8.0F);
  c.k = Gen(2, Count(c.k_sizes()), 8.0F);
  c.v = Gen(3, Count(c.v_sizes()));
  for (const AttentionWindow window :
       {AttentionWindow{0, 0}, AttentionWindow{0, 7}, AttentionWindow{kUnlimited, 0}}) {
    c.options.window = window;
    const PreparedCase prepared(c);
    for (const Path& path : EveryPath()) {
      const std::vector<float> out = prepared.Run(path).out;
      // Rows of the last two windows with one key: the last and the first.
      const size_t first = window.right == 7 ? 130 : 0;
      const size_t last = window.left == kUnlimited ? 0 : 130;
      for (size_t i = first * 19; i < (last + 1) * 19; ++i) {
        ASSERT_EQ(out[i], c.v[i]) << path.ToString() << ", row " << i / 19;
      }
    }
  }
}

// The first score of a row is a bad guess at its largest one: far below it, far above all others,
// or -inf. Rows of a window begin at different keys.
TEST(AttentionProperties, FirstScoresFarFromTheLargest) {
  AttentionCase c = PlainCase(70, 150);
  c.q = Repeat(1, 70);
  c.v = Gen(3, 150);
  c.options.lse = true;
  for (const AttentionWindow window :
       {AttentionWindow{kUnlimited, kUnlimited}, AttentionWindow{40, 25}, AttentionWindow{30, 0}}) {
    c.options.window = window;
    for (const float step : {0.75F, -0.75F, 12.0F, -12.0F}) {
      c.k = Gen(2, 150);
      for (size_t key = 0; key < 150; ++key) c.k[key] += step * static_cast<float>(key);
      const PreparedCase prepared(c);
      const Expectation expected = prepared.FromReference();
      for (const Path& path : EveryPath()) {
        EXPECT_TRUE(prepared.Agrees(prepared.Run(path), expected))
            << path.ToString() << ", step " << step;
      }
    }
    AttentionCase low = c;
    low.k = Gen(2, 150);
    for (size_t key = 0; key < 150; key += 3) low.k[key] = -1e9F;
    AttentionCase lowest = low;
    for (size_t key = 0; key < 150; key += 3) lowest.k[key] = -kInf;
    const Expectation expected = PreparedCase(low).FromReference();
    const PreparedCase prepared(lowest);
    for (const Path& path : EveryPath()) {
      EXPECT_TRUE(prepared.Agrees(prepared.Run(path), expected)) << path.ToString();
    }
  }
}

TEST(AttentionProperties, InfiniteScores) {
  AttentionCase c = PlainCase(2, 50);
  c.q = {1, -1};
  c.k = Gen(2, 50);
  c.k[31] = kInf;  // +inf for row 0, -inf for row 1
  const PreparedCase prepared(c);
  AttentionCase without = c;
  without.k[31] = 1e9F;  // weight 0 for row 1 as well
  const PreparedCase finite(without);
  for (const Path& path : EveryPath()) {
    const AttentionRun run = prepared.Run(path);
    EXPECT_TRUE(std::isnan(run.out.at(0))) << path.ToString();
    EXPECT_TRUE(SameBits({run.out.at(1)}, {finite.Run(path).out.at(1)})) << path.ToString();
  }
}

}  // namespace
}  // namespace lanewise::testing
