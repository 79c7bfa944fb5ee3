// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The bounds hold for plain f32 arithmetic, are tight enough to notice small mistakes, and the
// comparison treats NaN and infinities as it promises.

#include "src/reference/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/array.h"
#include "tests/support/gen.h"
#include "tests/support/half.h"

namespace lanewise::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfinityF = std::numeric_limits<float>::infinity();

// Full attention of one head with random inputs.
struct Problem {
  int64_t queries, keys, dim, value_dim;
  float q_factor;
  std::vector<float> q, k, v;

  Problem(int64_t queries_in, int64_t keys_in, int64_t dim_in, int64_t value_dim_in, float factor)
      : queries(queries_in),
        keys(keys_in),
        dim(dim_in),
        value_dim(value_dim_in),
        q_factor(factor),
        q(testing::Gen(1, queries * dim, factor)),
        k(testing::Gen(2, keys * dim)),
        v(testing::Gen(3, keys * value_dim)) {}

  AttentionTensors tensors() const {
    AttentionTensors tensors;
    tensors.q = ConstTensor(q.data(), {1, 1, queries, dim});
    tensors.k = ConstTensor(k.data(), {1, 1, keys, dim});
    tensors.v = ConstTensor(v.data(), {1, 1, keys, value_dim});
    return tensors;
  }
};

// What a careless f32 implementation may do: keys in descending order, no blocks, scores scaled
// after the sum, one key left out (`skip`, -1: none).
struct PlainF32 {
  std::vector<float> out, lse;

  PlainF32(const Problem& p, float scale, int64_t skip) {
    for (int64_t i = 0; i < p.queries; ++i) {
      std::vector<float> score(static_cast<size_t>(p.keys));
      float max = -std::numeric_limits<float>::infinity();
      for (int64_t j = 0; j < p.keys; ++j) {
        float s = 0;
        for (int64_t d = 0; d < p.dim; ++d) s += At(p.q, i * p.dim + d) * At(p.k, j * p.dim + d);
        score[static_cast<size_t>(j)] = s * scale;
        max = std::max(max, s * scale);
      }
      float sum = 0;
      std::vector<float> row(static_cast<size_t>(p.value_dim));
      for (int64_t j = p.keys; j-- > 0;) {
        if (j == skip) continue;
        const float weight = std::exp(score[static_cast<size_t>(j)] - max);
        sum += weight;
        for (size_t c = 0; c < row.size(); ++c) {
          row[c] += weight * At(p.v, j * p.value_dim + static_cast<int64_t>(c));
        }
      }
      for (const float value : row) out.push_back(value / sum);
      lse.push_back(max + std::log(sum));
    }
  }

  static float At(const std::vector<float>& values, int64_t i) {
    return values[static_cast<size_t>(i)];
  }
};

// The worst error / tolerance of out, stored as `out_type`, and lse.
struct Ratios {
  double out, lse;

  Ratios(const Problem& p, float scale_error, int64_t skip, DataType out_type = DataType::kF32) {
    AttentionOptions options;
    options.scale = 1 / std::sqrt(static_cast<float>(p.dim));
    AttentionTensors tensors = p.tensors();
    tensors.out.type = out_type;
    const AttentionResult expected = reference::Attention(tensors, options);
    const AttentionTolerance tolerance = Tolerance(tensors, options, expected);
    const PlainF32 actual(p, *options.scale * (1 + scale_error), skip);
    testing::Array stored({1, 1, p.queries, p.value_dim}, DenseStrides, {}, out_type);
    stored.Set(actual.out);
    out = Compare(stored.view(), expected.out, tolerance.out).worst_ratio;
    lse = Compare(ConstTensor(actual.lse.data(), {1, 1, p.queries, 1}), expected.lse, tolerance.lse)
              .worst_ratio;
  }
};

std::vector<Problem> Problems() {
  return {{3, 1, 1, 1, 1},     {20, 2, 8, 4, 1},      {20, 16, 64, 16, 1}, {20, 300, 16, 8, 10},
          {4, 2000, 64, 8, 3}, {20, 100, 32, 8, 200}, {4, 500, 256, 4, 50}};
}

TEST(ToleranceTest, HoldsForPlainF32) {
  for (const Problem& problem : Problems()) {
    const Ratios ratios(problem, 0, -1);
    EXPECT_LE(ratios.out, 1) << problem.keys << " keys, dim " << problem.dim;
    EXPECT_LE(ratios.lse, 1) << problem.keys << " keys, dim " << problem.dim;
  }
}

TEST(ToleranceTest, NoticesASmallErrorOfTheScale) {
  for (const Problem& problem : Problems()) {
    if (problem.keys == 1) continue;  // out does not depend on the scale
    EXPECT_GT(Ratios(problem, 5e-3F, -1).out, 1) << problem.keys << " keys, dim " << problem.dim;
  }
}

TEST(ToleranceTest, NoticesAMissingKey) {
  for (const Problem& problem : Problems()) {
    // With large scores most keys have no weight to miss.
    if (problem.keys == 1 || problem.q_factor > 10) continue;
    const Ratios ratios(problem, 0, problem.keys / 2);
    EXPECT_GT(ratios.out, 1) << problem.keys << " keys, dim " << problem.dim;
    EXPECT_GT(ratios.lse, 1) << problem.keys << " keys, dim " << problem.dim;
  }
}

TEST(ToleranceTest, IsZeroWithoutKeysAndInfiniteBeyondF32) {
  Problem problem(2, 3, 4, 5, 1);
  AttentionOptions options;
  options.causal = true;
  options.query_offset = -1;  // the first query sees nothing
  AttentionResult expected = reference::Attention(problem.tensors(), options);
  AttentionTolerance tolerance = Tolerance(problem.tensors(), options, expected);
  for (size_t c = 0; c < 5; ++c) {
    EXPECT_EQ(tolerance.out[c], 0);
    EXPECT_GT(tolerance.out[5 + c], 0);
  }
  EXPECT_EQ(tolerance.lse[0], 0);
  EXPECT_GT(tolerance.lse[1], 0);

  std::fill(problem.v.begin(), problem.v.end(), 3e38F);
  expected = reference::Attention(problem.tensors(), {});
  tolerance = Tolerance(problem.tensors(), {}, expected);
  EXPECT_THAT(tolerance.out, ::testing::Each(kInfinity));
  EXPECT_LT(tolerance.lse[0], 1e-4);
  std::fill(problem.q.begin(), problem.q.end(), 3e38F);
  std::fill(problem.k.begin(), problem.k.end(), 2.0F);
  expected = reference::Attention(problem.tensors(), {});
  EXPECT_THAT(Tolerance(problem.tensors(), {}, expected).lse, ::testing::Each(kInfinity));
}

// Hidden keys and values have no influence on a bound either.
TEST(ToleranceTest, DoesNotReadWhatARowDoesNotSee) {
  Problem problem(3, 3, 4, 5, 1);
  AttentionOptions options;
  options.causal = true;
  const AttentionResult expected = reference::Attention(problem.tensors(), options);
  const AttentionTolerance before = Tolerance(problem.tensors(), options, expected);
  problem.k[8] = std::numeric_limits<float>::quiet_NaN();
  problem.v[10] = std::numeric_limits<float>::infinity();
  const AttentionTolerance after =
      Tolerance(problem.tensors(), options, reference::Attention(problem.tensors(), options));
  for (size_t at = 0; at < 10; ++at) EXPECT_EQ(after.out[at], before.out[at]) << at;
}

TEST(ToleranceTest, HoldsForRoundedOutputs) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    for (const Problem& problem : Problems()) {
      const Ratios ratios(problem, 0, -1, type);
      EXPECT_LE(ratios.out, 1) << DataTypeName(type) << ", " << problem.keys << " keys";
      EXPECT_LE(ratios.lse, 1) << DataTypeName(type) << ", " << problem.keys << " keys";
    }
  }
}

// One query that sees one key of value `value`, so that the result is `value`.
struct OneValue {
  AttentionResult expected;
  AttentionTolerance tolerance;

  OneValue(DataType out_type, float value) {
    Problem problem(1, 1, 1, 1, 1);
    problem.v = {value};
    AttentionTensors tensors = problem.tensors();
    tensors.out.type = out_type;
    expected = reference::Attention(tensors, {});
    tolerance = Tolerance(tensors, {}, expected);
  }

  bool Allows(DataType out_type, uint16_t bits) const {
    return Compare(ConstTensor(&bits, out_type, {1, 1, 1, 1}), expected.out, tolerance.out).ok();
  }
};

// Of every magnitude: the nearest number passes, numbers further away than it by a step do not.
TEST(ToleranceTest, AllowsNoMoreThanRounding) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    for (uint32_t bits = 0; bits < testing::FormatOf(type).infinity(); bits += 13) {
      const uint16_t nearest = static_cast<uint16_t>(bits);
      const double number = testing::FromHalf(type, nearest);
      if (number >= 0x1p111) break;  // the bound is infinite from where f32 sums may overflow
      const double next = testing::MagnitudeOf(testing::FormatOf(type), bits + 1);
      // Not so near to the midpoint that the bound of f32 reaches it.
      const float value = static_cast<float>(number + 0.49 * (next - number));
      const OneValue one(type, value);
      const std::string where = std::string(DataTypeName(type)) + " " + std::to_string(bits);
      EXPECT_TRUE(one.Allows(type, nearest)) << where;
      EXPECT_FALSE(one.Allows(type, static_cast<uint16_t>(bits + 1))) << where;
      const bool has_lower = bits > 0;
      EXPECT_FALSE(has_lower && one.Allows(type, static_cast<uint16_t>(bits - 1))) << where;
      const OneValue negative(type, -value);
      EXPECT_TRUE(negative.Allows(type, static_cast<uint16_t>(bits | 0x8000U))) << where;
      EXPECT_FALSE(negative.Allows(type, static_cast<uint16_t>((bits + 1) | 0x8000U))) << where;
    }
  }
}

TEST(ToleranceTest, InfinityIsRightWhereANumberRoundsToIt) {
  const struct {
    DataType type;
    float value;
    uint16_t largest;
    bool allows_largest;
    bool allows_infinity;
  } cases[] = {{DataType::kF16, 65504.0F, 0x7BFF, true, false},
               {DataType::kF16, 65519.0F, 0x7BFF, true, false},
               {DataType::kF16, 65519.99F, 0x7BFF, true, true},  // f32 arithmetic may reach 65520
               {DataType::kF16, 65520.0F, 0x7BFF, true, true},
               {DataType::kF16, 65521.0F, 0x7BFF, false, true},
               {DataType::kF16, 1e30F, 0x7BFF, false, true},
               {DataType::kBF16, 0x1.FEp110F, 0x7F7F, false, false}};
  for (const auto& c : cases) {
    const uint16_t infinity = static_cast<uint16_t>(testing::FormatOf(c.type).infinity());
    for (const float sign : {1.0F, -1.0F}) {
      const OneValue one(c.type, sign * c.value);
      const unsigned sign_bit = sign < 0 ? 0x8000U : 0U;
      EXPECT_EQ(one.Allows(c.type, static_cast<uint16_t>(c.largest | sign_bit)), c.allows_largest)
          << sign * c.value;
      EXPECT_EQ(one.Allows(c.type, static_cast<uint16_t>(infinity | sign_bit)), c.allows_infinity)
          << sign * c.value;
      EXPECT_FALSE(one.Allows(c.type, static_cast<uint16_t>(infinity | (sign_bit ^ 0x8000U))))
          << sign * c.value;
      EXPECT_FALSE(one.Allows(c.type, 0x7FFF)) << sign * c.value;
    }
  }
}

TEST(CompareTest, ReadsEveryType) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    testing::Array array({2, 1, 2, 3}, testing::PaddedStrides, {}, type);
    const std::vector<double> expected = {0, -1, 0x1p-14, 3, 2.5, -0.0, 7, 8, 9, kInfinity, 1, 2};
    array.Set({expected.begin(), expected.end()});
    EXPECT_TRUE(Compare(array.view(), expected, std::vector<double>(12, 0)).ok())
        << DataTypeName(type);
    std::vector<double> other = expected;
    other[10] = 1.5;
    const Comparison comparison = Compare(array.view(), other, std::vector<double>(12, 0.25));
    EXPECT_EQ(comparison.failures, 1) << DataTypeName(type);
    EXPECT_EQ(comparison.worst.index, (Sizes{1, 0, 1, 1})) << DataTypeName(type);
    EXPECT_EQ(comparison.worst.actual, 1) << DataTypeName(type);
  }
}

// Unless the caller's bound reaches the infinity, a number is expected.
TEST(CompareTest, AnInfinityOfAHalfNeedsABoundThatReachesIt) {
  const uint16_t infinity = 0x7C00;
  const ConstTensor actual(&infinity, DataType::kF16, {1, 1, 1, 1});
  EXPECT_FALSE(Compare(actual, {65000.0}, {1.0}).ok());
  EXPECT_TRUE(Compare(actual, {65520.0}, {16.0}).ok());
  EXPECT_TRUE(Compare(actual, {1e9}, {0.0}).ok());
  EXPECT_FALSE(Compare(actual, {-1e9}, {0.0}).ok());
  EXPECT_TRUE(Compare(actual, {kInfinity}, {0.0}).ok());
  EXPECT_FALSE(Compare(actual, {kNan}, {0.0}).ok());
}

TEST(CompareTest, FindsTheLargestAndTheWorst) {
  const float actual[] = {1.5F, 2, 3.25F, 4};
  const Comparison c = Compare(ConstTensor(actual, {1, 2, 1, 2}), {1, 2, 3, 4}, {1, 1, 0.125, 0});
  EXPECT_EQ(c.count, 4);
  EXPECT_EQ(c.failures, 1);
  EXPECT_FALSE(c.ok());
  EXPECT_EQ(c.largest.error, 0.5);
  EXPECT_EQ(c.largest.index, (Sizes{0, 0, 0, 0}));
  EXPECT_EQ(c.worst.index, (Sizes{0, 1, 0, 0}));
  EXPECT_EQ(c.worst_ratio, 2);
  EXPECT_EQ(Describe(c.worst),
            "element [0, 1, 0, 0] is 3.25, expected 3: error 0.25, tolerance 0.125");
}

TEST(CompareTest, FollowsStrides) {
  const float actual[] = {1, 9, 9, 2, 9, 9};
  EXPECT_TRUE(Compare(ConstTensor(actual, {1, 1, 2, 1}, {6, 6, 3, 1}), {1, 2}, {0, 0}).ok());
  EXPECT_TRUE(Compare(ConstTensor(actual, {2, 0, 2, 1}), {}, {}).ok());
}

TEST(CompareTest, AsksForExactlyTheNonFiniteValueExpected) {
  const auto ok = [](double actual, double expected, double tolerance) {
    const float value = static_cast<float>(actual);
    return Compare(ConstTensor(&value, {1, 1, 1, 1}), {expected}, {tolerance}).ok();
  };
  EXPECT_TRUE(ok(kNan, kNan, 0));
  EXPECT_TRUE(ok(kInfinity, kInfinity, 0));
  EXPECT_TRUE(ok(-kInfinity, -kInfinity, 0));
  EXPECT_TRUE(ok(1, 1, 0));
  EXPECT_FALSE(ok(1, kNan, 1e9));
  EXPECT_FALSE(ok(kNan, 1, 1e9));
  EXPECT_FALSE(ok(kInfinity, 1, 1e9));
  EXPECT_FALSE(ok(kInfinity, -kInfinity, 1e9));
  EXPECT_FALSE(ok(1, kInfinity, 1e9));
  EXPECT_FALSE(ok(1.0000001, 1, 0));
  EXPECT_FALSE(ok(1, 2, kNan));
  EXPECT_TRUE(ok(kNan, 1, kInfinity));  // f32 overflowed where the definition does not
  EXPECT_FALSE(ok(1, kInfinity, kInfinity));
  EXPECT_TRUE(ok(kNan, kInfinity, kAnything));
  EXPECT_TRUE(ok(3, kInfinity, kAnything));
}

// exp(-100) is 0 in f32 and not in the definition.
TEST(ToleranceTest, AnInfiniteValueMayVanishWithItsWeight) {
  const float q[] = {1};
  const float v[] = {1, kInfinityF};
  for (const float score : {-50.0F, -100.0F}) {
    const float k[] = {0, score};
    AttentionTensors tensors;
    tensors.q = ConstTensor(q, {1, 1, 1, 1});
    tensors.k = ConstTensor(k, {1, 1, 2, 1});
    tensors.v = ConstTensor(v, {1, 1, 2, 1});
    tensors.out = Tensor(nullptr, DataType::kF32, {1, 1, 1, 1});
    AttentionOptions options;
    options.scale = 1;
    const AttentionResult expected = reference::Attention(tensors, options);
    EXPECT_EQ(expected.out[0], kInfinity);
    const AttentionTolerance bounds = Tolerance(tensors, options, expected);
    EXPECT_EQ(bounds.out[0] == kAnything, score < -86) << score;
  }
}

}  // namespace
}  // namespace lanewise::reference
