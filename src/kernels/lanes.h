// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The `lanes` variant of attention: every query owns a SIMD lane. This header is the contract
// between the loop that walks over tiles and the kernels, and knows no instruction set.
//
// A lane group is NV vectors of query lanes. Its state lives in scratch, transposed, so that all
// lanes of one dimension lie side by side:
//
//   queries  [dim][lanes]        queries, scaled or projected
//   output   [value_dim][lanes]  sum of weights times values, not yet divided
//   shift    [lanes]             what the scores are reduced by before exp; -inf = nothing seen yet
//   sum      [lanes]             sum of weights, a sink's included
//   seen     [lanes]             0 until a lane with a sink has seen a key; else 1
//
// One step takes a range of keys inside one kv block through score -> edit -> softmax -> value:
//
//   S[key][lane] = K[key] · queries[.][lane], or another ScoreForm
//   S edited (ScoreEdits); -inf where a lane does not see the key
//   shift' = shift, at first the lane's first score; raised to the step's maximum when that is too
//            far above it (lanes_softmax-inl.h)
//   P = exp(S - shift'),  sum = sum * exp(shift - shift') + Σ_key P
//   output[c][lane] = output[c][lane] * exp(shift - shift') + Σ_key V[key][c] * P[key][lane]
//
// A lane's numbers never meet another lane's, and each key is added in key order, so a row's result
// does not depend on which rows share its lane group, nor on the register tile.

#ifndef LANEWISE_SRC_KERNELS_LANES_H_
#define LANEWISE_SRC_KERNELS_LANES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lanewise::kernels {

// Alignment, in bytes, of every scratch array below, and so of a whole number of floats.
inline constexpr size_t kScratchAlignment = 64;

// The largest number of lanes in a lane group, over all targets and tiles.
inline constexpr size_t kMaxLanes = 64;

struct LaneGroup {
  float* queries;  // [dim][lanes]
  float* output;   // [value_dim][lanes]
  float* shift;    // [lanes]
  float* sum;      // [lanes]
  float* seen;     // [lanes]
};

// Floats of a lane group's state, in units of `lanes`: dim + value_dim + this.
inline constexpr int64_t kStateRows = 3;

// How keys and queries make scores.
enum class ScoreForm {
  kDot,       // S = K · Q
  kDistance,  // S = distance_factor * Σ_d (K[key][d] - Q[d][lane])²
  kAdditive,  // S = Σ_d tanh_weights[d] * tanh(K[key][d] + Q[d][lane])
};

// Fills `group.queries` with scale * rows, transposed, and resets shift, sum and seen. A sink is
// a key with that score and a value of 0 that the lane sees first.
struct LoadArgs {
  LaneGroup group;
  const float* const* rows;  // [lanes] pointers to [dim]; unused lanes repeat a valid row
  size_t dim;
  float scale;
  const float* sinks;  // [lanes], aligned; -inf: none
};

// A matrix times the rows of b, for as many columns as there are lanes:
//
//   to[i][lane] = Σ_s a(i, s) * b[s][lane]        i < row_count, s < steps, in order of s
//
// Weights times queries, or keys times columns of weights.
struct MultiplyArgs {
  const float* a;  // a(i, s) = a[i * a_stride + s], or with by_columns a[i + s * a_stride]
  int64_t a_stride;
  bool by_columns;
  const float* b;  // [steps][b_stride], aligned to a vector, like each of its rows
  size_t b_stride;
  float* to;  // [row_count][to_stride], likewise
  size_t to_stride;
  size_t row_count;
  size_t steps;
};

// The keys of a step that not every lane may see. Lane i sees keys begin[i] <= key < end[i],
// counted from the step's first key; all lanes see full_begin <= key < full_end. Neither begin nor
// end ever falls from one lane to the next, so that the vectors of a group that see a key are
// neighbours.
struct LaneBounds {
  const int32_t* begin;  // [lanes]
  const int32_t* end;    // [lanes]
  size_t full_begin;
  size_t full_end;
};

// How the rows of a mask or bias lie.
enum class RowForm {
  kEach,     // one row of keys for each lane
  kPerKey,   // all lanes have the same row, rows[0]
  kPerLane,  // one value for all keys, rows[lane][0]
};

// What happens to the scores of a step, in this order. Absent parts are null or 0.
struct ScoreEdits {
  // S = softcap * tanh(S / softcap).
  float softcap = 0;

  // S -= slope * |position - key|, both counted from the first key of the kv block, where the step
  // begins at `first_key`: what a far position is rounded to may not depend on the step.
  const float* alibi_slopes = nullptr;  // [lanes], aligned
  const float* positions = nullptr;     // [lanes], aligned
  size_t first_key = 0;

  // S += bias, and a lane does not see keys whose bias is -inf. Rows start at the step's first key.
  const float* const* bias = nullptr;  // [lanes]
  RowForm bias_form = RowForm::kEach;

  // A lane sees the keys whose byte is not 0.
  const uint8_t* const* mask = nullptr;  // [lanes]
  RowForm mask_form = RowForm::kEach;

  const LaneBounds* bounds = nullptr;

  bool hides_by_key() const { return bias != nullptr || mask != nullptr; }
  bool hides() const { return hides_by_key() || bounds != nullptr; }
  bool any() const { return hides() || softcap != 0 || positions != nullptr; }
  bool changes_scores() const { return hides_by_key() || softcap != 0 || positions != nullptr; }
  bool only_bounds() const { return bounds != nullptr && !changes_scores(); }
};

// Rows that will be needed soon. A step fetches their cache lines into the second-level cache, list
// by list, a few at a time over its score and value stages, where the load units are idle half of
// the time.
struct PrefetchRows {
  const void* first = nullptr;
  int64_t stride_bytes = 0;
  size_t row_count = 0;
  size_t row_bytes = 0;
};
inline constexpr size_t kPrefetchLists = 4;

// Whether the values of a block are finite, so that hidden ones may be multiplied by their weight
// 0. The first step that has to know looks, once its scores are done. A step without a check takes
// them for finite: if a hidden one is not, outputs of lanes that do not see it become NaN.
struct ValueCheck {
  enum class State { kUnknown, kFinite, kNotFinite };

  const float* rows = nullptr;  // [row_count, value_dim], value_stride apart
  size_t row_count = 0;
  State state = State::kUnknown;
};

// Whether it is worth a guess that a step leaves the shifts of its lanes alone: a wrong one costs a
// score stage, so the next few steps after it do not guess. Results do not depend on it.
class ShiftGuess {
 public:
  void WasWrong() { pause_ = kPause; }
  bool Worth() {
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }

 private:
  static constexpr int kPause = 31;
  int pause_ = 0;
};

// The first steps of rows, whose shifts are their first scores, and later ones.
struct ShiftGuesses {
  ShiftGuess first;
  ShiftGuess later;
};

struct StepArgs {
  LaneGroup group;
  const float* keys;    // first key row of the step
  const float* values;  // first value row of the step
  int64_t key_stride;   // elements from one key row to the next
  int64_t value_stride;
  size_t key_count;  // rows in the step, at least 1
  size_t dim;
  size_t value_dim;
  ScoreForm form;
  float distance_factor;      // for kDistance
  const float* tanh_weights;  // [dim], for kAdditive
  float* scores;              // scratch [key_count][lanes]
  uint64_t* visible;          // scratch [key_count]: bit i = lane i sees the key
  ScoreEdits edits;
  bool has_sink;      // some lane has
  ValueCheck* check;  // of values that the step reads, or null
  bool first;         // output holds nothing yet
  ShiftGuesses* guesses;
  PrefetchRows prefetch[kPrefetchLists];
};

// Stores the attention weights of a step's keys, after all steps of the group.
struct WeightsArgs {
  StepArgs step;       // group, keys, scores and edits; nothing about values
  float* const* rows;  // [row_count] pointers to the step's first key
  size_t row_count;
};

// Divides the output by the sum and stores it row by row; optionally the log-sum-exp. A row that
// saw no key becomes 0 and -inf. Returns whether all outputs are finite.
struct FinishArgs {
  LaneGroup group;
  float* const* rows;  // [row_count] pointers to [value_dim]
  float* const* lse;   // [row_count] pointers to one float, or null
  size_t row_count;    // lanes that hold a row
  size_t value_dim;
};

// One register tile of one target.
struct LanesKernel {
  std::string_view tile;  // "8x2v": rows x vectors of accumulators
  size_t rows;            // MR
  size_t vectors;         // NV
  size_t lanes;           // NV * lanes of a vector
  double relative_time;   // of a long row, against the target's first tile, as measured
  void (*load)(const LoadArgs&);
  void (*multiply)(const MultiplyArgs&);
  void (*step)(const StepArgs&);
  bool (*finish)(const FinishArgs&);
  void (*weights)(const WeightsArgs&);
};

// The tiles of `target` (one of the HWY_* bits), in order of preference for many rows.
std::vector<LanesKernel> LanesKernels(int64_t target);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_LANES_H_
