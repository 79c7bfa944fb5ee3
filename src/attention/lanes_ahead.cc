// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_ahead.h"

#include <algorithm>
#include <cstddef>

#include "src/core/sizes.h"

namespace lanewise::attention {
namespace {

size_t Bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

// The part of `keys` that lane group `group` of a tile fetches.
KeyRange Share(const LanesPlace& place, int64_t group, KeyRange keys) {
  const int64_t share = core::DivideUp(keys.size(), place.tile.group_count);
  return Intersection(keys, {keys.begin + group * share, keys.begin + (group + 1) * share});
}

// The keys of the block after the current one that a lane group sees.
KeyRange KeysOfNextBlock(const LanesPlace& place, const LaneRows& rows) {
  return {place.block_end, std::min(place.block_end + place.decision.lanes.kv_block, rows.any.end)};
}

// The keys that the next tile sees first, but for those that the current one sees.
KeyRange KeysOfNextTile(const LanesPlace& place) {
  const HeadGroup& heads = place.next->heads;
  const int64_t lanes = static_cast<int64_t>(place.decision.lanes.kernel.lanes);
  const int64_t first_row = place.next->first_row;
  const int64_t end_row = std::min(first_row + place.next->group_count * lanes, heads.rows());
  KeyRange keys = {heads.visibility.KeysOf(first_row / heads.heads).begin,
                   heads.visibility.KeysOf((end_row - 1) / heads.heads).end};
  const HeadGroup& current = place.tile.heads;
  if (heads.batch == current.batch && heads.kv_head == current.kv_head) {
    if (first_row > place.tile.first_row) {
      keys.begin = std::max(keys.begin, place.tile_keys.end);
    } else {
      keys.end = std::min(keys.end, place.tile_keys.begin);
    }
  }
  keys.end = std::min(keys.end, keys.begin + place.decision.lanes.kv_block);
  return keys;
}

// The first of some keys, as far as they lie evenly.
kernels::PrefetchRows EvenRows(const KvRows& rows, KeyRange keys, int64_t columns) {
  const RowRun run = rows.At(keys.begin);
  return {run.data, rows.stride_bytes(), static_cast<size_t>(std::min(run.count, keys.size())),
          static_cast<size_t>(rows.Bytes(columns))};
}

// Whether keys and values are read once: by the only lane group of their kv head. With a whole
// block of both ahead they would leave a small second-level cache before they are read.
bool ReadsOnce(const LanesPlace& place) {
  return place.values_in_place &&
         place.tile.heads.rows() <= static_cast<int64_t>(place.decision.lanes.kernel.lanes);
}

// `keys` of `heads`, which come after this step.
void FetchKeys(const LanesPlace& place, const HeadGroup& heads, KeyRange keys,
               kernels::StepArgs& step) {
  if (keys.empty()) return;
  const AttentionShape& shape = place.decision.shape;
  const kernels::PrefetchRows k = EvenRows(heads.k, keys, shape.key_dim);
  if (ReadsOnce(place)) {
    step.prefetch[1] = k;
    return;
  }
  step.prefetch[0] = k;
  step.prefetch[1] = EvenRows(heads.v, keys, shape.value_dim);
}

}  // namespace

void FetchAhead(const LanesPlace& place, int64_t group, const LaneRows& rows, KeyRange keys,
                kernels::StepArgs& step) {
  const AttentionShape& shape = place.decision.shape;
  const HeadGroup& heads = place.tile.heads;
  if (ReadsOnce(place)) step.prefetch[0] = EvenRows(heads.v, keys, shape.value_dim);
  FetchKeys(place, heads, Share(place, group, KeysOfNextBlock(place, rows)), step);
  if (keys.end < rows.any.end) return;
  if (place.next != nullptr) {
    FetchKeys(place, place.next->heads, Share(place, group, KeysOfNextTile(place)), step);
  }
  if (heads.heads != 1) return;
  step.prefetch[2] = {heads.out.At(0, rows.first_query), heads.out.row_stride, rows.count,
                      Bytes(shape.value_dim)};
  if (place.next == nullptr || group >= place.next->group_count) return;
  const HeadGroup& next = place.next->heads;
  const int64_t lanes = static_cast<int64_t>(place.decision.lanes.kernel.lanes);
  const int64_t first = place.next->first_row + group * lanes;
  step.prefetch[3] = {next.q.At(0, first), next.q.row_stride,
                      static_cast<size_t>(std::min(lanes, next.rows() - first)), Bytes(shape.dim)};
}

}  // namespace lanewise::attention
