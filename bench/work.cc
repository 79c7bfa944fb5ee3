// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Counting pairs, FLOPs and bytes.

#include "bench/work.h"

#include <algorithm>
#include <cstddef>

#include "src/attention/score.h"
#include "src/attention/visibility.h"
#include "src/core/element_bytes.h"

namespace lanewise::bench {
namespace {

// Of queries and keys where they meet.
int64_t ScoredLength(const AttentionCase& benchmark) {
  const AttentionScore score = benchmark.options.score;
  return attention::ScoreDim(attention::WithScoreSizes(benchmark.shape, score), score);
}

struct ItemSizes {
  int64_t queries;
  int64_t keys;  // valid ones
};

ItemSizes SizesOf(const AttentionCase& benchmark, int64_t batch_item) {
  const AttentionLengths& lengths = benchmark.lengths;
  const auto b = static_cast<size_t>(batch_item);
  if (benchmark.options.ragged) {
    return {lengths.q_offsets[b + 1] - lengths.q_offsets[b],
            lengths.k_offsets[b + 1] - lengths.k_offsets[b]};
  }
  const AttentionShape& shape = benchmark.shape;
  return {shape.queries, benchmark.options.kv_len ? lengths.kv_len[b] : shape.keys};
}

}  // namespace

int64_t AllowedPairs(const AttentionCase& benchmark) {
  int64_t pairs = 0;
  for (int64_t b = 0; b < benchmark.shape.batch; ++b) {
    const ItemSizes item = SizesOf(benchmark, b);
    const attention::Visibility visibility(benchmark.options, item.queries, item.keys);
    if (visibility.moving_ends() == 0) {
      pairs += item.queries * item.keys;
      continue;
    }
    for (int64_t i = 0; i < item.queries; ++i) pairs += visibility.KeysOf(i).size();
  }
  return pairs;
}

double Flops(const AttentionCase& benchmark) {
  const AttentionShape& shape = benchmark.shape;
  // Nothing is computed where nothing is written.
  const AttentionOptions& options = benchmark.options;
  if (shape.value_dim == 0 && !options.lse && !options.weights) return 0;
  return 2.0 * static_cast<double>(AllowedPairs(benchmark)) * static_cast<double>(shape.heads) *
         static_cast<double>(ScoredLength(benchmark) + shape.value_dim);
}

double Tanhs(const AttentionCase& benchmark) {
  if (benchmark.options.score != AttentionScore::kAdditive) return 0;
  return static_cast<double>(AllowedPairs(benchmark)) * static_cast<double>(benchmark.shape.heads) *
         static_cast<double>(ScoredLength(benchmark));
}

bool IsDecode(const AttentionCase& benchmark) {
  const AttentionShape& shape = benchmark.shape;
  int64_t most_queries = 0;
  for (int64_t b = 0; b < shape.batch; ++b) {
    most_queries = std::max(most_queries, SizesOf(benchmark, b).queries);
  }
  return most_queries == 1 && shape.keys > 0;
}

double DecodeBytes(const AttentionCase& benchmark) {
  const AttentionShape& shape = benchmark.shape;
  const auto rows =
      static_cast<double>(shape.kv_heads) * static_cast<double>(AllowedPairs(benchmark));
  const AttentionShape full = attention::WithScoreSizes(shape, benchmark.options.score);
  return rows * (static_cast<double>(full.key_dim) * core::ElementBytes(shape.k_type) +
                 static_cast<double>(shape.value_dim) * core::ElementBytes(shape.v_type));
}

}  // namespace lanewise::bench
