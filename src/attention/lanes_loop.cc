// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_loop.h"

#include <algorithm>
#include <optional>

#include "src/core/sizes.h"
#include "src/kernels/lanes.h"
#include "src/profile/defaults.h"

namespace lanewise::attention {
namespace {

using kernels::kMaxLanes;
using profile::kMaxQueryGroups;

constexpr int64_t kAlignmentFloats = kernels::kScratchAlignment / sizeof(float);

// The two inner axes of one head; null for an array without elements.
template <typename Element, typename Void>
Element* HeadView(const BasicTensor<Void>& tensor, int64_t batch, int64_t head) {
  if (tensor.data == nullptr) return nullptr;
  return static_cast<Element*>(tensor.data) + batch * tensor.strides[0] + head * tensor.strides[1];
}

// The rows of one lane group and what they see.
struct GroupRows {
  int64_t first_query = 0;
  size_t count = 0;  // lanes that hold a row; the others repeat the last one
  KeyRange every;    // keys that all rows see
  KeyRange any;      // keys that some row sees
  KeyRange lane[kMaxLanes];
};

GroupRows SeenBy(const Visibility& visibility, int64_t first_query, int64_t queries, size_t lanes) {
  GroupRows rows;
  rows.first_query = first_query;
  rows.count = static_cast<size_t>(std::min(queries - first_query, static_cast<int64_t>(lanes)));
  rows.every = rows.any = visibility.KeysOf(first_query);
  if (!visibility.slanted()) return rows;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const size_t row = std::min(lane, rows.count - 1);
    const KeyRange seen = visibility.KeysOf(first_query + static_cast<int64_t>(row));
    rows.lane[lane] = seen;
    rows.every = Intersection(rows.every, seen);
    rows.any = Cover(rows.any, seen);
  }
  return rows;
}

// The part of a lane group's bounds that falls into one step's keys.
struct StepBounds {
  alignas(kernels::kScratchAlignment) int32_t begin[kMaxLanes];
  alignas(kernels::kScratchAlignment) int32_t end[kMaxLanes];
  kernels::LaneBounds bounds;

  // `keys` is the step's range, at most a kv_block long, so differences fit 32 bits.
  void Clip(const GroupRows& rows, KeyRange keys, size_t lanes) {
    const auto relative = [&](int64_t key) {
      return static_cast<int32_t>(std::clamp(key, keys.begin, keys.end) - keys.begin);
    };
    for (size_t lane = 0; lane < lanes; ++lane) {
      begin[lane] = relative(rows.lane[lane].begin);
      end[lane] = relative(rows.lane[lane].end);
    }
    bounds.begin = begin;
    bounds.end = end;
    bounds.full_begin = static_cast<size_t>(relative(rows.every.begin));
    bounds.full_end = static_cast<size_t>(relative(rows.every.end));
  }
};

// One head's arrays and the rows of one query tile.
struct TileView {
  const float* q = nullptr;  // [queries, dim]
  const float* k = nullptr;  // [keys, dim]
  const float* v = nullptr;  // [keys, value_dim]
  float* out = nullptr;      // [queries, value_dim]
  float* lse = nullptr;      // [queries], or null
  int64_t first_query = 0;
  int64_t group_count = 0;  // lane groups that hold rows
};

TileView ViewOf(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                int64_t tile) {
  const AttentionShape& shape = decision.shape;
  const int64_t lanes = static_cast<int64_t>(decision.kernel.lanes);
  const int64_t head_index = tile / decision.tiles_per_head;
  // Late rows first: with a causal mask theirs are the long tiles.
  const int64_t tile_in_head = decision.tiles_per_head - 1 - tile % decision.tiles_per_head;
  const int64_t batch = head_index / shape.heads;
  const int64_t head = head_index % shape.heads;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  TileView view;
  view.q = HeadView<const float>(tensors.q, batch, head);
  view.k = HeadView<const float>(tensors.k, batch, kv_head);
  view.v = HeadView<const float>(tensors.v, batch, kv_head);
  view.out = HeadView<float>(tensors.out, batch, head);
  view.lse = HeadView<float>(tensors.lse, batch, head);
  view.first_query = tile_in_head * decision.q_groups * lanes;
  view.group_count =
      std::min(decision.q_groups, core::DivideUp(shape.queries - view.first_query, lanes));
  return view;
}

// Rows [first_row, first_row + count) of an inner [rows, columns] view.
kernels::PrefetchRows Prefetch(const float* view, int64_t stride, int64_t first_row, int64_t count,
                               int64_t columns) {
  return {view + first_row * stride, stride * static_cast<int64_t>(sizeof(float)),
          static_cast<size_t>(count), static_cast<size_t>(columns) * sizeof(float)};
}

// One worker's way through its query tiles.
class LanesLoop {
 public:
  LanesLoop(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
            float* scratch)
      : decision_(decision),
        shape_(decision.shape),
        tensors_(tensors),
        scratch_(scratch),
        lanes_(static_cast<int64_t>(decision.kernel.lanes)) {}

  // Computes a tile; `next`, if any, is what this worker computes after it.
  void Run(const TileView& tile, const TileView* next) {
    tile_ = tile;
    next_ = next;
    for (int64_t g = 0; g < tile_.group_count; ++g) Load(g);
    KeyRange any;
    for (int64_t g = 0; g < tile_.group_count; ++g) any = Cover(any, rows_[g].any);
    // Block edges are multiples of kv_block, whatever the rows see.
    const int64_t kv_block = decision_.kv_block;
    for (int64_t block = any.begin / kv_block * kv_block; block < any.end; block += kv_block) {
      for (int64_t g = 0; g < tile_.group_count; ++g) Step(g, {block, block + kv_block});
    }
    for (int64_t g = 0; g < tile_.group_count; ++g) Finish(g);
  }

 private:
  void Load(int64_t g) {
    rows_[g] = SeenBy(decision_.visibility, tile_.first_query + g * lanes_, shape_.queries,
                      decision_.kernel.lanes);
    started_[g] = false;
    const float* rows[kMaxLanes];
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const int64_t row = std::min(lane, static_cast<int64_t>(rows_[g].count) - 1);
      rows[lane] = tile_.q + (rows_[g].first_query + row) * tensors_.q.strides[2];
    }
    decision_.kernel.load({State(g), rows, static_cast<size_t>(shape_.dim), decision_.scale});
  }

  // Takes lane group g through the keys that it sees of a block.
  void Step(int64_t g, KeyRange block) {
    const GroupRows& rows = rows_[g];
    const KeyRange keys = Intersection(block, rows.any);
    if (keys.empty()) return;
    const bool full = rows.every.begin <= keys.begin && keys.end <= rows.every.end;
    if (!full) bounds_.Clip(rows, keys, decision_.kernel.lanes);

    const int64_t key_stride = tensors_.k.strides[2];
    const int64_t value_stride = tensors_.v.strides[2];
    kernels::StepArgs step;
    step.group = State(g);
    step.keys = tile_.k + keys.begin * key_stride;
    step.values = tile_.v + keys.begin * value_stride;
    step.key_stride = key_stride;
    step.value_stride = value_stride;
    step.key_count = static_cast<size_t>(keys.end - keys.begin);
    step.dim = static_cast<size_t>(shape_.dim);
    step.value_dim = static_cast<size_t>(shape_.value_dim);
    step.scores = scratch_ + decision_.q_groups * static_cast<int64_t>(decision_.group_floats);
    step.bounds = full ? nullptr : &bounds_.bounds;
    step.first = !started_[g];

    // The value stage walks down columns of V, which hardware prefetches badly; only the first
    // group finds the block cold. The last step of a group is when its output and the queries that
    // take its place are next.
    if (g == 0) {
      step.prefetch[0] =
          Prefetch(tile_.v, value_stride, keys.begin, keys.end - keys.begin, shape_.value_dim);
    }
    if (keys.end == rows.any.end) {
      step.prefetch[1] = Prefetch(tile_.out, tensors_.out.strides[2], rows.first_query,
                                  static_cast<int64_t>(rows.count), shape_.value_dim);
      if (next_ != nullptr && g < next_->group_count) {
        const int64_t first = next_->first_query + g * lanes_;
        step.prefetch[2] = Prefetch(next_->q, tensors_.q.strides[2], first,
                                    std::min(lanes_, shape_.queries - first), shape_.dim);
      }
    }
    decision_.kernel.step(step);
    started_[g] = true;
  }

  void Finish(int64_t g) {
    const GroupRows& rows = rows_[g];
    float* out[kMaxLanes];
    float* lse[kMaxLanes];
    for (size_t lane = 0; lane < rows.count; ++lane) {
      const int64_t query = rows.first_query + static_cast<int64_t>(lane);
      out[lane] = tile_.out + query * tensors_.out.strides[2];
      if (tile_.lse != nullptr) lse[lane] = tile_.lse + query * tensors_.lse.strides[2];
    }
    decision_.kernel.finish({State(g), out, tile_.lse != nullptr ? lse : nullptr, rows.count,
                             static_cast<size_t>(shape_.value_dim)});
  }

  // Where the state of lane group g lies in scratch. Each array is a multiple of `lanes` floats, so
  // all of them are aligned to a vector.
  kernels::LaneGroup State(int64_t g) const {
    kernels::LaneGroup group;
    group.queries = scratch_ + g * static_cast<int64_t>(decision_.group_floats);  // [dim, lanes]
    group.output = group.queries + shape_.dim * lanes_;      // [value_dim, lanes]
    group.shift = group.output + shape_.value_dim * lanes_;  // [lanes]
    group.sum = group.shift + lanes_;                        // [lanes]
    return group;
  }

  const AttentionPlan::Decision& decision_;
  const AttentionShape& shape_;
  const AttentionTensors& tensors_;
  float* const scratch_;
  const int64_t lanes_;
  TileView tile_;
  const TileView* next_ = nullptr;
  GroupRows rows_[kMaxQueryGroups];
  bool started_[kMaxQueryGroups] = {};  // whether the group's output holds anything
  StepBounds bounds_;
};

}  // namespace

std::optional<int64_t> LaneGroupFloats(int64_t dim, int64_t value_dim, int64_t lanes) {
  const auto vectors = core::CheckedSum({dim, value_dim, 2, kAlignmentFloats});
  const auto floats = vectors ? core::CheckedProduct({*vectors, lanes}) : std::nullopt;
  if (!floats) return std::nullopt;
  return core::RoundUp(*floats - kAlignmentFloats * lanes, kAlignmentFloats);
}

void RunLanesTiles(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                   int64_t begin, int64_t end, float* scratch) {
  LanesLoop loop(decision, tensors, scratch);
  TileView tile = ViewOf(decision, tensors, begin);
  for (int64_t i = begin + 1; i < end; ++i) {
    const TileView next = ViewOf(decision, tensors, i);
    loop.Run(tile, &next);
    tile = next;
  }
  loop.Run(tile, nullptr);
}

}  // namespace lanewise::attention
