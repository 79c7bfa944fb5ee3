// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about causal alignment and positions (group E).

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/means.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

AttentionCase CausalMeans(int64_t queries, const std::vector<float>& v) {
  AttentionCase c = MeansCase(queries, v);
  c.options.causal = true;
  return c;
}

TEST(PublicCases, C040_LastQuerySeesLastKey) {
  ExpectMeans(CausalMeans(1, Ramp(0, 1, 16)), {7.5});
  ExpectMeans(CausalMeans(3, Ramp(0, 1, 5)), {1, 1.5, 2});
}

TEST(PublicCases, C040_TopLeftOnRequest) {
  AttentionCase decode = CausalMeans(1, Ramp(0, 1, 16));
  decode.options.top_left = true;
  ExpectMeans(decode, {0});
  AttentionCase three = CausalMeans(3, Ramp(0, 1, 5));
  three.options.top_left = true;
  ExpectMeans(three, {0, 0.5, 1});
}

TEST(PublicCases, C041_DiagonalIsIncluded) { ExpectMeans(CausalMeans(2, {1, 10, 100}), {5.5, 37}); }

// The capacity is 32; the last query stands at the last valid key.
TEST(PublicCases, C043_AnchoredAtTheValidLengthNotAtTheCapacity) {
  std::vector<float> v = Ramp(0, 1, 32);
  std::fill(v.begin() + 14, v.end(), kNan);
  AttentionCase c = CausalMeans(4, v);
  c.k = Repeat(0, 32);
  std::fill(c.k.begin() + 14, c.k.end(), kNan);
  AttentionCase by_offset = c;
  by_offset.options.query_offset = 10;
  ExpectMeans(by_offset, {5, 5.5, 6, 6.5});
  c.SetKvLen({14});
  ExpectMeans(c, {5, 5.5, 6, 6.5});
}

TEST(PublicCases, C045_CausalAndMaskIntersect) {
  const std::vector<double> means = {1, 1, 50.5};
  AttentionCase c = CausalMeans(3, {1, 10, 100});
  c.SetMask({1, 1, 3, 3}, {1, 0, 1, 1, 0, 1, 1, 0, 1});
  ExpectMeans(c, means);
  c.SetMask({1, 1, 1, 3}, {1, 0, 1});
  ExpectMeans(c, means);
  c.SetBias({1, 1, 1, 3}, {0, -kInf, 0});
  ExpectMeans(c, means);
  c.options.mask = false;
  ExpectMeans(c, means);
  c.SetBias({1, 1, 3, 3}, {0, -kInf, 0, 0, -kInf, 0, 0, -kInf, 0});
  ExpectMeans(c, means);
}

TEST(PublicCases, C047_WindowWiderThanTheSequenceStaysCausal) {
  AttentionCase c = CausalMeans(5, {1, 10, 100, 1000, 10000});
  const std::vector<double> means = {1, 5.5, 37, 277.75, 2222.2};
  ExpectMeans(c, means);
  c.options.window = {10, 0};
  ExpectMeans(c, means);
  c.options.window = {10, 10};
  ExpectMeans(c, means);
  c.options.causal = false;
  c.options.window = {10, 0};
  ExpectMeans(c, means);
}

// Item 0 is `length` long, item 1 is 1, 10, 100, ... behind pads that only a mask hides.
void ExpectPadsDoNotMatter(int64_t length, int64_t pads, const std::vector<float>& real) {
  AttentionCase padded;
  padded.shape = {.batch = 2, .queries = length, .keys = length, .dim = 1, .value_dim = 1};
  padded.options.causal = true;
  padded.q = Repeat(0, 2 * length);
  padded.v = Repeat(9, 2 * length);
  std::copy(real.begin(), real.end(), padded.v.end() - static_cast<int64_t>(real.size()));
  std::vector<uint8_t> mask = UniformMask(2 * length, true);
  std::fill_n(mask.begin() + length, pads, uint8_t{0});
  padded.SetMask({2, 1, 1, length}, mask);
  const AttentionCase alone = CausalMeans(static_cast<int64_t>(real.size()), real);

  ExpectMatchesReference(padded, EveryPath());
  const PreparedCase prepared(padded);
  const PreparedCase unpadded(alone);
  const Expectation expected = unpadded.FromReference();
  for (const Path& path : EveryPath()) {
    const std::vector<float> out = prepared.Run(path).out;
    for (int64_t row = 0; row < pads; ++row) {
      EXPECT_EQ(out[static_cast<size_t>(length + row)], 0.0F) << "pad " << row;
    }
    AttentionRun tail;
    tail.out.assign(out.begin() + length + pads, out.end());
    EXPECT_TRUE(unpadded.Agrees(tail, expected)) << path.ToString();
  }
}

TEST(PublicCases, C048_LeftPadsDoNotMatter) {
  ExpectPadsDoNotMatter(5, 2, {1, 10, 100});
  ExpectPadsDoNotMatter(33, 30, {1, 10, 100});
}

TEST(AttentionCausal, ExtremeOffsets) {
  AttentionCase c = CausalMeans(3, {1, 10, 100});
  c.options.query_offset = std::numeric_limits<int64_t>::max();
  ExpectMeans(c, {37, 37, 37});
  c.options.query_offset = std::numeric_limits<int64_t>::min();
  ExpectMeans(c, {0, 0, 0});
  c.options.query_offset = -2;
  ExpectMeans(c, {0, 0, 1});
  c.options.query_offset = 1;
  ExpectMeans(c, {5.5, 37, 37});
}

TEST(AttentionCausal, AlignmentOptionsAloneHideNothing) {
  AttentionCase c = CausalMeans(2, {1, 10, 100});
  c.options.causal = false;
  c.options.top_left = true;
  ExpectMeans(c, {37, 37});
  c.options.top_left = false;
  c.options.query_offset = -7;
  ExpectMeans(c, {37, 37});
}

}  // namespace
}  // namespace lanewise::testing
