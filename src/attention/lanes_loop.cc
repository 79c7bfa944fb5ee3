// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_loop.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "src/attention/lane_rows.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"
#include "src/profile/defaults.h"

namespace lanewise::attention {
namespace {

using kernels::kMaxLanes;
using kernels::RowForm;
using profile::kMaxQueryGroups;

// How the rows of a mask or bias lie, for a kernel. A broadcast axis has size 1.
RowForm FormOf(const ConstTensor& tensor) {
  if (tensor.sizes[3] == 1) return RowForm::kPerLane;
  return tensor.sizes[2] == 1 ? RowForm::kPerKey : RowForm::kEach;
}

// Rows [first_row, first_row + count) of an inner [rows, columns] view.
kernels::PrefetchRows Prefetch(const float* view, int64_t stride, int64_t first_row, int64_t count,
                               int64_t columns) {
  return {view + first_row * stride, stride * static_cast<int64_t>(sizeof(float)),
          static_cast<size_t>(count), static_cast<size_t>(columns) * sizeof(float)};
}

constexpr int64_t kAlignmentFloats = kernels::kScratchAlignment / sizeof(float);

// Floats of scratch for the scores of a block, a multiple of the alignment.
int64_t ScoreFloats(const AttentionPlan::Decision& decision) {
  return core::RoundUp(decision.kv_block * static_cast<int64_t>(decision.kernel.lanes),
                       kAlignmentFloats);
}

// One worker's way through its query tiles.
class LanesLoop {
 public:
  LanesLoop(const Call& call, void* scratch)
      : call_(call),
        decision_(call.decision()),
        shape_(decision_.shape),
        tensors_(call.tensors()),
        lanes_(static_cast<int64_t>(decision_.kernel.lanes)),
        state_(static_cast<float*>(scratch)),
        scores_(state_ + decision_.q_groups * static_cast<int64_t>(decision_.group_floats)),
        visible_(reinterpret_cast<uint64_t*>(scores_ + ScoreFloats(decision_))) {}

  // Computes a tile; `next`, if any, is what this worker computes after it.
  void Run(const TileView& tile, const TileView* next) {
    tile_ = tile;
    next_ = next;
    for (int64_t g = 0; g < tile_.group_count; ++g) Load(g);
    ForEachStep([this](int64_t g, KeyRange keys) { Step(g, keys); });
    for (int64_t g = 0; g < tile_.group_count; ++g) Finish(g);
    if (tile_.weights == nullptr) return;
    for (int64_t g = 0; g < tile_.group_count; ++g) ClearWeights(g);
    ForEachStep([this](int64_t g, KeyRange keys) { Weights(g, keys); });
  }

 private:
  void Load(int64_t g) {
    rows_[g] = LaneRows(tile_.visibility, tile_.first_query + g * lanes_, tile_.queries,
                        decision_.kernel.lanes);
    started_[g] = false;
    const float* rows[kMaxLanes];
    for (size_t i = 0; i < decision_.kernel.lanes; ++i) {
      rows[i] = tile_.q + rows_[g].Query(i) * tensors_.q.strides[2];
    }
    decision_.kernel.load(
        {State(g), rows, static_cast<size_t>(shape_.dim), decision_.scale, tile_.sink});
  }

  // Calls `step` for each key block and each lane group that sees keys of it, with those keys.
  // Block edges are multiples of kv_block, whatever the rows see.
  template <class StepFunction>
  void ForEachStep(const StepFunction& step) {
    KeyRange any;
    for (int64_t g = 0; g < tile_.group_count; ++g) any = Cover(any, rows_[g].any);
    const int64_t kv_block = decision_.kv_block;
    for (int64_t block = any.begin / kv_block; block * kv_block < any.end; ++block) {
      const KeyRange block_keys = {block * kv_block,
                                   std::min((block + 1) * kv_block, tile_.visibility.keys())};
      StartBlock(Intersection(block_keys,
                              {any.begin, any.end + static_cast<int64_t>(decision_.kernel.rows)}));
      for (int64_t g = 0; g < tile_.group_count; ++g) {
        const KeyRange keys = StepKeys(rows_[g], block_keys);
        if (keys.empty()) continue;
        mask_class_ =
            call_.mask_classes().Of(tile_.batch, tile_.head, rows_[g].first_query / lanes_, block);
        if (mask_class_ != TileClass::kEmpty) step(g, keys);
      }
    }
  }

  // The keys of a block that a lane group takes in one step. If some are hidden from some lane
  // anyway, a few hidden from all are worth it where they fill the last register tile.
  KeyRange StepKeys(const LaneRows& rows, KeyRange block) const {
    KeyRange keys = Intersection(block, rows.any);
    if (keys.empty() || rows.every.Holds(keys)) return keys;
    const int64_t tile_rows = static_cast<int64_t>(decision_.kernel.rows);
    keys.end = std::min(
        {keys.begin + core::RoundUp(keys.size(), tile_rows), block.end, tile_.visibility.keys()});
    return keys;
  }

  void Step(int64_t g, KeyRange keys) {
    kernels::StepArgs step = ScoreArgs(g, keys);
    const int64_t value_stride = tensors_.v.strides[2];
    step.values = tile_.v + keys.begin * value_stride;
    step.value_stride = value_stride;
    step.value_dim = static_cast<size_t>(shape_.value_dim);
    step.has_sink = tile_.sink != -std::numeric_limits<float>::infinity();
    step.check = &check_;
    step.first = !started_[g];
    FetchAhead(g, keys, step);
    decision_.kernel.step(step);
    started_[g] = true;
  }

  // `keys`: those of the block that steps may read, a register tile's rows beyond what is seen
  // included.
  void StartBlock(KeyRange keys) {
    check_ = {};
    check_.rows = tile_.v + keys.begin * tensors_.v.strides[2];
    check_.row_count = static_cast<size_t>(keys.size());
    block_end_ = keys.end;
    fetched_end_ = keys.begin;
  }

  // What a step fetches while it computes scores: the values it has not had yet, since its value
  // stage walks down columns, which hardware prefetches badly; the keys that the next group sees
  // beyond its own; and in a group's last step its output and the queries that take its place.
  void FetchAhead(int64_t g, KeyRange keys, kernels::StepArgs& step) {
    const KeyRange values = Intersection(keys, {fetched_end_, keys.end});
    step.prefetch[0] =
        Prefetch(tile_.v, tensors_.v.strides[2], values.begin, values.size(), shape_.value_dim);
    fetched_end_ = keys.end;
    if (g + 1 < tile_.group_count) {
      const KeyRange ahead = {keys.end, std::min(rows_[g + 1].any.end, block_end_)};
      step.prefetch[1] =
          Prefetch(tile_.k, tensors_.k.strides[2], ahead.begin, ahead.size(), shape_.dim);
    }
    if (keys.end < rows_[g].any.end) return;
    step.prefetch[2] = Prefetch(tile_.out, tensors_.out.strides[2], rows_[g].first_query,
                                static_cast<int64_t>(rows_[g].count), shape_.value_dim);
    if (next_ == nullptr || g >= next_->group_count) return;
    const int64_t first = next_->first_query + g * lanes_;
    step.prefetch[3] = Prefetch(next_->q, tensors_.q.strides[2], first,
                                std::min(lanes_, next_->queries - first), shape_.dim);
  }

  void Finish(int64_t g) {
    const LaneRows& rows = rows_[g];
    float* out[kMaxLanes];
    float* lse[kMaxLanes];
    for (size_t i = 0; i < rows.count; ++i) {
      out[i] = tile_.out + rows.Query(i) * tensors_.out.strides[2];
      if (tile_.lse != nullptr) lse[i] = tile_.lse + rows.Query(i) * tensors_.lse.strides[2];
    }
    decision_.kernel.finish({State(g), out, tile_.lse != nullptr ? lse : nullptr, rows.count,
                             static_cast<size_t>(shape_.value_dim)});
  }

  void ClearWeights(int64_t g) {
    for (size_t i = 0; i < rows_[g].count; ++i) {
      std::fill_n(WeightsRow(g, i), tile_.keys, 0.0f);
    }
  }

  void Weights(int64_t g, KeyRange keys) {
    float* rows[kMaxLanes];
    for (size_t i = 0; i < rows_[g].count; ++i) rows[i] = WeightsRow(g, i) + keys.begin;
    decision_.kernel.weights({ScoreArgs(g, keys), rows, rows_[g].count});
  }

  float* WeightsRow(int64_t g, size_t i) const {
    return tile_.weights + rows_[g].Query(i) * tensors_.weights.strides[2];
  }

  // What a step needs to compute and edit its scores.
  kernels::StepArgs ScoreArgs(int64_t g, KeyRange keys) {
    kernels::StepArgs step = {};
    step.group = State(g);
    step.key_stride = tensors_.k.strides[2];
    step.keys = tile_.k + keys.begin * step.key_stride;
    step.key_count = static_cast<size_t>(keys.size());
    step.dim = static_cast<size_t>(shape_.dim);
    step.scores = scores_;
    step.visible = visible_;
    step.edits.softcap = decision_.softcap;
    if (tile_.alibi_slope != 0) EditByDistance(g, keys, step.edits);
    if (tile_.bias != nullptr) EditByBias(g, keys, step.edits);
    if (mask_class_ == TileClass::kPartial) EditByMask(g, keys, step.edits);
    if (!rows_[g].every.Holds(keys)) {
      bounds_.Clip(tile_.visibility, rows_[g], keys, decision_.kernel.lanes);
      step.edits.bounds = &bounds_.bounds;
    }
    return step;
  }

  void EditByDistance(int64_t g, KeyRange keys, kernels::ScoreEdits& edits) {
    for (size_t i = 0; i < decision_.kernel.lanes; ++i) {
      positions_[i] = static_cast<float>(
          core::SaturatingSum(tile_.visibility.Position(rows_[g].Query(i)), -keys.begin));
    }
    edits.alibi_slope = tile_.alibi_slope;
    edits.positions = positions_;
  }

  void EditByBias(int64_t g, KeyRange keys, kernels::ScoreEdits& edits) {
    edits.bias_form = FormOf(call_.bias());
    PointAtRows(tile_.bias, call_.bias(), g, keys, bias_rows_);
    edits.bias = bias_rows_;
  }

  void EditByMask(int64_t g, KeyRange keys, kernels::ScoreEdits& edits) {
    edits.mask_form = FormOf(call_.mask());
    PointAtRows(tile_.mask, call_.mask(), g, keys, mask_rows_);
    edits.mask = mask_rows_;
  }

  // Points each lane at its row of a mask or bias, at the step's first key.
  template <typename Element>
  void PointAtRows(const Element* view, const ConstTensor& tensor, int64_t g, KeyRange keys,
                   const Element* (&rows)[kMaxLanes]) const {
    const int64_t row_stride = tensor.sizes[2] == 1 ? 0 : tensor.strides[2];
    const int64_t first_key = tensor.sizes[3] == 1 ? 0 : keys.begin;
    for (size_t i = 0; i < decision_.kernel.lanes; ++i) {
      rows[i] = view + rows_[g].Query(i) * row_stride + first_key;
    }
  }

  // Where the state of lane group g lies in scratch. Each array is a multiple of `lanes` floats, so
  // all of them are aligned to a vector.
  kernels::LaneGroup State(int64_t g) const {
    kernels::LaneGroup group;
    group.queries = state_ + g * static_cast<int64_t>(decision_.group_floats);  // [dim, lanes]
    group.output = group.queries + shape_.dim * lanes_;      // [value_dim, lanes]
    group.shift = group.output + shape_.value_dim * lanes_;  // [lanes]
    group.sum = group.shift + lanes_;                        // [lanes]
    group.seen = group.sum + lanes_;                         // [lanes]
    return group;
  }

  const Call& call_;
  const AttentionPlan::Decision& decision_;
  const AttentionShape& shape_;
  const AttentionTensors& tensors_;
  const int64_t lanes_;
  float* const state_;       // [q_groups, group_floats]
  float* const scores_;      // [kv_block, lanes]
  uint64_t* const visible_;  // [kv_block]

  TileView tile_;
  const TileView* next_ = nullptr;
  LaneRows rows_[kMaxQueryGroups];
  bool started_[kMaxQueryGroups] = {};  // whether the group's output holds anything

  // Of the current block.
  kernels::ValueCheck check_;
  int64_t block_end_ = 0;
  int64_t fetched_end_ = 0;  // values of the block fetched so far

  // Of the current step.
  TileClass mask_class_ = TileClass::kFull;
  StepBounds bounds_;
  alignas(kernels::kScratchAlignment) float positions_[kMaxLanes];
  const float* bias_rows_[kMaxLanes];
  const uint8_t* mask_rows_[kMaxLanes];
};

}  // namespace

bool SizeLanesScratch(AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const int64_t lanes = static_cast<int64_t>(decision.kernel.lanes);
  const auto state_rows = core::CheckedSum({shape.dim, shape.value_dim, kernels::kStateRows});
  const auto state =
      state_rows ? core::CheckedProduct({*state_rows, lanes, decision.q_groups, 4}) : std::nullopt;
  const auto shared = Call::SharedBytes(decision);
  // Rounding up and the blocks of scores are small beside these.
  if (!state || !shared || *state > INT64_MAX / 8 || *shared > INT64_MAX / 8) return false;

  const int64_t group_floats = core::RoundUp(*state_rows * lanes, kAlignmentFloats);
  const int64_t block_bytes = ScoreFloats(decision) * static_cast<int64_t>(sizeof(float)) +
                              decision.kv_block * static_cast<int64_t>(sizeof(uint64_t));
  const int64_t worker_bytes =
      core::RoundUp(decision.q_groups * group_floats * 4 + block_bytes, kWorkerAlignment);
  if (!core::CheckedProduct({worker_bytes, 2, decision.team.workers()})) return false;
  decision.group_floats = static_cast<size_t>(group_floats);
  decision.worker_bytes = static_cast<size_t>(worker_bytes);
  decision.shared_bytes = static_cast<size_t>(core::RoundUp(*shared, kWorkerAlignment));
  return true;
}

void RunLanesTiles(const Call& call, int64_t begin, int64_t end, void* scratch) {
  LanesLoop loop(call, scratch);
  TileView tile = call.Tile(begin);
  for (int64_t i = begin + 1; i < end; ++i) {
    const TileView next = call.Tile(i);
    loop.Run(tile, &next);
    tile = next;
  }
  loop.Run(tile, nullptr);
}

}  // namespace lanewise::attention
