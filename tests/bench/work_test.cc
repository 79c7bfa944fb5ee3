// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Pairs against counting them one by one; FLOPs and bytes against known figures.

#include "bench/work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bench/attention_cases.h"
#include "tests/bench/attention_named.h"

namespace lanewise::bench {
namespace {

// Of one batch item.
int64_t CountPairs(const AttentionOptions& options, int64_t queries, int64_t keys) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries; ++i) {
    int64_t position = i + keys - queries;
    if (options.top_left) position = i;
    if (options.query_offset) position = i + *options.query_offset;
    for (int64_t j = 0; j < keys; ++j) {
      if (options.causal && j > position) continue;
      if (options.window.left != kUnlimited && position - j > options.window.left) continue;
      if (options.window.right != kUnlimited && j - position > options.window.right) continue;
      ++pairs;
    }
  }
  return pairs;
}

AttentionCase OfSizes(int64_t queries, int64_t keys) {
  AttentionCase benchmark;
  benchmark.shape.queries = queries;
  benchmark.shape.keys = keys;
  return benchmark;
}

TEST(WorkTest, PairsEqualCounting) {
  for (const int64_t queries : {0, 1, 2, 7, 16}) {
    for (const int64_t keys : {0, 1, 3, 7, 20}) {
      AttentionCase benchmark = OfSizes(queries, keys);
      AttentionOptions& options = benchmark.options;
      const auto check = [&](const char* kind, int64_t offset) {
        EXPECT_EQ(AllowedPairs(benchmark), CountPairs(options, queries, keys))
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

TEST(WorkTest, PairsInWindowsEqualCounting) {
  for (const int64_t queries : {1, 7, 16}) {
    for (const int64_t keys : {1, 7, 20}) {
      AttentionCase benchmark = OfSizes(queries, keys);
      AttentionOptions& options = benchmark.options;
      for (const int64_t left : {kUnlimited, int64_t{0}, int64_t{1}, int64_t{5}, int64_t{30}}) {
        for (const int64_t right : {kUnlimited, int64_t{0}, int64_t{1}, int64_t{5}, int64_t{30}}) {
          options.window = {left, right};
          for (const bool causal : {false, true}) {
            options.causal = causal;
            for (const int64_t offset : {-25, -3, 0, 4, 25}) {
              options.query_offset = offset;
              EXPECT_EQ(AllowedPairs(benchmark), CountPairs(options, queries, keys))
                  << "window " << left << ", " << right << ", causal " << causal << ", offset "
                  << offset << ", queries " << queries << ", keys " << keys;
            }
          }
        }
      }
    }
  }
}

TEST(WorkTest, PairsAddUpOverTheBatch) {
  AttentionCase benchmark = OfSizes(6, 20);
  benchmark.shape.batch = 4;
  EXPECT_EQ(AllowedPairs(benchmark), 4 * 6 * 20);
  benchmark.options.kv_len = true;
  benchmark.lengths.kv_len = {0, 20, 3, 9};
  EXPECT_EQ(AllowedPairs(benchmark), 6 * 32);
  benchmark.options.causal = true;
  benchmark.options.window = {4, 0};
  int64_t pairs = 0;
  for (const int64_t keys : benchmark.lengths.kv_len) {
    pairs += CountPairs(benchmark.options, 6, keys);
  }
  EXPECT_EQ(AllowedPairs(benchmark), pairs);
}

// Sequences of so many queries and keys, one after the other.
AttentionCase OfSequences(const std::vector<int64_t>& queries, const std::vector<int64_t>& keys) {
  AttentionCase benchmark;
  benchmark.options.ragged = true;
  benchmark.shape.batch = static_cast<int64_t>(queries.size());
  const auto offsets = [](const std::vector<int64_t>& counts) {
    std::vector<int64_t> sums = {0};
    for (const int64_t count : counts) sums.push_back(sums.back() + count);
    return sums;
  };
  benchmark.lengths.q_offsets = offsets(queries);
  benchmark.lengths.k_offsets = offsets(keys);
  benchmark.shape.queries = benchmark.lengths.q_offsets.back();
  benchmark.shape.keys = benchmark.lengths.k_offsets.back();
  return benchmark;
}

// Positions are counted from the start of each sequence, and from its own number of keys.
TEST(WorkTest, PairsOfSequencesAddUp) {
  const std::vector<int64_t> queries = {3, 0, 7, 1, 5, 12};
  const std::vector<int64_t> keys = {5, 4, 7, 6, 0, 4};
  AttentionCase benchmark = OfSequences(queries, keys);
  EXPECT_EQ(AllowedPairs(benchmark), 3 * 5 + 7 * 7 + 1 * 6 + 12 * 4);
  std::vector<AttentionOptions> all(5, benchmark.options);
  all[1].causal = true;
  all[2].causal = all[2].top_left = true;
  all[3].window = {2, 1};
  all[4].causal = true;
  all[4].query_offset = 2;
  for (size_t i = 0; i < all.size(); ++i) {
    benchmark.options = all[i];
    int64_t pairs = 0;
    for (size_t b = 0; b < queries.size(); ++b) {
      pairs += CountPairs(all[i], queries[b], keys[b]);
    }
    EXPECT_EQ(AllowedPairs(benchmark), pairs) << "options " << i;
  }
}

TEST(WorkTest, SequencesOfOneLengthAreABatch) {
  AttentionCase batch = AttentionNamed("bert");
  AttentionCase ragged = OfSequences(std::vector<int64_t>(8, 128), std::vector<int64_t>(8, 128));
  ragged.shape.heads = ragged.shape.kv_heads = 12;
  ragged.shape.dim = ragged.shape.value_dim = 64;
  EXPECT_EQ(Flops(ragged), Flops(batch));
  batch.options.causal = ragged.options.causal = true;
  EXPECT_EQ(Flops(ragged), Flops(batch));
  for (AttentionCase* benchmark : {&batch, &ragged}) {
    benchmark->options.score = AttentionScore::kAdditive;
    benchmark->shape.hidden = 64;
  }
  EXPECT_EQ(Tanhs(ragged), Tanhs(batch));
}

TEST(WorkTest, ExtremeOffsetsAndWindows) {
  AttentionCase benchmark = OfSizes(5, 9);
  AttentionOptions& options = benchmark.options;
  options.causal = true;
  options.query_offset = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(AllowedPairs(benchmark), 45);
  options.query_offset = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(AllowedPairs(benchmark), 0);
  options = {};
  options.window = AttentionWindow::Radius(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(AllowedPairs(benchmark), 45);
}

TEST(WorkTest, FlopsOfKnownCases) {
  const AttentionCase full = AttentionNamed("full_d64");
  EXPECT_EQ(Flops(full), 2.0 * 8 * 2048 * 2048 * 128);
  const AttentionCase causal = AttentionNamed("causal_d64");
  EXPECT_EQ(Flops(causal), 2.0 * 8 * (2048.0 * 2049 / 2) * 128);
  const AttentionCase bert = AttentionNamed("bert");
  EXPECT_EQ(Flops(bert), 2.0 * 8 * 12 * 128 * 128 * 128);
  const AttentionCase local = AttentionNamed("local128");
  EXPECT_EQ(Flops(local), 2.0 * 4 * (8192.0 * 257 - 128 * 129) * 128);
  const AttentionCase window = AttentionNamed("window128_causal");
  EXPECT_EQ(Flops(window), 2.0 * 4 * (8192.0 * 128 - 127 * 128 / 2) * 128);
  for (const char* name : {"full_d64_mask", "full_d64_bias", "full_d64_softcap"}) {
    EXPECT_EQ(Flops(AttentionNamed(name)), Flops(full)) << name;
  }
  for (const char* name : {"full_d128_f16", "full_d128_bf16"}) {
    EXPECT_EQ(Flops(AttentionNamed(name)), 2 * Flops(full)) << name;
  }
}

TEST(WorkTest, DecodeBytesCountSharedHeadsOnce) {
  const AttentionCase gqa = AttentionNamed("decode_gqa");
  ASSERT_TRUE(IsDecode(gqa));
  EXPECT_EQ(DecodeBytes(gqa), 2.0 * 8 * 8192 * 128 * 4);

  AttentionCase half = gqa;
  half.shape.k_type = DataType::kF16;
  half.shape.v_type = DataType::kBF16;
  EXPECT_EQ(DecodeBytes(half), 2.0 * 8 * 8192 * 128 * 2);

  for (const char* name : {"decode_f16", "decode_bf16"}) {
    const AttentionCase typed = AttentionNamed(name);
    ASSERT_TRUE(IsDecode(typed)) << name;
    EXPECT_EQ(DecodeBytes(typed), 2.0 * 8 * 8192 * 128 * 2) << name;
  }
  AttentionCase mixed = gqa;
  mixed.shape.v_type = DataType::kF16;
  mixed.shape.value_dim = 64;
  EXPECT_EQ(DecodeBytes(mixed), 8.0 * 8192 * (128 * 4 + 64 * 2));

  const AttentionCase cached = AttentionNamed("decode_l2");
  ASSERT_TRUE(IsDecode(cached));
  EXPECT_EQ(DecodeBytes(cached), 512.0 * 1024);
  const AttentionCase long_one = AttentionNamed("decode_long");
  ASSERT_TRUE(IsDecode(long_one));
  EXPECT_EQ(DecodeBytes(long_one), 32.0 * 1024 * 1024);

  AttentionCase first_key = gqa;
  first_key.options.causal = true;
  first_key.options.top_left = true;
  EXPECT_EQ(DecodeBytes(first_key), 2.0 * 8 * 1 * 128 * 4);

  AttentionCase window = gqa;
  window.options.window = {99, 0};
  EXPECT_EQ(DecodeBytes(window), 2.0 * 8 * 100 * 128 * 4);

  AttentionCase lengths = gqa;
  lengths.shape.batch = 2;
  lengths.options.kv_len = true;
  lengths.lengths.kv_len = {8192, 10};
  EXPECT_EQ(DecodeBytes(lengths), 2.0 * 8 * 8202 * 128 * 4);
}

TEST(WorkTest, DecodeBytesOfSequencesThatHaveAQuery) {
  AttentionCase ragged = OfSequences({1, 1, 0, 1}, {300, 20, 50, 7});
  ragged.shape.heads = 6;
  ragged.shape.kv_heads = 2;
  ragged.shape.dim = 16;
  ragged.shape.value_dim = 8;
  ragged.shape.v_type = DataType::kF16;
  ASSERT_TRUE(IsDecode(ragged));
  EXPECT_EQ(DecodeBytes(ragged), 2.0 * 327 * (16 * 4 + 8 * 2));
  ragged.options.window = {9, 0};
  EXPECT_EQ(DecodeBytes(ragged), 2.0 * 27 * (16 * 4 + 8 * 2));
}

TEST(WorkTest, DecodeIsOneQuery) {
  EXPECT_FALSE(IsDecode(AttentionNamed("chunk_gqa")));
  EXPECT_TRUE(IsDecode(AttentionNamed("decode_mha")));
  EXPECT_TRUE(IsDecode(OfSizes(1, 1)));
  EXPECT_FALSE(IsDecode(OfSizes(1, 0)));
  EXPECT_FALSE(IsDecode(OfSizes(0, 9)));
  EXPECT_TRUE(IsDecode(OfSequences({1, 1}, {3, 4})));
  EXPECT_FALSE(IsDecode(OfSequences({1, 2}, {3, 4})));
  EXPECT_FALSE(IsDecode(OfSequences({0, 0}, {3, 4})));
  EXPECT_FALSE(IsDecode(OfSequences({1, 1}, {0, 0})));
}

// Queries and keys count as long as they are where they meet.
TEST(WorkTest, ScoreFunctions) {
  AttentionCase benchmark = OfSizes(3, 5);
  benchmark.shape.heads = 2;
  benchmark.shape.dim = 4;
  benchmark.shape.value_dim = 7;
  EXPECT_EQ(Tanhs(benchmark), 0.0);
  EXPECT_EQ(Flops(benchmark), 2.0 * 15 * 2 * (4 + 7));
  benchmark.options.score = AttentionScore::kBilinear;
  benchmark.shape.key_dim = 6;
  EXPECT_EQ(Flops(benchmark), 2.0 * 15 * 2 * (6 + 7));
  benchmark.options.score = AttentionScore::kAdditive;
  benchmark.options.wq = benchmark.options.wk = true;
  benchmark.shape.hidden = 9;
  EXPECT_EQ(Flops(benchmark), 2.0 * 15 * 2 * (9 + 7));
  EXPECT_EQ(Tanhs(benchmark), 15.0 * 2 * 9);
}

}  // namespace
}  // namespace lanewise::bench
