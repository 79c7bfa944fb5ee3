// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The stages of one step of the `lanes` variant (contract in lanes.h), each on one lane group of NV
// vectors: score -> edit -> softmax -> value. What stays in the first-level cache: the queries
// [dim][lanes] during score, the scores [keys][lanes] throughout; rows of K and V stream.

#if defined(LANEWISE_SRC_KERNELS_LANES_STAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_STAGES_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_STAGES_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_STAGES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_edit-inl.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/score_forms-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// The shift follows the running maximum only when it falls this far behind. Weights then reach
// e^kShiftSlack instead of 1, which costs no precision, and after the first blocks of a row hardly
// any step has to rescale its output.
inline constexpr float kShiftSlack = 8.0f;

// Hands the tiles of scores S[key][lane], for `keys` in order and the lanes of `part`, to
// `consume`.
template <class Form, size_t MR, size_t GV, size_t NV, class Consume>
HWY_INLINE void Score(FloatTag d, const StepArgs& args, Part<GV, NV> part, Keys keys,
                      Consume& consume, PrefetchCursor& prefetch) {
  size_t key = keys.begin;
  for (; key + MR <= keys.end; key += MR) {
    RegisterTile<MR, NV> tile;  // [MR keys, lanes]
    Form::Fill(d, args, part, key, tile, prefetch);
    consume(d, tile, args.scores + key * part.kGroupWidth + part.lane);
  }
  if constexpr (MR > 1) {
    Score<Form, TailRows(MR)>(d, args, part, {key, keys.end}, consume, prefetch);
  }
}

// Keeps the scores for later stages, and their maximum.
template <size_t GV, size_t NV>
struct KeepScores {
  FloatVec max[NV];

  template <size_t MR>
  HWY_INLINE void operator()(FloatTag d, const RegisterTile<MR, NV>& tile, float* scores) {
    tile.Store(d, scores, GV * kLanes);
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) max[j] = hn::Max(max[j], tile.acc[i][j]);
    }
  }
};

// The next keys of a span that are scored together, from `keys.begin` on. Edits follow the scores
// of a few keys at a time, while they are in the first-level cache; where only bounds hide keys,
// those that all lanes see, `full`, need none.
struct Segment {
  Keys keys;
  bool edited;
};

template <size_t MR>
HWY_INLINE Segment NextSegment(const ScoreEdits& edits, Keys keys, Keys full) {
  constexpr size_t kEditedKeys = 4 * MR;
  size_t end = keys.end;
  bool edited = edits.any();
  if (edited && edits.only_bounds()) {
    if (keys.begin < full.begin) {
      end = keys.begin + (full.begin - keys.begin + MR - 1) / MR * MR;
    } else if (keys.begin + MR <= full.end) {
      end = keys.begin + (full.end - keys.begin) / MR * MR;
      edited = false;
    }
  } else if (edited) {
    end = keys.begin + kEditedKeys;
  }
  return {{keys.begin, HWY_MIN(end, keys.end)}, edited};
}

// The keys that all lanes see, of the vectors that take part in a span or, to note who sees what,
// of the group.
HWY_INLINE Keys FullKeys(const StepArgs& args, const Span& span, bool note) {
  if (args.edits.bounds == nullptr) return {0, args.key_count};
  const LaneBounds& bounds = *args.edits.bounds;
  if (note) return {bounds.full_begin, bounds.full_end};
  const size_t first = span.vector * kLanes;
  const size_t last = first + span.vector_count * kLanes - 1;
  return {static_cast<size_t>(bounds.begin[last]), static_cast<size_t>(bounds.end[first])};
}

// Gives the vectors of a group that take no part in a span the score -inf.
template <size_t NV>
void ScoreOthers(const StepArgs& args, const Span& span) {
  const FloatTag d;
  for (size_t key = span.keys.begin; key < span.keys.end; ++key) {
    for (size_t j = 0; j < NV; ++j) {
      if (j >= span.vector && j < span.vector + span.vector_count) continue;
      hn::Store(hn::Set(d, -kInfinity), d, args.scores + (key * NV + j) * kLanes);
    }
  }
}

// Score and edit of a span.
template <class Form, size_t MR, size_t GV, size_t NV>
HWY_INLINE void ScoreAndEditPart(FloatTag d, const StepArgs& args, Part<GV, NV> part,
                                 const Span& span, bool note, FloatVec (&max)[GV],
                                 PrefetchCursor& prefetch) {
  const Keys full = FullKeys(args, span, note);
  for (size_t key = span.keys.begin; key < span.keys.end;) {
    const Segment segment = NextSegment<MR>(args.edits, {key, span.keys.end}, full);
    KeepScores<GV, NV> scores;
    HWY_UNROLL(16)
    for (size_t j = 0; j < NV; ++j) scores.max[j] = hn::Set(d, -kInfinity);
    Score<Form, MR>(d, args, part, segment.keys, scores, prefetch);
    if (segment.edited) {
      Edit<GV>(args, segment.keys, note, max);
    } else {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        max[span.vector + j] = hn::Max(max[span.vector + j], scores.max[j]);
      }
    }
    key = segment.keys.end;
  }
}

// Score and edit: leaves the step's scores in scratch and their maximum in `max`.
template <class Form, size_t MR, size_t NV>
HWY_INLINE void ScoreAndEdit(FloatTag d, const StepArgs& args, const Spans<MR, NV>& spans,
                             bool note, FloatVec (&max)[NV], PrefetchCursor& prefetch) {
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) max[j] = hn::Set(d, -kInfinity);
  if (note) {
    for (size_t key = 0; key < args.key_count; ++key) args.visible[key] = ~uint64_t{0};
  }
  for (const Span& span : spans) {
    if (span.vector_count < NV) {
      ScoreOthers<NV>(args, span);
      if (span.vector_count == 0) {
        if (note) Edit<NV>(args, span.keys, note, max);
        continue;
      }
    }
    WithPart<NV>(span, [&]<size_t PartNV>(Part<NV, PartNV> part) HWY_ATTR {
      ScoreAndEditPart<Form, PartRows(MR, NV, PartNV)>(d, args, part, span, note, max, prefetch);
    });
  }
}

// Turns scores into weights while they are in registers, on the guess that no lane will have to
// raise its shift. The core then works on them beside the products of the next tile.
template <size_t NV>
struct MakeWeights {
  FloatVec shift[NV];
  FloatVec max[NV];
  FloatVec sum[NV];

  template <size_t MR>
  HWY_INLINE void operator()(FloatTag d, const RegisterTile<MR, NV>& tile, float* weights) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        max[j] = hn::Max(max[j], tile.acc[i][j]);
        const FloatVec p = Exp(d, hn::Sub(tile.acc[i][j], shift[j]));
        hn::Store(p, d, weights + (i * NV + j) * kLanes);
        sum[j] = hn::Add(sum[j], p);
      }
    }
  }
};

// Whether to guess. It saves a pass over the scores, and costs a score stage when the guess is
// wrong; without registers for the constants of exp beside the tile it gains nothing.
inline constexpr bool kGuessShift = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;

// Score and softmax in one, or false if a lane has to raise its shift (one that has seen no key
// yet always does): then only scratch scores have changed.
template <class Form, size_t MR, size_t NV>
HWY_INLINE bool TryScoreAndSoftmax(FloatTag d, const StepArgs& args, PrefetchCursor& prefetch) {
  MakeWeights<NV> weights;
  bool raise = false;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    weights.shift[j] = hn::Load(d, args.group.shift + j * kLanes);
    weights.max[j] = hn::Set(d, -kInfinity);
    weights.sum[j] = hn::Zero(d);
    raise |= !hn::AllFalse(d, hn::Eq(weights.shift[j], hn::Set(d, -kInfinity)));
  }
  if (raise) return false;
  Score<Form, MR>(d, args, Part<NV, NV>{0}, {0, args.key_count}, weights, prefetch);
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    raise |= !hn::AllFalse(
        d, hn::Gt(weights.max[j], hn::Add(weights.shift[j], hn::Set(d, kShiftSlack))));
  }
  if (raise) return false;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    float* HWY_RESTRICT total = args.group.sum + j * kLanes;
    hn::Store(hn::Add(hn::Load(d, total), weights.sum[j]), d, total);
  }
  return true;
}

// Vectors whose exp is computed together.
inline constexpr size_t kExpVectors = 2;

// Turns the scores of U keys into weights, in place, and adds them to `sum` in key order.
template <size_t U, size_t NV>
HWY_INLINE FloatVec Weigh(FloatTag d, float* HWY_RESTRICT scores, FloatVec shift, FloatVec sum) {
  constexpr size_t kWidth = NV * kLanes;
  FloatVec p[U];
  HWY_UNROLL(8)
  for (size_t u = 0; u < U; ++u) {
    p[u] = hn::Sub(hn::Load(d, scores + u * kWidth), shift);
  }
  Exp<U>(d, p);
  HWY_UNROLL(8)
  for (size_t u = 0; u < U; ++u) {
    hn::Store(p[u], d, scores + u * kWidth);
    sum = hn::Add(sum, p[u]);
  }
  return sum;
}

// Turns scores into weights in place, updates shift and sum, and leaves in `rescale` the factor by
// which what the group summed up so far has to shrink. Returns whether any factor differs from 1.
template <size_t MR, size_t NV>
HWY_INLINE bool Softmax(FloatTag d, const StepArgs& args, const Spans<MR, NV>& spans,
                        const FloatVec (&max)[NV], float* HWY_RESTRICT rescale) {
  constexpr size_t kWidth = NV * kLanes;
  FloatVec shift[NV];
  bool moved = false;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    const FloatVec old_shift = hn::Load(d, args.group.shift + j * kLanes);
    const FloatMask raise = hn::Gt(max[j], hn::Add(old_shift, hn::Set(d, kShiftSlack)));
    const FloatVec new_shift = hn::IfThenElse(raise, max[j], old_shift);
    hn::Store(new_shift, d, args.group.shift + j * kLanes);
    moved |= !hn::AllFalse(d, raise);
    // A lane that has seen no key keeps shift -inf; -inf - -inf would be NaN.
    shift[j] = hn::IfThenZeroElse(hn::Eq(new_shift, hn::Set(d, -kInfinity)), new_shift);
    hn::Store(Exp(d, hn::Sub(old_shift, shift[j])), d, rescale + j * kLanes);
  }

  for (size_t j = 0; j < NV; ++j) {
    FloatVec sum = hn::Zero(d);
    const Keys keys = spans.Of(j);
    size_t key = keys.begin;
    for (; key + kExpVectors <= keys.end; key += kExpVectors) {
      sum = Weigh<kExpVectors, NV>(d, args.scores + key * kWidth + j * kLanes, shift[j], sum);
    }
    for (; key < keys.end; ++key) {
      sum = Weigh<1, NV>(d, args.scores + key * kWidth + j * kLanes, shift[j], sum);
    }
    float* HWY_RESTRICT total = args.group.sum + j * kLanes;
    hn::Store(hn::MulAdd(hn::Load(d, total), hn::Load(d, rescale + j * kLanes), sum), d, total);
  }
  return moved;
}

// Brings the output tile of rows starting at `c` into registers.
template <size_t MR, size_t GV, size_t NV>
HWY_INLINE void LoadOutput(FloatTag d, const StepArgs& args, Part<GV, NV> part, size_t c,
                           const float* rescale, RegisterTile<MR, NV>& tile) {
  if (args.first) {
    tile.Zero(d);
    return;
  }
  tile.Load(d, args.group.output + c * part.kGroupWidth + part.lane, part.kGroupWidth);
  if (rescale != nullptr) tile.Scale(d, rescale + part.lane);
}

// output[c][lane] = output[c][lane] * rescale + Σ_key V[key][c] * P[key][lane] for c in
// [c, value_dim), `keys` in order and the lanes of `part`. `rescale` is null when all factors
// are 1.
template <size_t MR, size_t GV, size_t NV>
HWY_INLINE void Value(FloatTag d, const StepArgs& args, Part<GV, NV> part, Keys keys, size_t c,
                      const float* rescale, PrefetchCursor& prefetch) {
  constexpr size_t kWidth = GV * kLanes;
  const float* const values = args.values + static_cast<int64_t>(keys.begin) * args.value_stride;
  const float* const weights = args.scores + keys.begin * kWidth + part.lane;
  for (; c + MR <= args.value_dim; c += MR) {
    RegisterTile<MR, NV> tile;  // [MR value dims, lanes]
    LoadOutput(d, args, part, c, rescale, tile);
    const ProductArgs product = {values + c, args.value_stride, weights, kWidth,
                                 keys.end - keys.begin};
    MultiplyAddAndFetch<ARows::kContiguous>(d, product, tile, prefetch);
    tile.Store(d, args.group.output + c * kWidth + part.lane, kWidth);
  }
  if constexpr (MR > 1) Value<TailRows(MR)>(d, args, part, keys, c, rescale, prefetch);
}

// The same over several spans: each adds to what the ones before have left.
template <size_t MR, size_t NV>
HWY_NOINLINE void ValueOfSpans(const StepArgs& args, const Spans<MR, NV>& spans,
                               const float* rescale, PrefetchCursor& prefetch) {
  const FloatTag d;
  if (args.first || rescale != nullptr) {
    for (size_t c = 0; c < args.value_dim; ++c) {
      RegisterTile<1, NV> tile;
      LoadOutput(d, args, Part<NV, NV>{0}, c, rescale, tile);
      tile.Store(d, args.group.output + c * NV * kLanes, NV * kLanes);
    }
  }
  StepArgs next = args;
  next.first = false;
  for (const Span& span : spans) {
    if (span.vector_count == 0) continue;
    WithPart<NV>(span, [&]<size_t PartNV>(Part<NV, PartNV> part) HWY_ATTR {
      Value<PartRows(MR, NV, PartNV)>(d, next, part, span.keys, 0, nullptr, prefetch);
    });
  }
}

// The same, leaving a lane's output alone at keys it does not see: 0 * V would be NaN where V is
// not finite. Rare, so one row at a time.
template <size_t NV>
HWY_NOINLINE void ValueOfVisible(const StepArgs& args, const float* rescale) {
  const FloatTag d;
  constexpr size_t kWidth = NV * kLanes;
  for (size_t c = 0; c < args.value_dim; ++c) {
    RegisterTile<1, NV> tile;
    LoadOutput(d, args, Part<NV, NV>{0}, c, rescale, tile);
    for (size_t key = 0; key < args.key_count; ++key) {
      const FloatVec v = hn::Set(
          d, args.values[static_cast<int64_t>(key) * args.value_stride + static_cast<int64_t>(c)]);
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        const FloatVec p = hn::Load(d, args.scores + key * kWidth + j * kLanes);
        tile.acc[0][j] = hn::IfThenElse(VisibleLanes(d, args, key, j),
                                        hn::MulAdd(v, p, tile.acc[0][j]), tile.acc[0][j]);
      }
    }
    tile.Store(d, args.group.output + c * kWidth, kWidth);
  }
}

// What args.check says, after looking if need be.
HWY_NOINLINE bool ValuesAreFinite(const StepArgs& args) {
  ValueCheck& check = *args.check;
  if (check.state == ValueCheck::State::kUnknown) {
    const FloatTag d;
    // 0 * x, which is NaN for NaN and inf; in several chains, as each waits for its last product.
    constexpr size_t kChains = 4;
    FloatVec zeros[kChains];
    HWY_UNROLL(4)
    for (size_t u = 0; u < kChains; ++u) zeros[u] = hn::Zero(d);
    float zero = 0.0f;
    for (size_t i = 0; i < check.row_count; ++i) {
      const float* HWY_RESTRICT row = check.rows + static_cast<int64_t>(i) * args.value_stride;
      size_t c = 0;
      for (; c + kChains * kLanes <= args.value_dim; c += kChains * kLanes) {
        HWY_UNROLL(4)
        for (size_t u = 0; u < kChains; ++u) {
          zeros[u] = hn::MulAdd(hn::LoadU(d, row + c + u * kLanes), hn::Zero(d), zeros[u]);
        }
      }
      for (; c + kLanes <= args.value_dim; c += kLanes) {
        zeros[0] = hn::MulAdd(hn::LoadU(d, row + c), hn::Zero(d), zeros[0]);
      }
      for (; c < args.value_dim; ++c) zero += row[c] * 0.0f;
    }
    const FloatVec all = hn::Add(hn::Add(zeros[0], zeros[1]), hn::Add(zeros[2], zeros[3]));
    const bool finite = hn::AllTrue(d, hn::Eq(all, all)) && zero == zero;
    check.state = finite ? ValueCheck::State::kFinite : ValueCheck::State::kNotFinite;
  }
  return check.state == ValueCheck::State::kFinite;
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_STAGES_INL_H_
