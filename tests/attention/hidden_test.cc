// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Keys that a row does not see have no influence on it, whatever hides them, and whatever lies in
// them.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const float kJunk[] = {kNan, kInf, -kInf, 1e38F, -1e38F, std::bit_cast<float>(0xFFFFFFFFU)};

constexpr int64_t kQueries = 45;
constexpr int64_t kKeys = 110;

AttentionCase BaseCase() {
  AttentionCase c;
  c.shape = {.batch = 2,
             .heads = 2,
             .kv_heads = 1,
             .queries = kQueries,
             .keys = kKeys,
             .dim = 9,
             .value_dim = 12};
  c.options.lse = true;
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

// One for each way to hide keys, and some together.
std::vector<AttentionCase> HidingCases() {
  std::vector<AttentionCase> cases(13, BaseCase());
  const Sizes pairs = BaseCase().pair_sizes();
  const int64_t count = Count(pairs);
  cases[0].options.causal = true;
  cases[1].options.window = {20, kUnlimited};
  cases[2].options.window = {kUnlimited, 3};
  cases[3].options.window = {17, 16};
  cases[4].SetKvLen({70, 33});
  cases[5].SetMask(pairs, RandomMask(5, count, 50));
  cases[6].SetMask(pairs, BlockMask(5, pairs, {16, 48}, 40));
  cases[7].SetMask({1, 1, 1, kKeys}, RandomMask(6, kKeys, 50));
  cases[8].SetMask({1, 2, kQueries, 1}, RandomMask(7, 2 * kQueries, 50));
  cases[9].SetBias(pairs, BiasWithHoles(8, count, 1.0F, 60));
  cases[10].SetBias({2, 1, 1, kKeys}, BiasWithHoles(8, 2 * kKeys, 1.0F, 60));
  cases[11].options.causal = true;
  cases[11].options.window = {30, 0};
  cases[11].SetMask({1, 2, kQueries, kKeys}, RandomMask(9, 2 * kQueries * kKeys, 70));
  cases[11].SetSinks({1, -1});
  cases[11].options.softcap = 2.0F;
  cases[12].SetKvLen({60, 100});
  cases[12].options.window = {25, 2};
  cases[12].SetBias({1, 1, kQueries, kKeys}, BiasWithHoles(8, kQueries * kKeys, 1.0F, 20));
  cases[12].SetAlibiSlopes({0.25F, 0.5F});
  return cases;
}

// Key j is spoilt in one case, not in the other.
bool IsSpoilt(size_t key) { return key % 3 == 1 || (key >= 40 && key < 60); }

// For each row, whether it sees a spoilt key.
std::vector<bool> RowsThatSeeSpoiltKeys(const PreparedCase& prepared) {
  std::vector<bool> sees;
  const AttentionCase& c = prepared.description();
  for (int64_t b = 0; b < c.shape.batch; ++b) {
    for (int64_t h = 0; h < c.shape.heads; ++h) {
      for (int64_t i = 0; i < c.shape.queries; ++i) {
        bool row_sees = false;
        for (const reference::SeenKey& key :
             reference::SeenKeys(prepared.inputs(), c.options, {b, h, i})) {
          row_sees |= IsSpoilt(static_cast<size_t>(key.key));
        }
        sees.push_back(row_sees);
      }
    }
  }
  return sees;
}

// Row `row` of dense rows of `columns`.
std::vector<float> RowOf(const std::vector<float>& values, size_t row, int64_t columns) {
  const auto first = values.begin() + static_cast<int64_t>(row) * columns;
  return {first, first + columns};
}

std::vector<AttentionRun> RunEach(const PreparedCase& prepared, const std::vector<Path>& paths) {
  std::vector<AttentionRun> runs;
  for (const Path& path : paths) runs.push_back(prepared.Run(path));
  return runs;
}

// `want` comes from the same path without spoilt keys. Rows that do not see any have the same bits;
// hidden weights are 0 in all rows.
void ExpectNoInfluence(const AttentionRun& want, const PreparedCase& spoilt,
                       const std::vector<bool>& sees, const Path& path) {
  const AttentionRun got = spoilt.Run(path);
  const int64_t columns = spoilt.description().shape.value_dim;
  for (size_t row = 0; row < sees.size(); ++row) {
    if (sees[row]) continue;
    ASSERT_TRUE(SameBits(RowOf(got.out, row, columns), RowOf(want.out, row, columns)))
        << "row " << row << ", " << path.ToString();
    ASSERT_TRUE(SameBits({got.lse[row]}, {want.lse[row]})) << "row " << row << path.ToString();
    if (got.weights.empty()) continue;
    ASSERT_TRUE(SameBits(RowOf(got.weights, row, kKeys), RowOf(want.weights, row, kKeys)))
        << "weights of row " << row << ", " << path.ToString();
  }
  for (size_t i = 0; i < got.weights.size(); ++i) {
    if (want.weights[i] == 0) {
      ASSERT_EQ(got.weights[i], 0.0F) << "weight " << i << ", " << path.ToString();
    }
  }
}

TEST(AttentionHidden, JunkInHiddenKeysAndValues) {
  for (const AttentionCase& c : HidingCases()) {
    const PreparedCase clean(c);
    const std::vector<bool> sees = RowsThatSeeSpoiltKeys(clean);
    const std::vector<AttentionRun> want = RunEach(clean, EveryTile());
    for (const float junk : kJunk) {
      for (const bool in_keys : {true, false}) {
        AttentionCase other = c;
        std::vector<float>& rows = in_keys ? other.k : other.v;
        const size_t width = static_cast<size_t>(in_keys ? c.shape.dim : c.shape.value_dim);
        for (size_t i = 0; i < rows.size(); ++i) {
          // One element of each spoilt row, or all of it.
          const size_t row = i / width;
          if (IsSpoilt(row % kKeys) && (row % 2 == 0 || i % width == row % width)) rows[i] = junk;
        }
        const PreparedCase spoilt(other);
        for (size_t i = 0; i < want.size(); ++i) {
          ExpectNoInfluence(want[i], spoilt, sees, EveryTile()[i]);
          if (HasFatalFailure()) {
            FAIL() << junk << " in " << (in_keys ? "k" : "v") << "; " << c.ToString();
          }
        }
      }
    }
  }
}

// All keys of whole blocks are junk, and no row sees any.
TEST(AttentionHidden, JunkInKeysThatNobodySees) {
  AttentionCase c = BaseCase();
  std::vector<uint8_t> mask = UniformMask(kKeys, true);
  for (size_t j = 0; j < mask.size(); ++j) mask[j] = IsSpoilt(j) ? 0 : 1;
  AttentionCase by_bias = c;
  by_bias.SetBias({1, 1, 1, kKeys}, AsBias(mask));
  c.SetMask({1, 1, 1, kKeys}, mask);
  for (AttentionCase hiding : {c, by_bias}) {
    const std::vector<AttentionRun> want = RunEach(PreparedCase(hiding), EveryPath());
    for (const float junk : kJunk) {
      for (size_t i = 0; i < hiding.k.size(); ++i) {
        if (IsSpoilt(i / 9 % kKeys)) hiding.k[i] = junk;
      }
      for (size_t i = 0; i < hiding.v.size(); ++i) {
        if (IsSpoilt(i / 12 % kKeys)) hiding.v[i] = junk;
      }
      const PreparedCase spoilt(hiding);
      for (size_t i = 0; i < want.size(); ++i) {
        const Path& path = EveryPath()[i];
        EXPECT_TRUE(SameBits(spoilt.Run(path), want[i])) << junk << path.ToString();
      }
    }
  }
}

// The bias of a pair that something else hides.
TEST(AttentionHidden, JunkInTheBiasOfHiddenPairs) {
  for (AttentionCase c : HidingCases()) {
    if (c.options.bias) continue;
    const std::vector<double> weights = PreparedCase(c).FromReference().value.weights;
    c.SetBias(c.pair_sizes(), Repeat(0, Count(c.pair_sizes())));
    const std::vector<AttentionRun> want = RunEach(PreparedCase(c), EveryTile());
    for (const float junk : {kNan, kInf, -kInf, 1e38F}) {
      for (size_t i = 0; i < c.bias.size(); ++i) c.bias[i] = weights[i] == 0 ? junk : 0.0F;
      const PreparedCase spoilt(c);
      for (size_t i = 0; i < want.size(); ++i) {
        const Path& path = EveryTile()[i];
        EXPECT_TRUE(SameBits(spoilt.Run(path), want[i]))
            << junk << ", " << path.ToString() << c.ToString();
      }
    }
  }
}

// A NaN that a row does see is there in every case.
TEST(AttentionHidden, JunkInSeenKeysIsNotHidden) {
  for (const AttentionCase& c : HidingCases()) {
    AttentionCase other = c;
    for (size_t i = 0; i < other.v.size(); ++i) {
      if (IsSpoilt(i / 12 % kKeys)) other.v[i] = kNan;
    }
    ExpectMatchesReference(other, EveryTile());
    other.v = c.v;
    for (size_t i = 0; i < other.k.size(); ++i) {
      if (IsSpoilt(i / 9 % kKeys)) other.k[i] = kNan;
    }
    ExpectMatchesReference(other, EveryTile());
  }
}

// A bias of NaN or +inf on a pair that the row sees makes its row NaN.
TEST(AttentionHidden, BiasThatIsNoNumber) {
  AttentionCase c = BaseCase();
  std::vector<float> bias = Repeat(0, Count(c.pair_sizes()));
  for (size_t row = 0; row < bias.size() / kKeys; row += 4) {
    bias[row * kKeys + row % kKeys] = row % 8 == 0 ? kNan : kInf;
  }
  c.SetBias(c.pair_sizes(), bias);
  ExpectMatchesReference(c, EveryPath());
}

// Masks and biases that hide nothing are no masks.
TEST(AttentionHidden, NothingHiddenIsFullAttention) {
  for (const bool causal : {false, true}) {
    AttentionCase c = BaseCase();
    c.options.causal = causal;
    const PreparedCase full(c);
    for (const Sizes& sizes : {c.pair_sizes(), Sizes{1, 1, 1, kKeys}, Sizes{1, 1, kQueries, 1},
                               Sizes{2, 1, kQueries, kKeys}, Sizes{1, 1, 1, 1}}) {
      AttentionCase masked = c;
      masked.SetMask(sizes, UniformMask(Count(sizes), true));
      AttentionCase biased = c;
      biased.SetBias(sizes, Repeat(0, Count(sizes)));
      AttentionCase valid = c;
      valid.SetKvLen({kKeys, kKeys});
      for (const AttentionCase& other : {masked, biased, valid}) {
        const PreparedCase prepared(other);
        for (const Path& path : EveryTile()) {
          EXPECT_TRUE(SameBits(prepared.Run(path), full.Run(path)))
              << path.ToString() << other.ToString();
        }
      }
    }
  }
}

TEST(AttentionHidden, EverythingHiddenIsZero) {
  AttentionCase c = BaseCase();
  std::vector<AttentionCase> cases(4, c);
  cases[0].SetMask({1, 1, 1, 1}, {0});
  cases[1].SetMask(c.pair_sizes(), UniformMask(Count(c.pair_sizes()), false));
  cases[2].SetBias({1, 1, 1, kKeys}, Repeat(-kInf, kKeys));
  cases[3].SetKvLen({0, 0});
  for (AttentionCase& hidden : cases) {
    for (const bool with_sinks : {false, true}) {
      if (with_sinks) hidden.SetSinks({5, -5});
      const PreparedCase prepared(hidden);
      for (const Path& path : EveryPath()) {
        const AttentionRun run = prepared.Run(path);
        EXPECT_EQ(run.out, Repeat(0, Count(c.out_sizes()))) << path.ToString();
        EXPECT_EQ(run.lse, Repeat(-kInf, Count(c.lse_sizes()))) << path.ToString();
        for (const float weight : run.weights) ASSERT_EQ(weight, 0.0F) << path.ToString();
      }
    }
  }
}

// A mask and the bias that says the same.
TEST(AttentionHidden, MaskIsABiasOfMinusInfinity) {
  AttentionCase c = BaseCase();
  for (const uint32_t percent : {5U, 50U, 95U}) {
    const std::vector<uint8_t> mask = RandomMask(5, Count(c.pair_sizes()), percent);
    AttentionCase masked = c;
    masked.SetMask(c.pair_sizes(), mask);
    AttentionCase biased = c;
    biased.SetBias(c.pair_sizes(), AsBias(mask));
    const PreparedCase by_mask(masked);
    const PreparedCase by_bias(biased);
    const Expectation expected = by_mask.FromReference();
    for (const Path& path : EveryPath()) {
      const AttentionRun run = by_mask.Run(path);
      EXPECT_TRUE(by_mask.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(by_bias.Run(path), run)) << path.ToString();
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
