// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a lane group and which keys they see, from positions alone.

#ifndef LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
#define LANEWISE_SRC_ATTENTION_LANE_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/attention/visibility.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {

struct LaneRows {
  int64_t first_query = 0;
  size_t count = 0;  // lanes that hold a row; the others repeat the last one
  KeyRange every;    // keys that all rows see
  KeyRange any;      // holds the keys that some row sees

  LaneRows() = default;
  LaneRows(const Visibility& visibility, int64_t first, int64_t queries, size_t lanes)
      : first_query(first),
        count(static_cast<size_t>(std::min(queries - first, static_cast<int64_t>(lanes)))) {
    // Both ends of what a row sees grow with the row, also where it sees nothing.
    const KeyRange of_first = visibility.KeysOf(first);
    const KeyRange of_last = visibility.KeysOf(Query(lanes - 1));
    every = Intersection(of_first, of_last);
    any = {of_first.begin, of_last.end};
  }

  // The query in lane i.
  int64_t Query(size_t i) const {
    return first_query + static_cast<int64_t>(std::min(i, count - 1));
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
    // Cut so far outside that adding a lane's number cannot bring it back in.
    const auto relative = [&](int64_t key) {
      return static_cast<int32_t>(std::clamp<int64_t>(
          core::SaturatingSum(key, -keys.begin), -static_cast<int64_t>(kernels::kMaxLanes), count));
    };
    const int32_t first_begin = relative(first.begin);
    const int32_t first_end = relative(first.end);
    const int32_t valid = relative(visibility.keys());
    for (size_t i = 0; i < lanes; ++i) {
      const int32_t row = static_cast<int32_t>(std::min(i, rows.count - 1));
      begin[i] = std::clamp(first_begin + row, 0, count);
      end[i] = std::clamp(first_end + row, 0, valid);
    }
    bounds = {begin, end, static_cast<size_t>(std::max(relative(rows.every.begin), 0)),
              static_cast<size_t>(std::max(relative(rows.every.end), 0))};
  }
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
