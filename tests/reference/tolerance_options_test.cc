// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The bounds with options: they hold for plain f32 arithmetic in another order, and are tight
// enough to notice small mistakes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "src/reference/tolerance.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::reference {
namespace {

using lanewise::testing::AttentionCase;
using lanewise::testing::AttentionRun;
using lanewise::testing::BiasWithHoles;
using lanewise::testing::Count;
using lanewise::testing::Expectation;
using lanewise::testing::Gen;
using lanewise::testing::PreparedCase;

constexpr float kInf = std::numeric_limits<float>::infinity();

// What may go wrong with one part of the scores.
struct Mistakes {
  float softcap = 1;  // factors
  float slope = 1;
  float bias = 1;
  float sink = 0;  // added
};

float At(const std::vector<float>& values, int64_t i) { return values[static_cast<size_t>(i)]; }

// One head in f32: scores scaled after the sum, edits with the library's tanh, keys in descending
// order.
class PlainF32 {
 public:
  PlainF32(const AttentionCase& c, const Mistakes& mistakes) : c_(c), mistakes_(mistakes) {
    for (int64_t i = 0; i < c.shape.queries; ++i) AddRow(i);
  }

  const AttentionRun& run() const { return run_; }

 private:
  float Score(int64_t i, int64_t j) const {
    float s = 0;
    for (int64_t d = 0; d < c_.shape.dim; ++d) {
      s += At(c_.q, i * c_.shape.dim + d) * At(c_.k, j * c_.shape.dim + d);
    }
    s *= *c_.options.scale;
    if (c_.options.softcap) {
      const float cap = *c_.options.softcap * mistakes_.softcap;
      s = cap * std::tanh(s / cap);
    }
    if (c_.options.alibi_slopes) {
      const int64_t distance = std::abs(i + c_.shape.keys - c_.shape.queries - j);
      s -= c_.alibi_slopes[0] * mistakes_.slope * static_cast<float>(distance);
    }
    if (c_.options.bias) s += At(c_.bias, i * c_.shape.keys + j) * mistakes_.bias;
    return s;
  }

  void AddRow(int64_t i) {
    const float sink = c_.options.sinks ? c_.sinks[0] + mistakes_.sink : -kInf;
    std::vector<float> scores;
    float max = sink;
    for (int64_t j = 0; j < c_.shape.keys; ++j) {
      scores.push_back(Score(i, j));
      max = std::max(max, scores.back());
    }
    float sum = std::exp(sink - max);
    std::vector<float> row(static_cast<size_t>(c_.shape.value_dim));
    for (int64_t j = c_.shape.keys; j-- > 0;) {
      const float weight = std::exp(At(scores, j) - max);
      sum += weight;
      for (size_t column = 0; column < row.size(); ++column) {
        row[column] += weight * At(c_.v, j * c_.shape.value_dim + static_cast<int64_t>(column));
      }
    }
    for (const float value : row) run_.out.push_back(value / sum);
    run_.lse.push_back(max + std::log(sum));
    for (const float score : scores) run_.weights.push_back(std::exp(score - max) / sum);
  }

  const AttentionCase& c_;
  Mistakes mistakes_;
  AttentionRun run_;
};

AttentionCase EditedCase(float factor) {
  AttentionCase c;
  c.shape = {.queries = 20, .keys = 150, .dim = 16, .value_dim = 6};
  c.options.scale = 0.25F;
  c.q = Gen(1, Count(c.q_sizes()), factor);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

std::vector<AttentionCase> EditedCases() {
  std::vector<AttentionCase> cases;
  for (const float factor : {1.0F, 30.0F, 300.0F}) {
    std::vector<AttentionCase> more(6, EditedCase(factor));
    more[0].options.softcap = 2.0F;
    more[1].SetBias({1, 1, 20, 150}, Gen(4, 20 * 150, 3.0F));
    more[2].SetBias({1, 1, 20, 150}, BiasWithHoles(4, 20 * 150, 1.0F, 60));
    more[3].SetAlibiSlopes({0.0625F});
    more[4].SetSinks({factor / 2});
    more[5].options.softcap = 20.0F;
    more[5].SetBias({1, 1, 20, 150}, BiasWithHoles(4, 20 * 150, 1.0F, 30));
    more[5].SetAlibiSlopes({0.25F});
    more[5].SetSinks({-1});
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

::testing::AssertionResult Holds(const AttentionCase& c, const Mistakes& mistakes) {
  const PreparedCase prepared(c);
  return prepared.Agrees(PlainF32(c, mistakes).run(), prepared.FromReference());
}

TEST(ToleranceOptions, HoldForPlainF32) {
  for (const AttentionCase& c : EditedCases()) EXPECT_TRUE(Holds(c, {}));
}

TEST(ToleranceOptions, NoticeSmallMistakes) {
  for (const AttentionCase& c : EditedCases()) {
    // Large scores leave most of the weight to one key.
    if (std::abs(c.q[0]) > 30.0F) continue;
    std::vector<Mistakes> mistakes;
    if (c.options.softcap == 2.0F) mistakes.push_back({.softcap = 1.003F});
    if (c.options.alibi_slopes) mistakes.push_back({.slope = 1.003F});
    if (c.options.bias) mistakes.push_back({.bias = 1.003F});
    if (c.options.sinks && c.sinks[0] > 0) mistakes.push_back({.sink = 3e-3F});
    for (const Mistakes& mistake : mistakes) EXPECT_FALSE(Holds(c, mistake)) << c.ToString();
  }
}

TEST(ToleranceOptions, NoticeEachWrongWeight) {
  AttentionCase c = EditedCase(3);
  c.SetSinks({1});
  c.options.causal = true;
  const PreparedCase prepared(c);
  const Expectation expected = prepared.FromReference();
  AttentionRun run;
  for (const double value : expected.value.out) run.out.push_back(static_cast<float>(value));
  for (const double value : expected.value.weights) {
    run.weights.push_back(static_cast<float>(value));
  }
  EXPECT_TRUE(prepared.Agrees(run, expected));
  for (size_t i = 0; i < run.weights.size(); i += 7) {
    AttentionRun wrong = run;
    // A hidden weight is exactly 0, the others are bounded relative to themselves.
    wrong.weights[i] = expected.value.weights[i] == 0 ? 1e-30F : wrong.weights[i] * 1.001F;
    EXPECT_FALSE(prepared.Agrees(wrong, expected)) << i;
  }
}

// A sink that dwarfs the keys leaves results that are exact in proportion.
TEST(ToleranceOptions, DominatingSink) {
  AttentionCase c = EditedCase(1);
  c.SetSinks({60});
  EXPECT_TRUE(Holds(c, {}));
  EXPECT_FALSE(Holds(c, {.sink = 0.01F}));
  const PreparedCase prepared(c);
  const Expectation expected = prepared.FromReference();
  for (size_t i = 0; i < expected.value.out.size(); ++i) {
    EXPECT_LT(expected.tolerance.out[i], 1e-3 * std::exp(-50.0)) << i;
  }
}

TEST(ToleranceOptions, BiasThatOverflowsIsUnbounded) {
  AttentionCase c = EditedCase(1);
  c.SetBias({1, 1, 1, 1}, {-std::numeric_limits<float>::max()});
  EXPECT_GT(PreparedCase(c).FromReference().tolerance.lse[0], 1);
  c.SetAlibiSlopes({1e38F});
  EXPECT_EQ(PreparedCase(c).FromReference().tolerance.lse[0],
            std::numeric_limits<double>::infinity());
}

TEST(ToleranceOptions, Merge) {
  const std::vector<std::vector<float>> out = {Gen(1, 60), Gen(2, 60), Gen(3, 60)};
  const std::vector<std::vector<float>> lse = {Gen(4, 12, 5.0F), Gen(5, 12, 5.0F),
                                               std::vector<float>(12, -kInf)};
  std::vector<AttentionPart> parts;
  for (size_t p = 0; p < 3; ++p) {
    parts.push_back(
        {ConstTensor(out[p].data(), {1, 3, 4, 5}), ConstTensor(lse[p].data(), {1, 3, 4, 1})});
  }
  const AttentionResult expected = reference::MergeAttention(parts);
  const AttentionTolerance tolerance = MergeTolerance(parts, expected);
  for (size_t row = 0; row < 12; ++row) {
    const float max = std::max(lse[0][row], lse[1][row]);
    const float weights[] = {std::exp(lse[0][row] - max), std::exp(lse[1][row] - max)};
    const float sum = weights[0] + weights[1];
    EXPECT_LE(std::abs(double{max + std::log(sum)} - expected.lse[row]), tolerance.lse[row]);
    for (size_t i = row * 5; i < row * 5 + 5; ++i) {
      const float value = (weights[0] * out[0][i] + weights[1] * out[1][i]) / sum;
      EXPECT_LE(std::abs(double{value} - expected.out[i]), tolerance.out[i]) << i;
      EXPECT_LT(tolerance.out[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace lanewise::reference
