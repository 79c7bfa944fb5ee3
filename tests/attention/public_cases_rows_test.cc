// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about rows without keys (group A), about partial blocks and NaN (group B),
// and about the log-sum-exp (group H). C009 and C010 are in public_cases_hidden_test.cc.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/attention/public_cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

TEST(PublicCases, C001_MaskRowThatIsAllFalse) {
  ExpectKnownResult(C001Case(), C001Result(), EveryPath());
}

// Row 0 sees key 0 by causality, and the others by the mask.
TEST(PublicCases, C002_CausalAndMaskTogetherEmptyARow) {
  AttentionCase c = MeansCase(3, {3, 6, 12});
  c.options.causal = true;
  c.SetMask({1, 1, 3, 3}, {0, 1, 1, 1, 1, 1, 1, 1, 1});
  ExpectMeans(c, {0, 4.5, 7});
  c.options.mask = false;
  c.SetBias({1, 1, 3, 3}, AsBias(c.mask));
  ExpectMeans(c, {0, 4.5, 7});
}

TEST(PublicCases, C004_MoreCausalQueriesThanKeys) {
  AttentionCase c = PlainCase(5, 2);
  c.options.causal = true;
  c.q = Repeat(0, 5);
  c.v = {1, 3};
  ExpectKnownResult(c,
                    {.out = {0, 0, 0, 1, 2},
                     .lse = {kMinusInfinity, kMinusInfinity, kMinusInfinity, 0, std::log(2.0)},
                     .lse_tolerance = 1e-6},
                    EveryPath());
}

TEST(PublicCases, C006_ZeroKeys) {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 3, .keys = 0, .dim = 4, .value_dim = 5};
  for (const bool causal : {false, true}) {
    c.options.causal = causal;
    ExpectKnownResult(
        c, {.out = std::vector<double>(30, 0.0), .lse = std::vector<double>(6, kMinusInfinity)},
        EveryPath());
  }
}

// A cache of which no slot is valid.
TEST(PublicCases, C006_NoValidKeyOfACapacity) {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 3, .keys = 8, .dim = 4, .value_dim = 5};
  c.k = Repeat(kNan, 64);
  c.v = Repeat(kNan, 80);
  c.SetKvLen({0});
  for (const bool causal : {false, true}) {
    c.options.causal = causal;
    ExpectKnownResult(
        c, {.out = std::vector<double>(30, 0.0), .lse = std::vector<double>(6, kMinusInfinity)},
        EveryPath());
  }
}

TEST(PublicCases, C006_ZeroKeysMayBeNull) {
  const std::vector<float> q = Gen(1, 24);
  for (const Path& path : EveryPath()) {
    std::vector<float> out = Repeat(kNan, 30);
    std::vector<float> lse = Repeat(kNan, 6);
    AttentionTensors tensors;
    tensors.q = ConstTensor(q.data(), {1, 2, 3, 4});
    tensors.k = ConstTensor(static_cast<const float*>(nullptr), {1, 2, 0, 4});
    tensors.v = ConstTensor(static_cast<const float*>(nullptr), {1, 2, 0, 5});
    tensors.out = Tensor(out.data(), {1, 2, 3, 5});
    AttentionOptions options;
    options.lse = path.lse;
    options.weights = path.weights;
    if (path.lse) tensors.lse = Tensor(lse.data(), {1, 2, 3, 1});
    if (path.weights) tensors.weights = Tensor(static_cast<float*>(nullptr), {1, 2, 3, 0});
    const AttentionShape shape = {
        .heads = 2, .kv_heads = 2, .queries = 3, .keys = 0, .dim = 4, .value_dim = 5};
    const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message() << "\n" << path.ToString();
    EXPECT_EQ(out, Repeat(0, 30)) << path.ToString();
    if (path.lse) {
      EXPECT_EQ(lse, Repeat(static_cast<float>(kMinusInfinity), 6)) << path.ToString();
    }
  }
}

struct MergedRow {
  float out;
  float lse;
};

MergedRow Merge(const AttentionRun& a, const AttentionRun& b) {
  const Sizes sizes = {1, 1, 1, 1};
  const AttentionPart parts[] = {
      {ConstTensor(a.out.data(), sizes), ConstTensor(a.lse.data(), sizes)},
      {ConstTensor(b.out.data(), sizes), ConstTensor(b.lse.data(), sizes)}};
  MergedRow merged = {kNan, kNan};
  const Status status =
      MergeAttention(parts, 2, Tensor(&merged.out, sizes), Tensor(&merged.lse, sizes));
  EXPECT_TRUE(status.ok()) << status.message();
  return merged;
}

TEST(PublicCases, C008_MergingWithAnEmptyPartialResult) {
  AttentionCase none = MeansCase(1, {});
  none.options.lse = true;
  AttentionCase two = MeansCase(1, {4, 6});
  two.options.lse = true;
  AttentionCase no_valid_one = two;
  no_valid_one.SetKvLen({0});
  for (const Path& path : EveryPath()) {
    const AttentionRun b = PreparedCase(two).Run(path);
    EXPECT_EQ(b.out.at(0), 5.0F) << path.ToString();
    EXPECT_NEAR(b.lse.at(0), 0.69314718, 1e-7) << path.ToString();
    for (const AttentionCase& empty : {none, no_valid_one}) {
      const AttentionRun a = PreparedCase(empty).Run(path);
      EXPECT_EQ(a.out.at(0), 0.0F) << path.ToString();
      EXPECT_EQ(a.lse.at(0), kMinusInfinity) << path.ToString();
      for (const MergedRow& merged : {Merge(a, b), Merge(b, a)}) {
        EXPECT_EQ(merged.out, 5.0F) << path.ToString();
        EXPECT_NEAR(merged.lse, 0.69314718, 1e-7) << path.ToString();
      }
      EXPECT_EQ(Merge(a, a).out, 0.0F) << path.ToString();
      EXPECT_EQ(Merge(a, a).lse, kMinusInfinity) << path.ToString();
    }
  }
}

// K and V end at an inaccessible page; in the second variant readable memory full of large numbers
// follows instead.
TEST(PublicCases, C014_EveryKeyCount) {
  constexpr int64_t kKeyCounts[] = {1,  2,  3,  5,  7,  8,  9,   15,  16,  17,  31,  32, 33,
                                    38, 39, 63, 64, 65, 70, 127, 129, 255, 257, 511, 513};
  constexpr int64_t kDim = 8;
  constexpr int64_t kFollowing = 64;
  for (const int64_t keys : kKeyCounts) {
    for (const int64_t queries : {1, 2, 3}) {
      AttentionCase c;
      c.shape = {.queries = queries, .keys = keys, .dim = kDim, .value_dim = kDim};
      const PreparedCase prepared(c);
      const Expectation expected = prepared.FromReference();
      std::vector<float> k = Gen(2, keys * kDim);
      std::vector<float> v = Gen(3, keys * kDim);
      k.resize(k.size() + kFollowing, 1e30F);
      v.resize(v.size() + kFollowing, 1e30F);
      for (const Path& path : EveryTile()) {
        const AttentionRun run = prepared.Run(path);
        EXPECT_TRUE(prepared.Agrees(run, expected)) << path.ToString();

        std::vector<float> out = Repeat(kNan, queries * kDim);
        AttentionTensors tensors = prepared.inputs();
        tensors.k = ConstTensor(k.data(), c.k_sizes());
        tensors.v = ConstTensor(v.data(), c.v_sizes());
        tensors.out = Tensor(out.data(), c.out_sizes());
        const Result<PlanExplanation> result = RunOnPath(c.shape, c.options, path, tensors);
        ASSERT_TRUE(result.ok()) << result.status().message();
        EXPECT_TRUE(SameBits(out, run.out)) << path.ToString() << "; " << c.ToString();
      }
    }
  }
}

// The same with a mask that ends at an inaccessible page as well.
TEST(PublicCases, C014_EveryKeyCountUnderAMask) {
  for (int64_t keys = 1; keys <= 70; ++keys) {
    for (const int64_t queries : {1, 3}) {
      AttentionCase c;
      c.shape = {.queries = queries, .keys = keys, .dim = 8, .value_dim = 8};
      c.SetMask(c.pair_sizes(), RandomMask(5, queries * keys, 60));
      ExpectMatchesReference(c, EveryTile());
      c.SetMask({1, 1, 1, keys}, RandomMask(6, keys, 60));
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

AttentionCase C015Case() {
  AttentionCase c;
  c.shape = {.queries = 16, .keys = 16, .dim = 8, .value_dim = 8};
  c.options.scale = 1.0F;
  c.q = Gen(1, 128);
  c.k = Gen(2, 128);
  c.v = Gen(3, 128);
  return c;
}

// Is exactly what `concerns(row, column)` says NaN, and the rest as in `clean`?
template <typename Concerns>
void ExpectNanOnlyWhere(const std::vector<float>& got, const std::vector<float>& clean,
                        const Concerns& concerns) {
  ASSERT_EQ(got.size(), clean.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (concerns(i / 8, i % 8)) {
      EXPECT_TRUE(std::isnan(got[i])) << "row " << i / 8 << " column " << i % 8 << ": " << got[i];
    } else {
      EXPECT_TRUE(SameBits({got[i]}, {clean[i]})) << "row " << i / 8 << " column " << i % 8;
    }
  }
}

TEST(PublicCases, C015_NanInAQuery) {
  AttentionCase c = C015Case();
  const PreparedCase clean(c);
  for (size_t d = 0; d < 8; ++d) c.q[5 * 8 + d] = kNan;
  const PreparedCase poisoned(c);
  for (const Path& path : EveryPath()) {
    SCOPED_TRACE(path.ToString());
    ExpectNanOnlyWhere(poisoned.Run(path).out, clean.Run(path).out,
                       [](size_t row, size_t /*column*/) { return row == 5; });
  }
}

TEST(PublicCases, C015_NanInAValue) {
  AttentionCase c = C015Case();
  const PreparedCase clean(c);
  c.v[3 * 8 + 2] = kNan;
  const PreparedCase poisoned(c);
  for (const Path& path : EveryPath()) {
    SCOPED_TRACE(path.ToString());
    ExpectNanOnlyWhere(poisoned.Run(path).out, clean.Run(path).out,
                       [](size_t /*row*/, size_t column) { return column == 2; });
  }
}

TEST(PublicCases, C015_NanInAKey) {
  AttentionCase c = C015Case();
  const PreparedCase clean(c);
  c.k[3 * 8 + 0] = kNan;
  const PreparedCase poisoned(c);
  for (const Path& path : EveryPath()) {
    SCOPED_TRACE(path.ToString());
    ExpectNanOnlyWhere(poisoned.Run(path).out, clean.Run(path).out,
                       [](size_t /*row*/, size_t /*column*/) { return true; });
  }
}

TEST(PublicCases, C071_LogSumExpIsNatural) {
  AttentionCase four = PlainCase(1, 4);
  four.q = {0};
  four.v = {1, 1, 1, 1};
  ExpectKnownResult(four, {.out = {1}, .lse = {1.38629436}, .lse_tolerance = 1e-6}, EveryPath());
  AttentionCase one = PlainCase(1, 1);
  one.q = {1};
  one.k = {2.5F};
  one.v = {1};
  ExpectKnownResult(one, {.out = {1}, .lse = {2.5}, .lse_tolerance = 1e-6}, EveryPath());
}

}  // namespace
}  // namespace lanewise::testing
