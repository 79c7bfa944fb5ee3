// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about causal alignment (group E), as far as they need no mask or window.

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Equal scores, so that a row is the mean of the values it sees.
AttentionCase CausalMeans(int64_t queries, const std::vector<float>& v) {
  AttentionCase c = PlainCase(queries, static_cast<int64_t>(v.size()));
  c.options.causal = true;
  c.q = Repeat(0, queries);
  c.v = v;
  return c;
}

void ExpectMeans(const AttentionCase& c, const std::vector<double>& means) {
  ExpectKnownResult(c, {.out = means, .out_tolerance = T32(c.v)}, EveryPath());
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

// The report has 14 valid keys in a cache of 32; an offset says the same about positions.
TEST(PublicCases, C043_UnwrittenCacheBehindThePosition) {
  std::vector<float> v = Ramp(0, 1, 32);
  std::fill(v.begin() + 14, v.end(), kNan);
  AttentionCase c = CausalMeans(4, v);
  c.options.query_offset = 10;
  c.k = Repeat(0, 32);
  std::fill(c.k.begin() + 14, c.k.end(), kNan);
  ExpectMeans(c, {5, 5.5, 6, 6.5});
}

// Of the reports C047 and C048, what remains without window and padding.
TEST(PublicCases, C047_C048_CausalAlone) {
  ExpectMeans(CausalMeans(5, {1, 10, 100, 1000, 10000}), {1, 5.5, 37, 277.75, 2222.2});
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
