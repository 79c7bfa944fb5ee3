// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a lane group and which keys they see, from positions alone.

#ifndef LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
#define LANEWISE_SRC_ATTENTION_LANE_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/attention/visibility.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {

struct LaneRows {
  int64_t first_query = 0;
  size_t count = 0;                   // lanes that hold a row; the others repeat the last one
  KeyRange every;                     // keys that all rows see
  KeyRange any;                       // keys that some row sees
  KeyRange lane[kernels::kMaxLanes];  // each lane's; filled if rows may differ

  LaneRows() = default;
  LaneRows(const Visibility& visibility, int64_t first, int64_t queries, size_t lanes)
      : first_query(first),
        count(static_cast<size_t>(std::min(queries - first, static_cast<int64_t>(lanes)))),
        every(visibility.KeysOf(first)),
        any(every) {
    if (!visibility.slanted()) return;
    for (size_t i = 0; i < lanes; ++i) {
      lane[i] = visibility.KeysOf(Query(i));
      every = Intersection(every, lane[i]);
      any = Cover(any, lane[i]);
    }
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

  // `keys` is the step's range, at most a kv_block long, so differences fit 32 bits.
  void Clip(const LaneRows& rows, KeyRange keys, size_t lanes) {
    const auto relative = [&](int64_t key) {
      return static_cast<int32_t>(std::clamp(key, keys.begin, keys.end) - keys.begin);
    };
    for (size_t i = 0; i < lanes; ++i) {
      begin[i] = relative(rows.lane[i].begin);
      end[i] = relative(rows.lane[i].end);
    }
    bounds = {begin, end, static_cast<size_t>(relative(rows.every.begin)),
              static_cast<size_t>(relative(rows.every.end))};
  }
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANE_ROWS_H_
