// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The softmax stage of the `lanes` variant (contract in lanes.h): scores [keys][lanes] become
// weights in place. Either in a pass over the scores, or while they are still in registers, on the
// guess that no lane needs another shift.

#if defined(LANEWISE_SRC_KERNELS_LANES_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_SOFTMAX_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_SOFTMAX_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_SOFTMAX_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_edit-inl.h"
#include "src/kernels/lanes_score-inl.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// The shift follows the running maximum only when it falls this far behind. Weights then reach
// e^kShiftSlack instead of 1, which costs no precision, and after the first blocks of a row hardly
// any step has to rescale its output.
inline constexpr float kShiftSlack = 13.0f;

// A first shift may lag less, so that later steps hardly ever have to raise it after all.
inline constexpr float kFirstSlack = 9.0f;

// e^kShiftSlack and e^kFirstSlack, less what exp and a subtraction may be off by. If the weights of
// a step sum up to at most that, no score is farther above the shift than the slack.
inline constexpr float kShiftSum = 4.424e5f;
inline constexpr float kFirstSum = 8.103e3f;

// Whether a step with the maximum `max` raises a lane's shift to it. `had_none`: the lane had seen
// no key before, and its shift is the score of the first that it sees: known early, and a row with
// one key, or with equal scores, has weights of exactly 1.
HWY_INLINE FloatMask RaisesShift(FloatTag d, FloatVec shift, FloatMask had_none, FloatVec max) {
  const FloatVec slack = hn::IfThenElse(had_none, hn::Set(d, kFirstSlack), hn::Set(d, kShiftSlack));
  return hn::Gt(max, hn::Add(shift, slack));
}

// Whether the sum of a step's weights shows that its maximum does not raise a lane's shift. Not so
// after a first score of -inf, when the weights are inf or NaN: a later score may be finite.
HWY_INLINE FloatMask KeepsShift(FloatTag d, FloatMask had_none, FloatVec sum) {
  return hn::Le(sum, hn::IfThenElse(had_none, hn::Set(d, kFirstSum), hn::Set(d, kShiftSum)));
}

HWY_INLINE FloatMask HasNoShift(FloatTag d, FloatVec shift) {
  return hn::Eq(shift, hn::Set(d, -kInfinity));
}

// Takes the score of a key as the shift of lanes that have none.
HWY_INLINE FloatVec OrFirst(FloatTag d, FloatVec shift, FloatVec score) {
  return hn::IfThenElse(HasNoShift(d, shift), score, shift);
}

// Which keys of a segment some lanes do not see.
enum class Hidden {
  kNone,
  kByEnd,     // those beyond a lane's last; all lanes have seen a key before
  kByBounds,  // those before its first, too
};

// Turns scores into weights while they are in registers, on the guess that the shift stays. The
// core then works on them beside the products of the next tile. A lane that has no shift takes it
// from its first key.
template <size_t GV, size_t NV, Hidden kHidden>
class MakeWeights {
 public:
  FloatVec shift[NV];
  FloatVec sum[NV];

  // To be called after the shifts are set. `lane`: the part's first.
  HWY_INLINE void Start(FloatTag d, const LaneBounds* bounds, size_t lane, size_t first_key) {
    const IntTag di;
    first_key_ = first_key;
    if constexpr (kHidden == Hidden::kNone) return;
    HWY_UNROLL(16)
    for (size_t j = 0; j < NV; ++j) {
      end_[j] = hn::Load(di, bounds->end + lane + j * kLanes);
      if constexpr (kHidden == Hidden::kByEnd) continue;
      begin_[j] = hn::Load(di, bounds->begin + lane + j * kLanes);
      end_[j] = hn::Max(begin_[j], end_[j]);
      const auto takes_shift =
          hn::And(hn::RebindMask(di, HasNoShift(d, shift[j])), hn::Lt(begin_[j], end_[j]));
      shift_key_[j] = hn::IfThenElse(takes_shift, begin_[j], hn::Set(di, -1));
    }
  }

  template <size_t MR>
  HWY_INLINE void operator()(FloatTag d, const RegisterTile<MR, NV>& tile, size_t key,
                             float* weights) {
    if (kHidden == Hidden::kNone && key == first_key_) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) shift[j] = OrFirst(d, shift[j], tile.acc[0][j]);
    }
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        const FloatVec s = tile.acc[i][j];
        FloatVec p;
        if constexpr (kHidden == Hidden::kNone) {
          p = Exp(d, hn::Sub(s, shift[j]));
        } else {
          const IntTag di;
          const auto k = hn::Set(di, static_cast<int32_t>(key + i));
          auto sees = hn::Lt(k, end_[j]);
          if constexpr (kHidden == Hidden::kByBounds) {
            sees = hn::AndNot(hn::Lt(k, begin_[j]), sees);
            shift[j] = hn::IfThenElse(hn::RebindMask(d, hn::Eq(k, shift_key_[j])), s, shift[j]);
          }
          const FloatMask seen = hn::RebindMask(d, sees);
          p = hn::IfThenElseZero(seen, Exp(d, hn::Sub(s, shift[j])));
        }
        hn::Store(p, d, weights + (i * GV + j) * kLanes);
        sum[j] = hn::Add(sum[j], p);
      }
    }
  }

 private:
  using IntVec = hn::Vec<IntTag>;

  size_t first_key_;
  // Of each lane: the keys that it sees, and the one whose score becomes its shift.
  IntVec begin_[NV];
  IntVec end_[NV];
  IntVec shift_key_[NV];
};

// What a lane group guesses, and finds.
template <size_t NV>
struct Guess {
  FloatVec shift[NV];
  FloatVec sum[NV];
};

// Score and softmax of some keys of a span.
template <class Form, size_t MR, Hidden kHidden, size_t GV, size_t NV>
HWY_INLINE void ScoreAndWeigh(FloatTag d, const StepArgs& args, Part<GV, NV> part, Keys keys,
                              Guess<GV>& guess, PrefetchCursor& prefetch) {
  const size_t vector = part.lane / kLanes;
  MakeWeights<GV, NV, kHidden> weights;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    weights.shift[j] = guess.shift[vector + j];
    weights.sum[j] = guess.sum[vector + j];
  }
  weights.Start(d, args.edits.bounds, part.lane, keys.begin);
  Score<Form, MR>(d, args, part, keys, weights, prefetch);
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    guess.shift[vector + j] = weights.shift[j];
    guess.sum[vector + j] = weights.sum[j];
  }
}

// Score and softmax in one, of a step without edits but bounds, or false if a lane needs another
// shift: then only scratch scores have changed.
template <class Form, size_t MR, size_t NV>
HWY_INLINE bool TryScoreAndSoftmax(FloatTag d, const StepArgs& args, const Spans<MR, NV>& spans,
                                   PrefetchCursor& prefetch) {
  Guess<NV> guess;
  bool unseen = false;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    guess.shift[j] = hn::Load(d, args.group.shift + j * kLanes);
    guess.sum[j] = hn::Zero(d);
    unseen |= !hn::AllFalse(d, HasNoShift(d, guess.shift[j]));
  }
  ShiftGuess& record = unseen ? args.guesses->first : args.guesses->later;
  if (!record.Worth()) return false;
  for (const Span& span : spans) {
    if (span.vector_count == 0) continue;
    WithPart<NV>(span, [&]<size_t PartNV>(Part<NV, PartNV> part) HWY_ATTR {
      constexpr size_t kRows = PartRows(MR, NV, PartNV);
      const Keys full = FullKeys(args, span);
      for (size_t key = span.keys.begin; key < span.keys.end;) {
        const Segment segment = NextSegment<kRows>(args.edits, {key, span.keys.end}, full);
        if (!segment.edited) {
          ScoreAndWeigh<Form, kRows, Hidden::kNone>(d, args, part, segment.keys, guess, prefetch);
        } else if (segment.keys.begin > full.begin) {
          ScoreAndWeigh<Form, kRows, Hidden::kByEnd>(d, args, part, segment.keys, guess, prefetch);
        } else {
          ScoreAndWeigh<Form, kRows, Hidden::kByBounds>(d, args, part, segment.keys, guess,
                                                        prefetch);
        }
        key = segment.keys.end;
      }
    });
  }
  bool wrong = false;
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    const FloatMask had_none = HasNoShift(d, hn::Load(d, args.group.shift + j * kLanes));
    wrong |= !hn::AllTrue(d, KeepsShift(d, had_none, guess.sum[j]));
  }
  if (wrong) {
    record.WasWrong();
    return false;
  }
  HWY_UNROLL(16)
  for (size_t j = 0; j < NV; ++j) {
    float* HWY_RESTRICT total = args.group.sum + j * kLanes;
    hn::Store(hn::Add(hn::Load(d, total), guess.sum[j]), d, total);
    hn::Store(guess.shift[j], d, args.group.shift + j * kLanes);
  }
  return true;
}

// The shift of vector j before a step may raise it: where a lane has none, its first score.
template <size_t NV>
HWY_INLINE FloatVec FirstShift(FloatTag d, const StepArgs& args, size_t j, Keys keys,
                               FloatVec shift) {
  for (size_t key = keys.begin; key < keys.end && !hn::AllFalse(d, HasNoShift(d, shift)); ++key) {
    shift = OrFirst(d, shift, hn::Load(d, args.scores + (key * NV + j) * kLanes));
  }
  return shift;
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
    const FloatVec first = FirstShift<NV>(d, args, j, spans.Of(j), old_shift);
    const FloatMask raise = RaisesShift(d, first, HasNoShift(d, old_shift), max[j]);
    const FloatVec new_shift = hn::IfThenElse(raise, max[j], first);
    hn::Store(new_shift, d, args.group.shift + j * kLanes);
    moved |= !hn::AllTrue(d, hn::Eq(new_shift, old_shift));
    // A lane that has seen no key keeps shift -inf; -inf - -inf would be NaN.
    shift[j] = hn::IfThenZeroElse(HasNoShift(d, new_shift), new_shift);
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

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_SOFTMAX_INL_H_
