// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Counting pairs, FLOPs and bytes.

#include "bench/work.h"

#include "src/attention/visibility.h"

namespace lanewise::bench {
namespace {

int ElementBytes(DataType type) {
  switch (type) {
    case DataType::kF32:
      return 4;
    case DataType::kF16:
    case DataType::kBF16:
      return 2;
    case DataType::kBool:
      return 1;
  }
  return 0;
}

}  // namespace

int64_t AllowedPairs(const AttentionShape& shape, const AttentionOptions& options) {
  const attention::Visibility visibility(options, shape.queries, shape.keys);
  if (!visibility.slanted()) return shape.queries * shape.keys;
  int64_t pairs = 0;
  for (int64_t i = 0; i < shape.queries; ++i) {
    const attention::KeyRange keys = visibility.KeysOf(i);
    if (!keys.empty()) pairs += keys.end - keys.begin;
  }
  return pairs;
}

double Flops(const AttentionShape& shape, const AttentionOptions& options) {
  const auto pairs = static_cast<double>(AllowedPairs(shape, options));
  return 2.0 * pairs * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
         static_cast<double>(shape.dim + shape.value_dim);
}

bool IsDecode(const AttentionShape& shape) { return shape.queries == 1 && shape.keys > 0; }

double DecodeBytes(const AttentionShape& shape, const AttentionOptions& options) {
  const auto rows = static_cast<double>(shape.batch) * static_cast<double>(shape.kv_heads) *
                    static_cast<double>(AllowedPairs(shape, options));
  return rows * (static_cast<double>(shape.dim) * ElementBytes(shape.k_type) +
                 static_cast<double>(shape.value_dim) * ElementBytes(shape.v_type));
}

}  // namespace lanewise::bench
