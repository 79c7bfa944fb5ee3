// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cutting cases.

#include "tests/support/slices.h"

namespace lanewise::testing {
namespace {

constexpr Range Whole(int64_t size) { return {0, size}; }

Sizes BroadcastPart(const Sizes& sizes, const Sizes& part) {
  Sizes broadcast;
  for (size_t axis = 0; axis < 4; ++axis) broadcast[axis] = sizes[axis] == 1 ? 1 : part[axis];
  return broadcast;
}

template <typename T>
std::vector<T> Slice(const std::vector<T>& values, const Range& part) {
  return {values.begin() + part.begin, values.begin() + part.end};
}

}  // namespace

AttentionCase PartOf(const AttentionCase& whole, const CasePart& part) {
  const AttentionShape& shape = whole.shape;
  const int64_t group = shape.heads / shape.kv_heads;
  const Range kv_heads = {part.heads.begin / group, (part.heads.end - 1) / group + 1};
  AttentionCase one = whole;
  one.shape.batch = part.items.end - part.items.begin;
  one.shape.heads = part.heads.end - part.heads.begin;
  one.shape.kv_heads = kv_heads.end - kv_heads.begin;
  one.shape.queries = part.queries.end - part.queries.begin;
  if (one.shape.queries != shape.queries) {
    const int64_t keys =
        whole.options.kv_len ? whole.kv_len[static_cast<size_t>(part.items.begin)] : shape.keys;
    const int64_t offset =
        whole.options.query_offset.value_or(whole.options.top_left ? 0 : keys - shape.queries);
    one.options.top_left = false;
    one.options.query_offset = offset + part.queries.begin;
  }
  const Range keys = Whole(shape.keys);
  one.q = Slice(whole.q, whole.q_sizes(), {part.items, part.heads, part.queries, Whole(shape.dim)});
  one.k = Slice(whole.k, whole.k_sizes(), {part.items, kv_heads, keys, Whole(whole.key_dim())});
  one.v = Slice(whole.v, whole.v_sizes(), {part.items, kv_heads, keys, Whole(shape.value_dim)});
  if (whole.options.mask) {
    one.mask_sizes = BroadcastPart(whole.mask_sizes, one.pair_sizes());
    one.mask = Slice(whole.mask, whole.mask_sizes, {part.items, part.heads, part.queries, keys});
  }
  if (whole.options.bias) {
    one.bias_sizes = BroadcastPart(whole.bias_sizes, one.pair_sizes());
    one.bias = Slice(whole.bias, whole.bias_sizes, {part.items, part.heads, part.queries, keys});
  }
  if (whole.options.alibi_slopes) one.alibi_slopes = Slice(whole.alibi_slopes, part.heads);
  if (whole.options.sinks) one.sinks = Slice(whole.sinks, part.heads);
  if (whole.options.kv_len) one.kv_len = Slice(whole.kv_len, part.items);
  return one;
}

AttentionRun PartOf(const AttentionRun& run, const AttentionCase& whole, const CasePart& part) {
  AttentionRun one;
  one.plan = run.plan;
  one.out = Slice(run.out, whole.out_sizes(),
                  {part.items, part.heads, part.queries, Whole(whole.shape.value_dim)});
  if (!run.lse.empty()) {
    one.lse = Slice(run.lse, whole.lse_sizes(), {part.items, part.heads, part.queries, Whole(1)});
  }
  if (!run.weights.empty()) {
    one.weights = Slice(run.weights, whole.pair_sizes(),
                        {part.items, part.heads, part.queries, Whole(whole.shape.keys)});
  }
  return one;
}

}  // namespace lanewise::testing
