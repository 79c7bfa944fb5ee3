// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The one place that answers "may query i see key j". Everything else, lane masks and tile classes
// included, follows from it.

#ifndef LANEWISE_SRC_ATTENTION_VISIBILITY_H_
#define LANEWISE_SRC_ATTENTION_VISIBILITY_H_

#include <algorithm>
#include <cstdint>

#include "lanewise/attention.h"

namespace lanewise::attention {

// Half-open range of keys.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;

  constexpr bool empty() const { return begin >= end; }
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

class Visibility {
 public:
  Visibility() = default;
  Visibility(const AttentionShape& shape, const AttentionOptions& options)
      : keys_(shape.keys),
        offset_(options.query_offset.value_or(options.top_left ? 0 : shape.keys - shape.queries)),
        causal_(options.causal) {}

  // The keys that `query` sees.
  KeyRange KeysOf(int64_t query) const {
    if (!causal_) return {0, keys_};
    // position + 1, without overflow for offsets near the ends of 64 bits.
    if (offset_ >= keys_) return {0, keys_};
    return {0, std::clamp<int64_t>(query + offset_ + 1, 0, keys_)};
  }

  // Whether rows may see different keys.
  bool slanted() const { return causal_; }

 private:
  int64_t keys_ = 0;
  int64_t offset_ = 0;  // position of query i: i + offset
  bool causal_ = false;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_VISIBILITY_H_
