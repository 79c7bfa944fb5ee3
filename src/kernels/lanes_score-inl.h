// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The first stages of one step of the `lanes` variant (contract in lanes.h): score and edit, of one
// lane group of NV vectors. The queries [dim][lanes] stay in the first-level cache, and so do the
// scores [keys][lanes] that this leaves; rows of K stream.

#if defined(LANEWISE_SRC_KERNELS_LANES_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_SCORE_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_SCORE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_SCORE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_edit-inl.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Hands the tiles of scores S[key][lane], for `keys` in order and the lanes of `part`, to
// `consume`.
template <class Form, size_t MR, size_t GV, size_t NV, class Consume>
HWY_INLINE void Score(FloatTag d, const StepArgs& args, Part<GV, NV> part, Keys keys,
                      Consume& consume, PrefetchCursor& prefetch) {
  size_t key = keys.begin;
  for (; key + MR <= keys.end; key += MR) {
    RegisterTile<MR, NV> tile;  // [MR keys, lanes]
    Form::Fill(d, args, part, key, tile, prefetch);
    consume(d, tile, key, args.scores + key * part.kGroupWidth + part.lane);
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
  HWY_INLINE void operator()(FloatTag d, const RegisterTile<MR, NV>& tile, size_t /*key*/,
                             float* scores) {
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

// The keys that all lanes of the vectors of a span see.
HWY_INLINE Keys FullKeys(const StepArgs& args, const Span& span) {
  if (args.edits.bounds == nullptr) return {0, args.key_count};
  const LaneBounds& bounds = *args.edits.bounds;
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
HWY_INLINE void ScoreAndEditPart(const StepArgs& args, Part<GV, NV> part, const Span& span,
                                 bool note, FloatVec (&max)[GV], PrefetchCursor& prefetch) {
  const FloatTag d;
  const Keys full = FullKeys(args, span);
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
      ScoreAndEditPart<Form, PartRows(MR, NV, PartNV)>(args, part, span, note, max, prefetch);
    });
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_SCORE_INL_H_
