// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Pairs against counting them one by one; FLOPs and bytes against known figures.

#include "bench/work.h"

#include <gtest/gtest.h>

#include <limits>

#include "bench/cases.h"

namespace lanewise::bench {
namespace {

int64_t CountPairs(const AttentionShape& shape, const AttentionOptions& options) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < shape.queries; ++i) {
    int64_t position = i + shape.keys - shape.queries;
    if (options.top_left) position = i;
    if (options.query_offset) position = i + *options.query_offset;
    for (int64_t j = 0; j < shape.keys; ++j) pairs += !options.causal || j <= position ? 1 : 0;
  }
  return pairs;
}

TEST(WorkTest, PairsEqualCounting) {
  for (const int64_t queries : {0, 1, 2, 7, 16}) {
    for (const int64_t keys : {0, 1, 3, 7, 20}) {
      AttentionShape shape;
      shape.queries = queries;
      shape.keys = keys;
      AttentionOptions options;
      const auto check = [&](const char* kind, int64_t offset) {
        EXPECT_EQ(AllowedPairs(shape, options), CountPairs(shape, options))
            << kind << " " << offset << ", queries " << queries << ", keys " << keys;
      };
      check("full", 0);
      options.causal = true;
      check("causal", 0);
      options.top_left = true;
      check("top_left", 0);
      options.top_left = false;
      for (int64_t offset = -30; offset <= 30; ++offset) {
        options.query_offset = offset;
        check("offset", offset);
      }
    }
  }
}

TEST(WorkTest, ExtremeOffsets) {
  AttentionShape shape;
  shape.queries = 5;
  shape.keys = 9;
  AttentionOptions options;
  options.causal = true;
  options.query_offset = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(AllowedPairs(shape, options), 45);
  options.query_offset = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(AllowedPairs(shape, options), 0);
}

TEST(WorkTest, FlopsOfKnownCases) {
  const Case full = FindCases({"full_d64"})->front();
  EXPECT_EQ(Flops(full.shape, full.options), 2.0 * 8 * 2048 * 2048 * 128);
  const Case causal = FindCases({"causal_d64"})->front();
  EXPECT_EQ(Flops(causal.shape, causal.options), 2.0 * 8 * (2048.0 * 2049 / 2) * 128);
  const Case bert = FindCases({"bert"})->front();
  EXPECT_EQ(Flops(bert.shape, bert.options), 2.0 * 8 * 12 * 128 * 128 * 128);
}

TEST(WorkTest, DecodeBytesCountSharedHeadsOnce) {
  const Case gqa = FindCases({"decode_gqa"})->front();
  ASSERT_TRUE(IsDecode(gqa.shape));
  EXPECT_EQ(DecodeBytes(gqa.shape, gqa.options), 2.0 * 8 * 8192 * 128 * 4);

  AttentionShape half = gqa.shape;
  half.k_type = DataType::kF16;
  half.v_type = DataType::kBF16;
  EXPECT_EQ(DecodeBytes(half, gqa.options), 2.0 * 8 * 8192 * 128 * 2);

  AttentionOptions first_key;
  first_key.causal = true;
  first_key.top_left = true;
  EXPECT_EQ(DecodeBytes(gqa.shape, first_key), 2.0 * 8 * 1 * 128 * 4);
}

TEST(WorkTest, DecodeIsOneQuery) {
  EXPECT_FALSE(IsDecode(FindCases({"chunk_gqa"})->front().shape));
  EXPECT_TRUE(IsDecode(FindCases({"decode_mha"})->front().shape));
  AttentionShape no_keys;
  no_keys.queries = 1;
  EXPECT_FALSE(IsDecode(no_keys));
}

}  // namespace
}  // namespace lanewise::bench
