// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The rows of query tiles and lane groups, and which keys they see, from positions alone.

#ifndef LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
#define LANEWISE_SRC_ATTENTION_LANE_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/attention/call.h"
#include "src/attention/visibility.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {

// Query rows from first_row on, as lane groups.
struct QueryTile {
  HeadGroup heads;
  int64_t first_row = 0;
  int64_t group_count = 0;  // lane groups that hold rows
};

// The rows of a lane group.
struct LaneRows {
  int64_t first_row = 0;
  size_t count = 0;  // lanes that hold a row; the others repeat the last one
  KeyRange every;    // keys that all rows see
  KeyRange any;      // holds the keys that some row sees

  // Of the row in each lane: its query, counted from first_query, and its head.
  int64_t heads = 1;
  int64_t first_query = 0;
  int32_t query[kernels::kMaxLanes];
  int32_t head[kernels::kMaxLanes];

  // Rows of `group` from row `first` on.
  void Set(const HeadGroup& group, int64_t first, size_t lanes) {
    first_row = first;
    heads = group.heads;
    count = static_cast<size_t>(std::min(group.rows() - first, static_cast<int64_t>(lanes)));
    first_query = first / group.heads;
    int32_t q = 0;
    int32_t h = static_cast<int32_t>(first - first_query * group.heads);
    for (size_t i = 0; i < lanes; ++i) {
      query[i] = q;
      head[i] = h;
      if (i + 1 >= count) continue;
      if (++h == group.heads) {
        h = 0;
        ++q;
      }
    }
    // Both ends of what a row sees grow with its query, also where it sees nothing.
    const KeyRange of_first = group.visibility.KeysOf(first_query);
    const KeyRange of_last = group.visibility.KeysOf(first_query + q);
    every = Intersection(of_first, of_last);
    any = {of_first.begin, of_last.end};
  }

  // The query in lane i.
  int64_t Query(size_t i) const { return first_query + query[i]; }

  // Points the first `lanes` lanes at their rows of an array.
  template <typename Element>
  void PointAt(const HeadRows<Element>& array, size_t lanes, Element** rows) const {
    const int64_t to_next_query = array.row_stride - (heads - 1) * array.head_stride;
    Element* row = array.At(head[0], first_query);
    int64_t h = head[0];
    for (size_t i = 0; i < lanes; ++i) {
      rows[i] = row;
      if (i + 1 >= count) continue;
      const bool wraps = ++h == heads;
      row += wraps ? to_next_query : array.head_stride;
      if (wraps) h = 0;
    }
  }
};

// The lane bounds of one step.
struct StepBounds {
  alignas(kernels::kScratchAlignment) int32_t begin[kernels::kMaxLanes];
  alignas(kernels::kScratchAlignment) int32_t end[kernels::kMaxLanes];
  kernels::LaneBounds bounds;

  // `keys` is the step's range, at most a kv_block long, so that all counts fit 32 bits.
  void Clip(const Visibility& visibility, const LaneRows& rows, KeyRange keys, size_t lanes) {
    const int32_t count = static_cast<int32_t>(keys.size());
    const KeyRange first = visibility.WindowOf(rows.first_query);
    // Cut so far outside that adding a lane's query cannot bring it back in.
    const auto relative = [&](int64_t key) {
      return static_cast<int32_t>(std::clamp<int64_t>(
          core::SaturatingSum(key, -keys.begin), -static_cast<int64_t>(kernels::kMaxLanes), count));
    };
    const int32_t first_begin = relative(first.begin);
    const int32_t first_end = relative(first.end);
    const int32_t valid = relative(visibility.keys());
    for (size_t i = 0; i < lanes; ++i) {
      begin[i] = std::clamp(first_begin + rows.query[i], 0, count);
      end[i] = std::clamp(first_end + rows.query[i], 0, valid);
    }
    bounds = {begin, end, static_cast<size_t>(std::max(relative(rows.every.begin), 0)),
              static_cast<size_t>(std::max(relative(rows.every.end), 0))};
  }
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
