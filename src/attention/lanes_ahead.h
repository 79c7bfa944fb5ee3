// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the steps of the `lanes` variant fetch for those after them.

#ifndef LANEWISE_SRC_ATTENTION_LANES_AHEAD_H_
#define LANEWISE_SRC_ATTENTION_LANES_AHEAD_H_

#include <cstdint>

#include "src/attention/decision.h"
#include "src/attention/lane_rows.h"
#include "src/attention/visibility.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {

// Where a worker is.
struct LanesPlace {
  const AttentionPlan::Decision& decision;
  const QueryTile& tile;
  const QueryTile* next;  // the tile after it; null: none
  KeyRange tile_keys;     // that some row of the tile sees
  int64_t block_end;      // of the current block of keys
  bool values_in_place;   // those of the block are read where they are
};

// Sets step.prefetch, of lane group `group`, whose rows are `rows`, and `keys`: its share of the
// next block, or of the keys that the next tile sees first and this one does not; and in a group's
// last step its output and the queries that take its place, if they lie evenly. A lane group that
// has all rows of its kv head fetches the values of its own step, and the keys of the next one.
void FetchAhead(const LanesPlace& place, int64_t group, const LaneRows& rows, KeyRange keys,
                kernels::StepArgs& step);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANES_AHEAD_H_
