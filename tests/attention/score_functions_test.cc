// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Bilinear, additive and Gaussian scores: the definition, everything that follows a score, and by
// what must hold. Numbers calculated by hand are in golden_test.cc.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"
#include "tests/support/slices.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Grouped heads, several lane groups and key blocks, nothing a multiple of anything.
AttentionCase PlainScores() {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 29, .keys = 71, .dim = 13, .value_dim = 10};
  return c;
}

// Every score function, the additive one with and without projections.
std::vector<AttentionCase> EveryScore() {
  std::vector<AttentionCase> cases(6, PlainScores());
  cases[0].SetBilinear(21);
  cases[0].options.scale = 0.5F;
  cases[1].SetGaussian(1.5F);
  cases[2].SetAdditive(19, true, true);
  cases[2].shape.key_dim = 7;
  cases[2].options.scale = -1.5F;
  cases[3].SetAdditive(9, false, true);
  cases[3].shape.key_dim = 17;
  cases[4].SetAdditive(33, true, false);
  cases[5].SetAdditive(12, false, false);
  return cases;
}

TEST(AttentionScoreFunctions, MatchTheDefinition) {
  for (AttentionCase c : EveryScore()) {
    ExpectMatchesReference(c, EveryTile());
    c.weight_strides = PaddedStrides;
    c.q_strides = PackedStrides;
    c.kv_strides = PaddedStrides;
    c.placement.guard = GuardSide::kBefore;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionScoreFunctions, SizesAroundLanesAndTiles) {
  for (const int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 65}) {
    AttentionCase c;
    c.shape = {.queries = size, .keys = 66 - size, .dim = 5, .value_dim = 3};
    AttentionCase bilinear = c;
    bilinear.shape.dim = 34 - size / 2;
    bilinear.SetBilinear(size);
    AttentionCase gaussian = c;
    gaussian.shape.dim = size;
    gaussian.SetGaussian(2);
    AttentionCase additive = c;
    additive.shape.dim = size;
    additive.shape.key_dim = 67 - size;
    additive.SetAdditive(size, true, true);
    for (const AttentionCase& sized : {bilinear, gaussian, additive}) {
      ExpectMatchesReference(sized, EveryTile());
    }
  }
}

TEST(AttentionScoreFunctions, ZeroSizes) {
  for (AttentionCase c : EveryScore()) {
    c.shape.keys = 0;
    ExpectMatchesReference(c, EveryTarget());
    c.shape.queries = 0;
    ExpectMatchesReference(c, EveryTarget());
    c = EveryScore()[1];
    c.shape.value_dim = 0;
    ExpectMatchesReference(c, EveryTarget());
  }
}

// Everything that follows a score, one after the other and together.
std::vector<AttentionCase> WithOptions(const AttentionCase& plain) {
  std::vector<AttentionCase> cases(8, plain);
  const Sizes pairs = plain.pair_sizes();
  cases[0].options.causal = true;
  cases[1].options.window = {12, 3};
  cases[1].options.softcap = 0.7F;
  cases[2].SetMask(pairs, RandomMask(5, Count(pairs), 60));
  cases[3].SetMask(pairs, BlockMask(6, pairs, {16, 24}, 40));
  cases[3].options.causal = true;
  cases[4].SetBias({1, 4, 29, 71}, BiasWithHoles(7, 4 * 29 * 71, 2.0F, 30));
  cases[4].SetAlibiSlopes({0.25F, 0.125F, 0, -0.0625F});
  cases[5].SetKvLen({71, 20});
  cases[5].SetSinks({0, 2, -2, 1});
  cases[6].SetSequences({29, 1, 17}, {50, 9, 12});
  cases[6].options.causal = true;
  cases[7] = cases[4];
  cases[7].SetKvLen({40, 71});
  cases[7].SetMask(pairs, RandomMask(8, Count(pairs), 70));
  cases[7].options.window = {30, kUnlimited};
  cases[7].options.softcap = 2.0F;
  return cases;
}

TEST(AttentionScoreFunctions, WithEveryOption) {
  for (const AttentionCase& plain : EveryScore()) {
    for (const AttentionCase& c : WithOptions(plain)) ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionScoreFunctions, OtherTypes) {
  for (const AttentionCase& plain : EveryScore()) {
    for (const DataType type : {DataType::kF16, DataType::kBF16}) {
      AttentionCase c = plain;
      c.SetTypes(type);
      c.options.causal = true;
      ExpectMatchesReference(c, EveryTile());
      c.shape.q_type = DataType::kF32;
      ExpectMatchesReference(c, EveryTarget());
    }
  }
}

TEST(AttentionScoreFunctions, BitsDependOnTheRowOnly) {
  for (const AttentionCase& plain : EveryScore()) {
    for (AttentionCase& c : WithOptions(plain)) {
      c.options.lse = true;
      c.options.weights = !c.options.ragged;
      c.q = Gen(1, Count(c.q_sizes()));
      c.k = Gen(2, Count(c.k_sizes()));
      c.v = Gen(3, Count(c.v_sizes()));
      const PreparedCase prepared(c);
      for (const std::string& target : TestedTargets()) {
        Path path;
        path.runtime.target = target;
        path.overrides.kv_block = 24;
        const AttentionRun baseline = prepared.Run(path);
        for (const kernels::LanesKernel& tile : TilesOf(target)) {
          path.overrides.tile = std::string(tile.tile);
          for (const int64_t q_groups : {1, 3}) {
            path.overrides.q_groups = q_groups;
            path.overrides.grain = q_groups;
            path.runtime.threads = static_cast<int>(q_groups);
            EXPECT_TRUE(SameBits(prepared.Run(path), baseline)) << path.ToString() << c.ToString();
          }
        }
        if (c.options.ragged) continue;
        for (const CasePart& part :
             {CasePart{{1, 2}, {0, 4}, {0, 29}}, CasePart{{0, 1}, {2, 4}, {7, 18}}}) {
          EXPECT_TRUE(SameBits(PreparedCase(PartOf(c, part)).Run(path), PartOf(baseline, c, part)))
              << path.ToString() << c.ToString();
        }
      }
    }
  }
}

TEST(AttentionScoreFunctions, HiddenKeysHaveNoInfluence) {
  for (AttentionCase c : EveryScore()) {
    c.options.causal = true;
    c.SetKvLen({60, 45});
    c.k = Gen(2, Count(c.k_sizes()));
    c.v = Gen(3, Count(c.v_sizes()));
    const PreparedCase clean(c);
    // The keys after the 45th of the second batch item are not valid, and no row sees them.
    const size_t dim = static_cast<size_t>(c.key_dim());
    for (size_t head = 2; head < 4; ++head) {
      for (size_t key = 45; key < 71; ++key) {
        for (size_t d = 0; d < dim; ++d) c.k[(head * 71 + key) * dim + d] = d % 2 ? kNan : kInf;
        for (size_t d = 0; d < 10; ++d) c.v[(head * 71 + key) * 10 + d] = kNan;
      }
    }
    // The last valid key of the first item is seen by the last query only.
    c.k[59 * dim] = kNan;
    c.v[59 * 10] = kNan;
    const PreparedCase poisoned(c);
    const CasePart before = {{0, 1}, {0, 2}, {0, 28}};
    const CasePart second = {{1, 2}, {0, 4}, {0, 29}};
    for (const Path& path : PathsFor(c, EveryTile())) {
      const AttentionRun want = clean.Run(path);
      const AttentionRun got = poisoned.Run(path);
      EXPECT_TRUE(poisoned.Agrees(got, poisoned.FromReference())) << path.ToString();
      for (const CasePart& part : {before, second}) {
        EXPECT_TRUE(SameBits(PartOf(got, c, part), PartOf(want, c, part))) << path.ToString();
      }
    }
  }
}

// An infinite element saturates tanh, gives products that are infinite or NaN, and is infinitely
// far from any number.
TEST(AttentionScoreFunctions, NotFiniteElements) {
  for (const float value : {kNan, kInf, -kInf}) {
    for (AttentionCase c : EveryScore()) {
      c.q = Gen(1, Count(c.q_sizes()));
      c.k = Gen(2, Count(c.k_sizes()));
      AttentionCase in_query = c;
      in_query.q[5] = value;
      ExpectMatchesReference(in_query, EveryTile());
      c.k[40] = value;
      c.options.window = {9, 9};
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

// With queries and keys of norm 1, dot products over sqrt(dim) are Gaussian scores of a squared
// bandwidth sqrt(dim), but for a constant: ‖q - k‖² = 2 - 2 q·k.
TEST(AttentionScoreFunctions, NormalisedRowsMakeDotProductsGaussian) {
  AttentionCase dot = PlainScores();
  const size_t dim = static_cast<size_t>(dot.shape.dim);
  dot.q = Gen(1, Count(dot.q_sizes()));
  dot.k = Gen(2, Count(dot.k_sizes()));
  for (std::vector<float>* rows : {&dot.q, &dot.k}) {
    for (size_t row = 0; row < rows->size(); row += dim) {
      double norm = 0;
      for (size_t d = 0; d < dim; ++d) norm += double{(*rows)[row + d]} * double{(*rows)[row + d]};
      for (size_t d = 0; d < dim; ++d) {
        (*rows)[row + d] = static_cast<float>((*rows)[row + d] / std::sqrt(norm));
      }
    }
  }
  AttentionCase gaussian = dot;
  gaussian.SetGaussian(static_cast<float>(std::pow(static_cast<double>(dim), 0.25)));
  const PreparedCase smoother(gaussian);
  const PreparedCase attention(dot);
  for (const Path& path : PathsFor(gaussian, EveryPath())) {
    const AttentionRun want = attention.Run(path);
    const AttentionRun got = smoother.Run(path);
    for (size_t i = 0; i < want.out.size(); ++i) ASSERT_NEAR(got.out[i], want.out[i], 1e-6);
    for (size_t i = 0; i < want.lse.size(); ++i) {
      ASSERT_NEAR(got.lse[i], want.lse[i] - 1 / std::sqrt(static_cast<float>(dim)), 2e-6);
    }
  }
}

// A query that equals a key, and a small bandwidth: the nearest key takes all.
TEST(AttentionScoreFunctions, SmallBandwidthsPickTheNearestKey) {
  AttentionCase c;
  c.shape = {.queries = 40, .keys = 40, .dim = 6, .value_dim = 1};
  c.q = c.k = Gen(1, Count(c.q_sizes()));
  c.v = Ramp(1, 1, 40);
  c.SetGaussian(0.01F);
  const PreparedCase prepared(c);
  for (const Path& path : PathsFor(c, EveryPath())) {
    const AttentionRun run = prepared.Run(path);
    for (size_t i = 0; i < 40; ++i) ASSERT_NEAR(run.out[i], c.v[i], 1e-4) << path.ToString();
  }
}

TEST(AttentionScoreFunctions, BandwidthsOfAnySize) {
  for (const float bandwidth : {1e-18F, 1e-3F, 0.3F, 10.0F, 1e10F, 1e25F, 3e38F}) {
    AttentionCase c = PlainScores();
    c.SetGaussian(bandwidth);
    ExpectMatchesReference(c, EveryTile());
  }
}

// Rows far from the origin, as years are, and keys so far away that their distance overflows.
TEST(AttentionScoreFunctions, GaussianScoresKeepTheirPrecisionAnywhere) {
  for (const float centre : {0.0F, 2000.0F, 1e6F, -1e15F}) {
    for (const float bandwidth : {0.3F, 2.0F}) {
      AttentionCase c = PlainScores();
      c.SetGaussian(bandwidth);
      c.q = Gen(1, Count(c.q_sizes()));
      c.k = Gen(2, Count(c.k_sizes()));
      for (std::vector<float>* rows : {&c.q, &c.k}) {
        for (float& x : *rows) x += centre;
      }
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(AttentionScoreFunctions, KeysBeyondAnyDistanceHaveNoWeight) {
  AttentionCase c;
  c.shape = {.queries = 1, .keys = 3, .dim = 2, .value_dim = 1};
  c.q = {0, 0};
  c.k = {1, 0, 3e19F, 0, 0, 1};
  c.v = {1, 2, 4};
  c.SetGaussian(1);
  const PreparedCase prepared(c);
  for (const Path& path : PathsFor(c, EveryTile())) {
    EXPECT_EQ(prepared.Run(path).out[0], 2.5F) << path.ToString();
  }
}

// The unit matrix between them makes a dot product, bit for bit: everything else adds 0.
TEST(AttentionScoreFunctions, BilinearOfTheUnitMatrixIsDot) {
  AttentionCase dot = PlainScores();
  dot.options.scale = 0.25F;
  AttentionCase bilinear = dot;
  bilinear.SetBilinear(13);
  for (size_t i = 0; i < 13 * 13; ++i) bilinear.w.push_back(i % 14 == 0 ? 1.0F : 0.0F);
  const PreparedCase plain(dot);
  const PreparedCase by_matrix(bilinear);
  for (const Path& path : PathsFor(bilinear, EveryTile())) {
    EXPECT_TRUE(SameBits(by_matrix.Run(path), plain.Run(path))) << path.ToString();
  }
}

// Rows that were multiplied before the call give the bits of rows that are multiplied in it, where
// the products are exact.
TEST(AttentionScoreFunctions, ProjectedRowsMayBeCached) {
  AttentionCase c = PlainScores();
  const auto small = [](uint32_t seed, int64_t count) {
    std::vector<float> values = Gen(seed, count);
    for (float& value : values) value = std::round(8 * value) / 8;
    return values;
  };
  c.SetAdditive(11, true, true);
  c.q = small(1, Count(c.q_sizes()));
  c.k = small(2, Count(c.k_sizes()));
  c.wq = small(5, Count(c.wq_sizes()));
  c.wk = small(6, Count(c.wk_sizes()));
  const auto project = [](const std::vector<float>& rows, const std::vector<float>& w, size_t dim) {
    std::vector<float> projected;
    for (size_t row = 0; row < rows.size(); row += dim) {
      for (size_t h = 0; h < 11; ++h) {
        float sum = 0;
        for (size_t d = 0; d < dim; ++d) sum += rows[row + d] * w[h * dim + d];
        projected.push_back(sum);
      }
    }
    return projected;
  };
  AttentionCase cached = c;
  cached.SetAdditive(11, false, false);
  cached.q = project(c.q, c.wq, 13);
  cached.k = project(c.k, c.wk, 13);
  const PreparedCase in_call(c);
  const PreparedCase before(cached);
  for (Path path : PathsFor(c, EveryTile())) {
    path.overrides.kv_block = 32;
    EXPECT_TRUE(SameBits(before.Run(path), in_call.Run(path))) << path.ToString();
  }
}

// Saturated, tiny and cancelling arguments of tanh.
TEST(AttentionScoreFunctions, AdditiveArgumentsOfAnySize) {
  for (const float size : {1e-30F, 1e-6F, 0.1F, 3.0F, 30.0F, 1e10F, 1e30F}) {
    AttentionCase c = PlainScores();
    c.SetAdditive(16, false, false);
    c.q = Gen(1, Count(c.q_sizes()), size);
    c.k = Gen(2, Count(c.k_sizes()), size);
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionScoreFunctions, ThePlanSaysWhyNotFew) {
  for (const AttentionCase& c : EveryScore()) {
    AttentionShape shape = c.shape;
    shape.queries = 1;
    shape.heads = shape.kv_heads;
    const Result<AttentionPlan> plan = PlanAttention(shape, c.options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const PlanExplanation explanation = plan->Explain();
    EXPECT_EQ(explanation.variant, "lanes");
    EXPECT_NE(explanation.ToString().find("few: found score"), std::string::npos);
  }
}

}  // namespace
}  // namespace lanewise::testing
