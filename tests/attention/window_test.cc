// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Windows: every small case by enumeration, larger ones around lanes and blocks by the reference.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "tests/support/gen.h"
#include "tests/support/means.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// Where position(0) is.
struct Anchor {
  bool top_left = false;
  std::optional<int64_t> query_offset = {};

  int64_t Position(int64_t i, int64_t queries, int64_t keys) const {
    if (top_left) return i;
    return i + query_offset.value_or(keys - queries);
  }
};

// Sizes, and what of the window and causality tells who sees what.
struct SmallProblem {
  int64_t queries;
  int64_t keys;
  AttentionWindow window;
  bool causal;
  Anchor anchor;

  std::string ToString() const {
    return std::to_string(queries) + " x " + std::to_string(keys) + ", window " +
           std::to_string(window.left) + "," + std::to_string(window.right) +
           (causal ? ", causal" : "") + (anchor.top_left ? ", top_left" : "") +
           (anchor.query_offset ? ", offset " + std::to_string(*anchor.query_offset) : "");
  }
};

// With equal scores and v_j = 4^j, the output times the number of keys names the keys.
class SmallProblems {
 public:
  explicit SmallProblems(const std::string& target) : target_(target) {
    for (int j = 0; j < 6; ++j) values_.push_back(std::ldexp(1.0F, 2 * j));
  }

  void Check(const SmallProblem& problem) {
    const Sizes rows = {1, 1, problem.queries, 1};
    const Sizes columns = {1, 1, problem.keys, 1};
    AttentionOptions options;
    options.causal = problem.causal;
    options.window = problem.window;
    options.top_left = problem.anchor.top_left;
    options.query_offset = problem.anchor.query_offset;
    options.lse = true;
    float out[6];
    float lse[6];
    AttentionTensors tensors;
    tensors.q = ConstTensor(zeros_, rows);
    tensors.k = ConstTensor(zeros_, columns);
    tensors.v = ConstTensor(values_.data(), columns);
    tensors.out = Tensor(out, rows);
    tensors.lse = Tensor(lse, rows);
    Runtime runtime;
    runtime.threads = 1;
    runtime.target = target_;
    const Status status = Attention(tensors, options, runtime);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t i = 0; i < problem.queries; ++i) {
      const int64_t position = problem.anchor.Position(i, problem.queries, problem.keys);
      int64_t count = 0;
      double sum = 0;
      for (int64_t j = 0; j < problem.keys; ++j) {
        const int64_t ahead = j - position;
        if (problem.causal && ahead > 0) continue;
        if (problem.window.left != kUnlimited && -ahead > problem.window.left) continue;
        if (problem.window.right != kUnlimited && ahead > problem.window.right) continue;
        ++count;
        sum += std::ldexp(1.0, 2 * static_cast<int>(j));
      }
      const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
      ASSERT_NEAR(out[i], mean, 1e-6 * mean)
          << "query " << i << ", " << problem.ToString() << ", " << target_;
      if (count == 0) {
        ASSERT_EQ(lse[i], -std::numeric_limits<float>::infinity()) << problem.ToString();
      } else {
        ASSERT_NEAR(lse[i], std::log(static_cast<double>(count)), 1e-6) << problem.ToString();
      }
    }
  }

 private:
  const float zeros_[6] = {};
  std::vector<float> values_;
  std::string target_;
};

TEST(AttentionWindow, EverySmallCase) {
  std::vector<Anchor> anchors = {{}, {.top_left = true}};
  for (const int64_t offset : {-7, -3, -1, 1, 2, 4, 9}) anchors.push_back({.query_offset = offset});
  for (const std::string& target : AvailableTargets()) {
    SmallProblems problems(target);
    for (const int64_t left : {-1, 0, 1, 2, 3, 5, 6}) {
      for (const int64_t right : {-1, 0, 1, 2, 3, 5, 6}) {
        for (int64_t queries = 1; queries <= 6; ++queries) {
          for (int64_t keys = 0; keys <= 6; ++keys) {
            for (const Anchor& anchor : anchors) {
              for (const bool causal : {false, true}) {
                problems.Check({queries, keys, {left, right}, causal, anchor});
                if (HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

// Sides and offsets near the ends of 64 bits, one at a time.
TEST(AttentionWindow, ExtremeSidesAndOffsets) {
  for (const std::string& target : AvailableTargets()) {
    SmallProblems problems(target);
    for (const int64_t side : {kMax, kMax - 1, int64_t{1} << 32, int64_t{1} << 31}) {
      for (const bool causal : {false, true}) {
        for (const Anchor& anchor :
             {Anchor{}, Anchor{.query_offset = -3}, Anchor{.top_left = true}}) {
          problems.Check({5, 4, {side, 0}, causal, anchor});
          problems.Check({5, 4, {0, side}, causal, anchor});
          problems.Check({5, 4, {side, side}, causal, anchor});
        }
      }
    }
    // Positions beyond all keys, on either side.
    for (const int64_t side : {int64_t{0}, int64_t{3}, kUnlimited}) {
      for (const int64_t offset : {kMax - 10, int64_t{1} << 32, kMin + 10, -(int64_t{1} << 32)}) {
        problems.Check({5, 4, {side, side}, false, {.query_offset = offset}});
        problems.Check({5, 4, {side, kUnlimited}, false, {.query_offset = offset}});
        problems.Check({5, 4, {kUnlimited, side}, false, {.query_offset = offset}});
      }
    }
  }
}

// What adds up to more than 64 bits by itself: only the rows' visibility is judged.
TEST(AttentionWindow, OffsetsAtTheEndsOf64Bits) {
  AttentionCase c = MeansCase(3, {1, 10, 100});
  for (const int64_t offset : {kMax, kMin}) {
    c.options.query_offset = offset;
    c.options.window = {4, 4};
    ExpectMeans(c, {0, 0, 0}, EveryTile());
    c.options.window = {kUnlimited, kUnlimited};
    ExpectMeans(c, {37, 37, 37}, EveryTile());
  }
  c.options.query_offset = kMax;
  c.options.window = {kUnlimited, 4};
  ExpectMeans(c, {37, 37, 37}, EveryTile());
  c.options.window = {4, kUnlimited};
  ExpectMeans(c, {0, 0, 0}, EveryTile());
  c.options.query_offset = kMin;
  ExpectMeans(c, {37, 37, 37}, EveryTile());
  c.options.window = {kUnlimited, 4};
  ExpectMeans(c, {0, 0, 0}, EveryTile());
}

AttentionCase LongCase(int64_t queries, int64_t keys) {
  AttentionCase c;
  c.shape = {.queries = queries, .keys = keys, .dim = 9, .value_dim = 10};
  c.q = Gen(1, Count(c.q_sizes()), 3.0F);
  return c;
}

// Edges that fall on, before and after those of lanes, lane groups and key blocks.
TEST(AttentionWindow, AroundLanesAndBlocks) {
  constexpr int64_t kSides[] = {0, 1, 7, 8, 15, 16, 17, 31, 32, 47, 48, 49, 63, 64, 96, 149, 150};
  constexpr size_t kCount = sizeof(kSides) / sizeof(kSides[0]);
  for (size_t i = 0; i < kCount; ++i) {
    // Every left with three rights.
    for (const size_t step : {0U, 5U, 11U}) {
      AttentionCase c = LongCase(150, 150);
      c.options.window = {kSides[i], kSides[(i + step) % kCount]};
      c.options.causal = i % 3 == 0;
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(AttentionWindow, OneSideAlone) {
  for (const int64_t side : {0, 1, 16, 47, 100, 200}) {
    AttentionCase c = LongCase(90, 130);
    c.options.window = {side, kUnlimited};
    ExpectMatchesReference(c, EveryTile());
    c.options.window = {kUnlimited, side};
    ExpectMatchesReference(c, EveryTile());
    c.options.query_offset = -20;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionWindow, MoreQueriesThanKeys) {
  for (const int64_t side : {0, 3, 20, 80}) {
    AttentionCase c = LongCase(130, 50);
    c.options.window = AttentionWindow::Radius(side);
    ExpectMatchesReference(c, EveryTile());
    c.options.top_left = true;
    ExpectMatchesReference(c, EveryTile());
  }
}

TEST(AttentionWindow, RadiusOfTheLengthIsFullAttention) {
  for (const bool causal : {false, true}) {
    AttentionCase c = LongCase(70, 101);
    c.options.causal = causal;
    const PreparedCase full(c);
    for (const AttentionWindow& window :
         {AttentionWindow::Radius(101), AttentionWindow::Radius(kMax), AttentionWindow{100, 69},
          AttentionWindow{kUnlimited, 1000}, AttentionWindow{kMax, kUnlimited}}) {
      c.options.window = window;
      const PreparedCase local(c);
      for (const Path& path : EveryTile()) {
        EXPECT_TRUE(SameBits(local.Run(path), full.Run(path)))
            << c.ToString() << ", " << path.ToString();
      }
    }
  }
}

TEST(AttentionWindow, CausalIsAWindowWithoutARightSide) {
  AttentionCase c = LongCase(70, 101);
  c.options.window = {20, kUnlimited};
  c.options.causal = true;
  const PreparedCase causal(c);
  c.options.causal = false;
  c.options.window = {20, 0};
  const PreparedCase window(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(window.Run(path), causal.Run(path))) << path.ToString();
  }
}

}  // namespace
}  // namespace lanewise::testing
