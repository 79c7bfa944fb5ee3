// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A cache of keys and values in guarded memory, beside a plain record of the tokens that it has to
// hold.

#ifndef LANEWISE_TESTS_SUPPORT_KV_HISTORY_H_
#define LANEWISE_TESTS_SUPPORT_KV_HISTORY_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "lanewise/kv_cache.h"
#include "tests/support/array.h"

namespace lanewise::testing {

struct KvCase {
  int64_t batch = 1;
  int64_t kv_heads = 1;
  int64_t slots = 8;      // of each batch item
  int64_t page_size = 0;  // 0: no pages
  int64_t dim = 1;
  int64_t value_dim = 1;
  bool ring = false;
  int64_t window_left = kUnlimited;
  // Of the cache, and of what is appended.
  DataType k_type = DataType::kF32;
  DataType v_type = DataType::kF32;
  DataType new_k_type = DataType::kF32;
  DataType new_v_type = DataType::kF32;
  StrideRule strides = DenseStrides;
  StrideRule new_strides = DenseStrides;
  GuardSide guard = GuardSide::kAfter;

  std::string ToString() const;
};

// What one token brings to a batch item.
struct KvToken {
  std::vector<float> k;  // [kv_heads, dim]
  std::vector<float> v;  // [kv_heads, value_dim]
};

// The record appends and takes back tokens one at a time; it knows nothing of slots.
class KvHistory {
 public:
  explicit KvHistory(const KvCase& description);

  // As AppendKv and RewindKv receive it.
  const KvCache& cache() const { return cache_; }
  KvCache& cache() { return cache_; }

  // Tokens of their own values for each item, which are recorded if AppendKv succeeds: `counts`
  // [batch], or `count` for each without the argument `tokens`.
  Status Append(int64_t count);
  Status Append(const std::vector<int64_t>& counts);
  // Given tokens for one item.
  Status Append(const std::vector<KvToken>& tokens);
  Status Rewind(int64_t item, int64_t length);

  // Is all that the next token of the item at `length` will see still there?
  bool CanRewind(int64_t item, int64_t length) const;

  // Holds the cache what the record does, and is everything else untouched?
  ::testing::AssertionResult IsRight() const;

  const std::deque<KvToken>& held(int64_t item) const { return held_[static_cast<size_t>(item)]; }
  int64_t length(int64_t item) const { return length_[static_cast<size_t>(item)]; }
  // All elements of the cache, as bits, its lengths and its oldest positions.
  std::vector<int64_t> Contents() const;

 private:
  KvToken MakeToken();
  Status AppendTokens(const std::vector<std::vector<KvToken>>& tokens, bool with_counts);
  void Record(int64_t item, const KvToken& token);
  // Which row of the cache, counted over pages and heads in row-major order.
  int64_t RowOf(int64_t item, int64_t head, int64_t position) const;
  ::testing::AssertionResult IsArrayRight(const char* name, const Array& array,
                                          std::vector<float> KvToken::*part) const;

  KvCase case_;
  Array k_;
  Array v_;
  GuardedArray<int64_t> length_;
  GuardedArray<int64_t> oldest_;
  GuardedArray<int32_t> page_ids_;
  KvCache cache_;

  uint32_t tokens_made_ = 0;
  std::vector<std::deque<KvToken>> held_;  // of each item, as elements of the cache
  std::vector<int64_t> recorded_length_;
  std::vector<bool> is_row_written_;  // [pages, kv_heads, page_size]
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_KV_HISTORY_H_
