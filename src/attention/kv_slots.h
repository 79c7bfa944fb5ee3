// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Where the tokens of a cache lie.

#ifndef LANEWISE_SRC_ATTENTION_KV_SLOTS_H_
#define LANEWISE_SRC_ATTENTION_KV_SLOTS_H_

#include <algorithm>
#include <cstdint>

#include "lanewise/kv_cache.h"

namespace lanewise::attention {

// Positions begin <= p < end.
struct Positions {
  int64_t begin;
  int64_t end;
};

// Consecutive positions in consecutive rows of one page.
struct PageRows {
  int64_t position;  // of the first
  int64_t page;
  int64_t row;  // of the first
  int64_t count;
};

// Calls visit(PageRows) for at most slots() positions of a batch item, in order. A cache without a
// table has one page for each item.
template <typename Visit>
void ForEachPageRows(const KvCache& cache, int64_t item, const Positions& positions,
                     const Visit& visit) {
  const int64_t slots = cache.slots();
  const int64_t page_size = cache.k.sizes[2];
  const PageTable& table = cache.page_table;
  for (int64_t p = positions.begin; p < positions.end;) {
    const int64_t slot = p % slots;
    const int64_t row = slot % page_size;
    const int64_t count = std::min(positions.end - p, page_size - row);
    const int64_t page =
        cache.is_paged() ? table.ids[item * table.pages_per_item + slot / page_size] : item;
    visit(PageRows{p, page, row, count});
    p += count;
  }
}

// How many tokens an append brings to a batch item.
inline int64_t TokensOf(const ArrayView<int64_t>& tokens, int64_t rows, int64_t item) {
  return tokens.data == nullptr ? rows : tokens.data[item];
}

// The positions of `count` appended tokens that stay: all, but for those that a ring overwrites in
// the same append.
inline Positions StoredPositions(const KvCache& cache, int64_t item, int64_t count) {
  const int64_t end = cache.length[item] + count;
  return {end - std::min(count, cache.slots()), end};
}

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_KV_SLOTS_H_
