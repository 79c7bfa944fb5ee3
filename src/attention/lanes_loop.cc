// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_loop.h"

#include <algorithm>
#include <optional>

#include "src/core/sizes.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {
namespace {

using kernels::kMaxLanes;

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

// Where the state of lane group `index` lies in scratch.
kernels::LaneGroup GroupState(const AttentionPlan::Decision& decision, float* scratch,
                              int64_t index) {
  const int64_t lanes = static_cast<int64_t>(decision.kernel.lanes);
  float* at = scratch + index * static_cast<int64_t>(decision.group_floats);
  kernels::LaneGroup group;
  group.queries = at;                                             // [dim, lanes]
  group.output = group.queries + decision.shape.dim * lanes;      // [value_dim, lanes]
  group.shift = group.output + decision.shape.value_dim * lanes;  // [lanes]
  group.sum = group.shift + lanes;                                // [lanes]
  // Vectors of `lanes` floats keep each array aligned, since lanes is a multiple of the vector.
  return group;
}

GroupRows SeenBy(const Visibility& visibility, int64_t first_query, int64_t queries, size_t lanes) {
  GroupRows rows;
  rows.first_query = first_query;
  rows.count = static_cast<size_t>(std::min(queries - first_query, static_cast<int64_t>(lanes)));
  for (size_t lane = 0; lane < lanes; ++lane) {
    const size_t row = std::min(lane, rows.count - 1);
    const KeyRange seen = visibility.KeysOf(first_query + static_cast<int64_t>(row));
    rows.lane[lane] = seen;
    if (lane == 0) {
      rows.every = rows.any = seen;
      continue;
    }
    rows.every = {std::max(rows.every.begin, seen.begin), std::min(rows.every.end, seen.end)};
    if (seen.empty()) continue;
    rows.any = rows.any.empty() ? seen
                                : KeyRange{std::min(rows.any.begin, seen.begin),
                                           std::max(rows.any.end, seen.end)};
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

}  // namespace

std::optional<int64_t> LaneGroupFloats(int64_t dim, int64_t value_dim, int64_t lanes) {
  const auto vectors = core::CheckedSum({dim, value_dim, 2, kAlignmentFloats});
  const auto floats = vectors ? core::CheckedProduct({*vectors, lanes}) : std::nullopt;
  if (!floats) return std::nullopt;
  return core::RoundUp(*floats - kAlignmentFloats * lanes, kAlignmentFloats);
}

void RunLanesTile(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                  int64_t tile, float* scratch) {
  const AttentionShape& shape = decision.shape;
  const kernels::LanesKernel& kernel = decision.kernel;
  const int64_t lanes = static_cast<int64_t>(kernel.lanes);

  // Which rows. Late tiles first: with a causal mask they are the long ones.
  const int64_t head_index = tile / decision.tiles_per_head;
  const int64_t tile_in_head = decision.tiles_per_head - 1 - tile % decision.tiles_per_head;
  const int64_t batch = head_index / shape.heads;
  const int64_t head = head_index % shape.heads;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t first_query = tile_in_head * decision.q_groups * lanes;
  const int64_t group_count =
      std::min(decision.q_groups, core::DivideUp(shape.queries - first_query, lanes));

  const float* q = HeadView<const float>(tensors.q, batch, head);     // [queries, dim]
  const float* k = HeadView<const float>(tensors.k, batch, kv_head);  // [keys, dim]
  const float* v = HeadView<const float>(tensors.v, batch, kv_head);  // [keys, value_dim]
  float* out = HeadView<float>(tensors.out, batch, head);             // [queries, value_dim]
  float* lse = HeadView<float>(tensors.lse, batch, head);             // [queries], or null
  float* scores =                                                     // [kv_block, lanes]
      scratch + decision.q_groups * static_cast<int64_t>(decision.group_floats);

  // Load the queries of each lane group.
  GroupRows rows[kMaxQueryGroups];
  bool started[kMaxQueryGroups] = {};
  KeyRange any;
  for (int64_t g = 0; g < group_count; ++g) {
    rows[g] = SeenBy(decision.visibility, first_query + g * lanes, shape.queries, kernel.lanes);
    if (!rows[g].any.empty()) {
      any = any.empty() ? rows[g].any
                        : KeyRange{std::min(any.begin, rows[g].any.begin),
                                   std::max(any.end, rows[g].any.end)};
    }
    const float* row_pointers[kMaxLanes];
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t row = std::min(lane, static_cast<int64_t>(rows[g].count) - 1);
      row_pointers[lane] = q + (rows[g].first_query + row) * tensors.q.strides[2];
    }
    kernel.load({GroupState(decision, scratch, g), row_pointers, static_cast<size_t>(shape.dim),
                 decision.scale});
  }

  // Walk over key blocks, whose edges are multiples of kv_block, and take each lane group through
  // the part of the block that it sees.
  StepBounds bounds;
  for (int64_t block = any.begin / decision.kv_block * decision.kv_block; block < any.end;
       block += decision.kv_block) {
    for (int64_t g = 0; g < group_count; ++g) {
      const KeyRange keys = {std::max(block, rows[g].any.begin),
                             std::min(block + decision.kv_block, rows[g].any.end)};
      if (keys.empty()) continue;
      const bool full = rows[g].every.begin <= keys.begin && keys.end <= rows[g].every.end;
      if (!full) bounds.Clip(rows[g], keys, kernel.lanes);

      kernels::StepArgs step;
      step.group = GroupState(decision, scratch, g);
      step.keys = k + keys.begin * tensors.k.strides[2];
      step.values = v + keys.begin * tensors.v.strides[2];
      step.key_stride = tensors.k.strides[2];
      step.value_stride = tensors.v.strides[2];
      step.key_count = static_cast<size_t>(keys.end - keys.begin);
      step.dim = static_cast<size_t>(shape.dim);
      step.value_dim = static_cast<size_t>(shape.value_dim);
      step.scores = scores;
      step.bounds = full ? nullptr : &bounds.bounds;
      step.first = !started[g];
      kernel.step(step);
      started[g] = true;
    }
  }

  // Divide and store.
  for (int64_t g = 0; g < group_count; ++g) {
    float* out_rows[kMaxLanes];
    float* lse_rows[kMaxLanes];
    for (size_t lane = 0; lane < rows[g].count; ++lane) {
      const int64_t query = rows[g].first_query + static_cast<int64_t>(lane);
      out_rows[lane] = out + query * tensors.out.strides[2];
      if (lse != nullptr) lse_rows[lane] = lse + query * tensors.lse.strides[2];
    }
    kernel.finish({GroupState(decision, scratch, g), out_rows, lse != nullptr ? lse_rows : nullptr,
                   rows[g].count, static_cast<size_t>(shape.value_dim)});
  }
}

}  // namespace lanewise::attention
