// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_loop.h"

#include <algorithm>
#include <limits>

#include "src/attention/lane_rows.h"
#include "src/attention/lanes_ahead.h"
#include "src/attention/lanes_scratch.h"
#include "src/attention/score.h"
#include "src/attention/score_inputs.h"
#include "src/attention/staged_rows.h"
#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"
#include "src/profile/defaults.h"

namespace lanewise::attention {
namespace {

using kernels::kMaxLanes;
using kernels::RowForm;
using profile::kMaxQueryGroups;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// How the rows of a mask or bias lie, for a kernel. A broadcast axis has size 1.
RowForm FormOf(const ConstTensor& tensor, int64_t heads) {
  if (tensor.sizes[3] == 1) return RowForm::kPerLane;
  return tensor.sizes[2] == 1 && (tensor.sizes[1] == 1 || heads == 1) ? RowForm::kPerKey
                                                                      : RowForm::kEach;
}

// One worker's way through its query tiles.
class LanesLoop {
 public:
  LanesLoop(const Call& call, void* scratch)
      : call_(call),
        decision_(call.decision()),
        kernel_(decision_.lanes.kernel),
        shape_(decision_.shape),
        lanes_(static_cast<int64_t>(kernel_.lanes)),
        score_dim_(ScoreDim(shape_, decision_.options.score)),
        layout_(decision_),
        scores_(static_cast<float*>(scratch) + layout_.scores),
        row_stage_(static_cast<float*>(scratch) + layout_.rows),
        visible_(reinterpret_cast<uint64_t*>(static_cast<float*>(scratch) + layout_.visible)),
        inputs_(call, layout_, static_cast<float*>(scratch)),
        values_(decision_.convert.v, decision_.convert.copy, shape_.value_dim,
                static_cast<float*>(scratch) + layout_.v) {
    PlaceGroups(static_cast<float*>(scratch));
    std::fill_n(sinks_, kMaxLanes, -kInfinity);
  }

  // Computes tiles [begin, end).
  void Run(int64_t begin, int64_t end) {
    QueryTile next = Tile(begin);
    for (int64_t i = begin; i < end; ++i) {
      tile_ = next;
      next_ = nullptr;
      if (i + 1 < end) {
        next = Tile(i + 1);
        next_ = &next;
      }
      RunTile();
    }
  }

 private:
  // Rows in order, as hardware fetches ahead of rising addresses best; but long rows first, so that
  // short ones fill what is left of the threads' time.
  QueryTile Tile(int64_t index) const {
    const WorkList::Unit unit = call_.tiles()[index];
    QueryTile tile;
    tile.heads = call_.Group(unit.batch, unit.kv_head);
    const bool lengthens = tile.heads.visibility.Lengthens();
    const int64_t place = lengthens ? unit.count - 1 - unit.index : unit.index;
    tile.first_row = place * decision_.lanes.q_groups * lanes_;
    tile.group_count = std::min(decision_.lanes.q_groups,
                                core::DivideUp(tile.heads.rows() - tile.first_row, lanes_));
    return tile;
  }

  struct Group {
    LaneRows rows;
    kernels::LaneGroup state;  // where it lies in scratch
    bool started = false;      // whether its output holds anything
    bool hides = false;        // whether some row of it did not see a key of a step
    bool finite = false;       // whether its outputs are
  };

  // Lane groups [begin, end) of a tile.
  struct GroupRange {
    int64_t begin;
    int64_t end;
  };

  void RunTile() {
    const GroupRange all = {0, tile_.group_count};
    RunGroups(all, /*checks_values=*/false);
    // Values are taken for finite until outputs are not: then hidden ones may be to blame.
    for (int64_t g = 0; g < tile_.group_count; ++g) {
      if (!groups_[g].finite && groups_[g].hides) RunGroups({g, g + 1}, /*checks_values=*/true);
    }
    if (tile_.heads.weights.data == nullptr) return;
    for (int64_t g = 0; g < tile_.group_count; ++g) ClearWeights(groups_[g].rows);
    ForEachStep(all, [this](int64_t g, const MaskPart& part) { Weights(groups_[g], part); });
  }

  void RunGroups(GroupRange range, bool checks_values) {
    for (int64_t g = range.begin; g < range.end; ++g) {
      groups_[g].rows.Set(tile_.heads, tile_.first_row + g * lanes_, kernel_.lanes);
      Load(groups_[g]);
    }
    ForEachStep(range, [this, checks_values](int64_t g, const MaskPart& part) {
      Step(g, part, checks_values);
    });
    for (int64_t g = range.begin; g < range.end; ++g) Finish(groups_[g]);
  }

  void Load(Group& group) {
    const LaneRows& rows = group.rows;
    group.started = false;
    group.hides = false;
    const char* q[kMaxLanes];
    rows.PointAt(tile_.heads.q, kernel_.lanes, q);
    const float* queries[kMaxLanes];
    for (size_t i = 0; i < kernel_.lanes; ++i) queries[i] = reinterpret_cast<const float*>(q[i]);
    if (decision_.convert.q != nullptr) {
      for (size_t i = 0; i < kernel_.lanes; ++i) {
        float* widened = row_stage_ + static_cast<int64_t>(i) * shape_.dim;
        decision_.convert.q({q[i], 0, widened, 0, 1, static_cast<size_t>(shape_.dim)});
        queries[i] = widened;
      }
    }
    if (tile_.heads.sinks != nullptr) {
      for (size_t i = 0; i < kernel_.lanes; ++i) sinks_[i] = tile_.heads.sinks[rows.head[i]];
    }
    inputs_.LoadQueries({group.state, queries, static_cast<size_t>(shape_.dim), 1.0f, sinks_});
  }

  // Calls `step` for each key block and each lane group that sees keys of it, with those keys and
  // what a mask says of them. Block edges are multiples of kv_block, whatever the rows see.
  template <class StepFunction>
  void ForEachStep(GroupRange range, const StepFunction& step) {
    KeyRange any;
    for (int64_t g = range.begin; g < range.end; ++g) any = Cover(any, groups_[g].rows.any);
    tile_keys_ = any;
    const int64_t kv_block = decision_.lanes.kv_block;
    for (int64_t block = any.begin / kv_block; block * kv_block < any.end; ++block) {
      const KeyRange block_keys = {block * kv_block,
                                   std::min((block + 1) * kv_block, tile_.heads.visibility.keys())};
      bool started = false;
      for (int64_t g = range.begin; g < range.end; ++g) {
        const LaneRows& rows = groups_[g].rows;
        MaskPart part = call_.mask_classes().Of(tile_.heads.batch, tile_.heads.kv_head,
                                                rows.first_row / lanes_, block, block_keys);
        if (part.part_class == TileClass::kEmpty) continue;
        part.keys = StepKeys(rows, part.keys);
        if (part.keys.empty()) continue;
        if (!started) {
          StartBlock(
              Intersection(block_keys, {any.begin, any.end + static_cast<int64_t>(kernel_.rows)}));
          started = true;
        }
        step(g, part);
      }
    }
  }

  // The keys of a block that a lane group takes in one step. If some are hidden from some lane
  // anyway, a few hidden from all are worth it where they fill the last register tile.
  KeyRange StepKeys(const LaneRows& rows, KeyRange block) const {
    KeyRange keys = Intersection(block, rows.any);
    if (keys.empty() || rows.every.Holds(keys)) return keys;
    const int64_t tile_rows = static_cast<int64_t>(kernel_.rows);
    keys.end = std::min({keys.begin + core::RoundUp(keys.size(), tile_rows), block.end,
                         tile_.heads.visibility.keys()});
    return keys;
  }

  // `keys`: those of the block that steps may read, a register tile's rows beyond what is seen
  // included.
  void StartBlock(KeyRange keys) {
    const bool gather = tile_.group_count >= kGatherGroups;
    inputs_.StageKeys(tile_.heads.k, keys, gather);
    values_.Stage(tile_.heads.v, keys, gather);
    check_ = {};
    check_.rows = values_.Row(keys.begin);
    check_.row_count = static_cast<size_t>(keys.size());
    block_end_ = keys.end;
  }

  void Step(int64_t g, const MaskPart& part, bool checks_values) {
    Group& group = groups_[g];
    kernels::StepArgs step = ScoreArgs(group, part);
    step.values = values_.Row(part.keys.begin);
    step.value_stride = values_.stride();
    step.value_dim = static_cast<size_t>(shape_.value_dim);
    step.has_sink = tile_.heads.sinks != nullptr;
    step.check = checks_values ? &check_ : nullptr;
    step.first = !group.started;
    step.guesses = &guesses_;
    FetchAhead({decision_, tile_, next_, tile_keys_, block_end_, values_.in_place()}, g, group.rows,
               part.keys, step);
    kernel_.step(step);
    group.started = true;
    group.hides |= step.edits.hides();
  }

  void Finish(Group& group) {
    const LaneRows& rows = group.rows;
    const bool narrow = decision_.convert.out != nullptr;
    char* out[kMaxLanes];
    rows.PointAt(tile_.heads.out, rows.count, out);
    float* sums[kMaxLanes];  // [value_dim] each, divided
    for (size_t i = 0; i < rows.count; ++i) {
      sums[i] = narrow ? row_stage_ + static_cast<int64_t>(i) * shape_.value_dim
                       : reinterpret_cast<float*>(out[i]);
    }
    float* lse[kMaxLanes];
    const bool wants_lse = tile_.heads.lse.data != nullptr;
    if (wants_lse) rows.PointAt(tile_.heads.lse, rows.count, lse);
    const size_t value_dim = static_cast<size_t>(shape_.value_dim);
    group.finite =
        kernel_.finish({group.state, sums, wants_lse ? lse : nullptr, rows.count, value_dim});
    if (!narrow) return;
    for (size_t i = 0; i < rows.count; ++i) {
      decision_.convert.out({sums[i], 0, out[i], 0, 1, value_dim});
    }
  }

  void ClearWeights(const LaneRows& rows) {
    for (size_t i = 0; i < rows.count; ++i) {
      std::fill_n(WeightsRow(rows, i), tile_.heads.keys, 0.0f);
    }
  }

  void Weights(const Group& group, const MaskPart& part) {
    float* weights[kMaxLanes];
    for (size_t i = 0; i < group.rows.count; ++i) {
      weights[i] = WeightsRow(group.rows, i) + part.keys.begin;
    }
    kernel_.weights({ScoreArgs(group, part), weights, group.rows.count});
  }

  float* WeightsRow(const LaneRows& rows, size_t i) const {
    return tile_.heads.weights.At(rows.head[i], rows.Query(i));
  }

  // What a step needs to compute and edit its scores.
  kernels::StepArgs ScoreArgs(const Group& group, const MaskPart& part) {
    const LaneRows& rows = group.rows;
    const KeyRange keys = part.keys;
    kernels::StepArgs step = {};
    step.group = group.state;
    inputs_.AddTo(step, keys.begin);
    step.key_count = static_cast<size_t>(keys.size());
    step.scores = scores_;
    step.visible = visible_;
    step.edits.softcap = decision_.softcap;
    if (tile_.heads.alibi_slopes != nullptr) EditByDistance(rows, keys, step.edits);
    if (tile_.heads.bias.data != nullptr) {
      step.edits.bias_form = FormOf(call_.bias(), tile_.heads.heads);
      step.edits.bias = PointAtRows(tile_.heads.bias, call_.bias(), rows, keys, bias_rows_);
    }
    if (part.part_class == TileClass::kPartial) {
      step.edits.mask_form = FormOf(call_.mask(), tile_.heads.heads);
      step.edits.mask = PointAtRows(tile_.heads.mask, call_.mask(), rows, keys, mask_rows_);
    }
    if (!rows.every.Holds(keys)) {
      bounds_.Clip(tile_.heads.visibility, rows, keys, kernel_.lanes);
      step.edits.bounds = &bounds_.bounds;
    }
    return step;
  }

  void EditByDistance(const LaneRows& rows, KeyRange keys, kernels::ScoreEdits& edits) {
    const int64_t kv_block = decision_.lanes.kv_block;
    const int64_t block_begin = keys.begin / kv_block * kv_block;
    for (size_t i = 0; i < kernel_.lanes; ++i) {
      positions_[i] = static_cast<float>(
          core::SaturatingSum(tile_.heads.visibility.Position(rows.Query(i)), -block_begin));
      slopes_[i] = tile_.heads.alibi_slopes[rows.head[i]];
    }
    edits.alibi_slopes = slopes_;
    edits.positions = positions_;
    edits.first_key = static_cast<size_t>(keys.begin - block_begin);
  }

  // Points each lane at its row of a mask or bias, at the step's first key.
  template <typename Element>
  const Element* const* PointAtRows(const HeadRows<const Element>& view, const ConstTensor& tensor,
                                    const LaneRows& rows, KeyRange keys,
                                    const Element* (&to)[kMaxLanes]) const {
    const int64_t first_key = tensor.sizes[3] == 1 ? 0 : keys.begin;
    rows.PointAt(view, kernel_.lanes, to);
    for (size_t i = 0; i < kernel_.lanes; ++i) to[i] += first_key;
    return to;
  }

  // Each array is a multiple of `lanes` floats, so all of them are aligned to a vector.
  void PlaceGroups(float* state) {
    for (int64_t g = 0; g < decision_.lanes.q_groups; ++g) {
      kernels::LaneGroup& to = groups_[g].state;
      to.queries =
          state + g * static_cast<int64_t>(decision_.lanes.group_floats);  // [score_dim, lanes]
      to.output = to.queries + score_dim_ * lanes_;                        // [value_dim, lanes]
      to.shift = to.output + shape_.value_dim * lanes_;                    // [lanes]
      to.sum = to.shift + lanes_;                                          // [lanes]
      to.seen = to.sum + lanes_;                                           // [lanes]
    }
  }

  const Call& call_;
  const AttentionPlan::Decision& decision_;
  const kernels::LanesKernel& kernel_;
  const AttentionShape& shape_;
  const int64_t lanes_;
  const int64_t score_dim_;
  const LanesScratch layout_;
  float* const scores_;
  float* const row_stage_;
  uint64_t* const visible_;

  // The current tile, and what this worker computes after it.
  QueryTile tile_;
  const QueryTile* next_ = nullptr;  // null: nothing
  Group groups_[kMaxQueryGroups];

  KeyRange tile_keys_;  // that some row of the tile sees

  // Of the current block.
  ScoreInputs inputs_;
  StagedRows values_;
  kernels::ValueCheck check_;
  int64_t block_end_ = 0;

  kernels::ShiftGuesses guesses_;

  // Of the current lane group or step.
  StepBounds bounds_;
  alignas(kernels::kScratchAlignment) float sinks_[kMaxLanes];
  alignas(kernels::kScratchAlignment) float slopes_[kMaxLanes];
  alignas(kernels::kScratchAlignment) float positions_[kMaxLanes];
  const float* bias_rows_[kMaxLanes];
  const uint8_t* mask_rows_[kMaxLanes];
};

}  // namespace

void RunLanesTiles(const Call& call, int64_t begin, int64_t end, void* scratch) {
  LanesLoop(call, scratch).Run(begin, end);
}

}  // namespace lanewise::attention
