// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The one place that answers "may query i see key j" for everything that follows from positions:
// causal, window, valid length. Lane bounds and tile classes derive from it.

#ifndef LANEWISE_SRC_ATTENTION_VISIBILITY_H_
#define LANEWISE_SRC_ATTENTION_VISIBILITY_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "src/core/sizes.h"

namespace lanewise::attention {

// Half-open range of keys.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;

  constexpr bool empty() const { return begin >= end; }
  constexpr int64_t size() const { return empty() ? 0 : end - begin; }
  constexpr bool Holds(KeyRange other) const { return begin <= other.begin && other.end <= end; }
};

constexpr KeyRange Intersection(KeyRange a, KeyRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// The smallest range that holds both.
constexpr KeyRange Cover(KeyRange a, KeyRange b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// Of one sequence of `queries` rows and `keys` valid keys.
class Visibility {
 public:
  Visibility() = default;
  Visibility(const AttentionOptions& options, int64_t queries, int64_t keys)
      : keys_(keys),
        offset_(options.query_offset.value_or(options.top_left ? 0 : keys - queries)),
        left_(options.window.left),
        // Causal is a window that ends at the query itself; no window ends before.
        right_(options.causal ? 0 : options.window.right) {}

  // Where `query` stands among the keys. Saturates at the ends of 64 bits.
  int64_t Position(int64_t query) const { return core::SaturatingSum(query, offset_); }

  // The keys that `query` sees, within [0, keys()).
  KeyRange KeysOf(int64_t query) const {
    const KeyRange window = WindowOf(query);
    return {std::clamp<int64_t>(window.begin, 0, keys_), std::clamp<int64_t>(window.end, 0, keys_)};
  }

  // The same before it is cut to the valid keys: both ends grow with the query, by one a row. An
  // unlimited side is the end of the 64-bit range. Offset and window are joined first: either may
  // reach the ends of that range, and a row must not lose its place there.
  KeyRange WindowOf(int64_t query) const {
    return {left_ == kUnlimited ? INT64_MIN
                                : core::SaturatingSum(query, core::SaturatingSum(offset_, -left_)),
            right_ == kUnlimited
                ? INT64_MAX
                : core::SaturatingSum(
                      query, core::SaturatingSum(core::SaturatingSum(offset_, right_), 1))};
  }

  // Valid keys of the sequence.
  int64_t keys() const { return keys_; }

  // Whether later rows see more keys than earlier ones.
  bool Lengthens() const { return left_ == kUnlimited && right_ != kUnlimited; }

  // Keys that the window of a row holds; nothing where a side is unlimited.
  std::optional<int64_t> Width() const {
    if (left_ == kUnlimited || right_ == kUnlimited) return std::nullopt;
    return core::SaturatingSum(core::SaturatingSum(left_, right_), 1);
  }

  // How many ends of what a row sees grow with the row.
  int moving_ends() const { return (left_ != kUnlimited) + (right_ != kUnlimited); }

 private:
  int64_t keys_ = 0;
  int64_t offset_ = 0;
  int64_t left_ = kUnlimited;
  int64_t right_ = kUnlimited;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_VISIBILITY_H_
