// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The entries of the `lanes` variant: load -> step ... step -> finish on one lane group. Contract
// and formulas in lanes.h.

#if defined(LANEWISE_SRC_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_inputs-inl.h"
#include "src/kernels/lanes_score-inl.h"
#include "src/kernels/lanes_softmax-inl.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/lanes_value-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/score_forms-inl.h"
#include "src/kernels/transpose-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

template <size_t MR, size_t NV>
struct Lanes {
  static constexpr size_t kWidth = NV * kLanes;

  static void Load(const LoadArgs& args) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, args.scale);
    for (size_t j = 0; j < NV; ++j) {
      const FloatVec sink = hn::Load(d, args.sinks + j * kLanes);
      const FloatVec one = hn::Set(d, 1.0f);
      const FloatMask has_none = hn::Eq(sink, hn::Set(d, -kInfinity));
      hn::Store(sink, d, args.group.shift + j * kLanes);
      hn::Store(hn::IfThenZeroElse(has_none, one), d, args.group.sum + j * kLanes);
      hn::Store(hn::IfThenElseZero(has_none, one), d, args.group.seen + j * kLanes);

      const float* const* rows = args.rows + j * kLanes;
      float* HWY_RESTRICT to = args.group.queries + j * kLanes;
      size_t c = 0;
      for (; kMovesLines && c + kLineColumns <= args.dim; c += kLineColumns) {
        FloatVec columns[kLineColumns / kColumns][kColumns];
        LoadLineColumns(d, rows, c, columns);
        HWY_UNROLL(16)
        for (size_t i = 0; i < kLineColumns; ++i) {
          hn::Store(hn::Mul(columns[i / kColumns][i % kColumns], scale), d, to + (c + i) * kWidth);
        }
      }
      for (; c + kColumns <= args.dim; c += kColumns) {
        FloatVec columns[kColumns];
        LoadColumns(d, rows, c, columns);
        HWY_UNROLL(4)
        for (size_t i = 0; i < kColumns; ++i) {
          hn::Store(hn::Mul(columns[i], scale), d, to + (c + i) * kWidth);
        }
      }
      for (; c < args.dim; ++c) {
        for (size_t lane = 0; lane < kLanes; ++lane) {
          to[c * kWidth + lane] = rows[lane][c] * args.scale;
        }
      }
    }
  }

  static void Step(const StepArgs& args) {
    const FloatTag d;
    const Spans<MR, NV> spans(args);
    PrefetchCursor prefetch(args, MR);
    HWY_ALIGN float rescale[kWidth];
    bool moved = false;
    switch (args.form) {
      case ScoreForm::kDot:
        moved = ScoreToWeights<DotForm>(args, spans, prefetch, rescale);
        break;
      case ScoreForm::kDistance:
        moved = ScoreToWeightsApart<DistanceForm>(args, spans, prefetch, rescale);
        break;
      case ScoreForm::kAdditive:
        moved = ScoreToWeightsApart<AdditiveForm>(args, spans, prefetch, rescale);
        break;
    }
    const Earlier earlier = {args.first, moved ? rescale : nullptr};
    if (HWY_UNLIKELY(args.check != nullptr && args.edits.hides() && !ValuesAreFinite(args))) {
      if (!args.edits.hides_by_key()) NoteBounds<NV>(d, args);
      ValueOfVisible<NV>(args, earlier);
    } else {
      Value<MR>(d, args, spans, 0, earlier, prefetch);
    }
  }

  static void Weights(const WeightsArgs& args) {
    const FloatTag d;
    const StepArgs& step = args.step;
    switch (step.form) {
      case ScoreForm::kDot:
        ScoresForWeights<DotForm>(step);
        break;
      case ScoreForm::kDistance:
        ScoresForWeights<DistanceForm>(step);
        break;
      case ScoreForm::kAdditive:
        ScoresForWeights<AdditiveForm>(step);
        break;
    }
    for (size_t j = 0; j < NV && j * kLanes < args.row_count; ++j) {
      const size_t row_count = HWY_MIN(args.row_count - j * kLanes, kLanes);
      float* const* rows = args.rows + j * kLanes;
      const FloatVec shift = hn::Load(d, step.group.shift + j * kLanes);
      const FloatVec sum = hn::Load(d, step.group.sum + j * kLanes);
      const FloatVec inverse = hn::Div(hn::Set(d, 1.0f), sum);
      const FloatMask empty = SawNoKey(d, step.group, j);
      const auto weights = [&](size_t key) HWY_ATTR {
        const FloatVec s = hn::Load(d, step.scores + (key * NV + j) * kLanes);
        // Hidden keys stay 0 in a row whose sum is NaN.
        const FloatMask zero = hn::Or(empty, hn::Eq(s, hn::Set(d, -kInfinity)));
        return hn::IfThenZeroElse(zero, hn::Mul(Exp(d, hn::Sub(s, shift)), inverse));
      };
      size_t key = 0;
      for (; key + kColumns <= step.key_count; key += kColumns) {
        FloatVec columns[kColumns];
        HWY_UNROLL(4)
        for (size_t c = 0; c < kColumns; ++c) columns[c] = weights(key + c);
        StoreColumns(d, columns, rows, row_count, key);
      }
      for (; key < step.key_count; ++key) StoreColumn(d, weights(key), rows, row_count, key);
    }
  }

  static bool Finish(const FinishArgs& args) {
    const FloatTag d;
    const size_t value_dim = args.value_dim;
    // 0 times every output, which is NaN for NaN and inf; in several chains, as each waits for its
    // last product.
    FloatVec zeros[kColumns];
    HWY_UNROLL(4)
    for (size_t u = 0; u < kColumns; ++u) zeros[u] = hn::Zero(d);
    for (size_t j = 0; j < NV && j * kLanes < args.row_count; ++j) {
      const size_t row_count = HWY_MIN(args.row_count - j * kLanes, kLanes);
      float* const* rows = args.rows + j * kLanes;
      const FloatVec sum = hn::Load(d, args.group.sum + j * kLanes);
      const FloatVec inverse = hn::Div(hn::Set(d, 1.0f), sum);
      const FloatMask empty = SawNoKey(d, args.group, j);
      const float* HWY_RESTRICT from = args.group.output + j * kLanes;
      const auto column = [&](size_t c) HWY_ATTR {
        const FloatVec v = Divide(d, hn::Load(d, from + c * kWidth), inverse, empty);
        zeros[c % kColumns] = hn::MulAdd(v, hn::Zero(d), zeros[c % kColumns]);
        return v;
      };
      size_t c = 0;
      for (; kMovesLines && c + kLineColumns <= value_dim; c += kLineColumns) {
        FloatVec columns[kLineColumns / kColumns][kColumns];
        HWY_UNROLL(16)
        for (size_t i = 0; i < kLineColumns; ++i) {
          columns[i / kColumns][i % kColumns] = column(c + i);
        }
        StoreLineColumns(d, columns, rows, row_count, c);
      }
      for (; c + kColumns <= value_dim; c += kColumns) {
        FloatVec columns[kColumns];
        HWY_UNROLL(4)
        for (size_t i = 0; i < kColumns; ++i) columns[i] = column(c + i);
        StoreColumns(d, columns, rows, row_count, c);
      }
      for (; c < value_dim; ++c) {
        StoreColumn(d, column(c), rows, row_count, c);
      }
    }
    for (size_t lane = 0; args.lse != nullptr && lane < args.row_count; ++lane) {
      // In double, so that the sum adds no error of its own.
      const double lse = static_cast<double>(args.group.shift[lane]) +
                         std::log(static_cast<double>(args.group.sum[lane]));
      *args.lse[lane] = SawNoKey(args.group, lane) ? -kInfinity : static_cast<float>(lse);
    }
    FloatVec all = zeros[0];
    for (size_t u = 1; u < kColumns; ++u) all = hn::Add(all, zeros[u]);
    return hn::AllTrue(d, hn::Eq(all, all));
  }

 private:
  // Score, edit and softmax: leaves weights in place of scores. Returns whether what was summed up
  // before has to shrink, by the factors in `rescale`.
  template <class Form>
  static HWY_INLINE bool ScoreToWeights(const StepArgs& args, const Spans<MR, NV>& spans,
                                        PrefetchCursor& prefetch, float* HWY_RESTRICT rescale) {
    const FloatTag d;
    if constexpr (Form::kGuessesShift) {
      if (!args.edits.changes_scores() && TryScoreAndSoftmax<Form>(d, args, spans, prefetch)) {
        if (args.has_sink) NoteSeen<NV>(args);
        return false;
      }
    }
    const bool may_skip_values =
        args.check != nullptr && args.check->state != ValueCheck::State::kFinite;
    const bool note = args.edits.hides_by_key() && (args.has_sink || may_skip_values);
    FloatVec max[NV];
    ScoreAndEdit<Form>(d, args, spans, note, max, prefetch);
    if (args.has_sink) NoteSeen<NV>(args);
    return Softmax(d, args, spans, max, rescale);
  }

  // The same out of line, so that the code of the usual form stays what it is alone.
  template <class Form>
  static HWY_NOINLINE bool ScoreToWeightsApart(const StepArgs& args, const Spans<MR, NV>& spans,
                                               PrefetchCursor& prefetch, float* rescale) {
    return ScoreToWeights<Form>(args, spans, prefetch, rescale);
  }

  template <class Form>
  static HWY_NOINLINE void ScoresForWeights(const StepArgs& args) {
    PrefetchCursor prefetch(args, MR);
    FloatVec max[NV];
    ScoreAndEdit<Form>(FloatTag(), args, Spans<MR, NV>(args), false, max, prefetch);
  }

  // Rows without a key: out is 0 and lse -inf, although a sink may have put 1 into the sum and no
  // step may have written the output.
  static HWY_INLINE FloatMask SawNoKey(FloatTag d, const LaneGroup& group, size_t j) {
    const FloatVec zero = hn::Zero(d);
    return hn::Or(hn::Eq(hn::Load(d, group.sum + j * kLanes), zero),
                  hn::Eq(hn::Load(d, group.seen + j * kLanes), zero));
  }
  static bool SawNoKey(const LaneGroup& group, size_t lane) {
    return group.sum[lane] == 0 || group.seen[lane] == 0;
  }

  // Adding 0 turns -0 into +0: the sign of a zero would tell how many keys of weight 0 were added,
  // which depends on the rows that share the lane group.
  static HWY_INLINE FloatVec Divide(FloatTag d, FloatVec output, FloatVec inverse,
                                    FloatMask empty) {
    return hn::IfThenZeroElse(empty, hn::MulAdd(output, inverse, hn::Zero(d)));
  }
};

template <size_t MR, size_t NV>
LanesKernel MakeLanesKernel(const char* tile, double relative_time) {
  using Tile = Lanes<MR, NV>;
  static_assert(Tile::kWidth <= kMaxLanes);
  return {.tile = tile,
          .rows = MR,
          .vectors = NV,
          .lanes = Tile::kWidth,
          .relative_time = relative_time,
          .load = &Tile::Load,
          .multiply = &Multiply<MR, NV>,
          .step = &Tile::Step,
          .finish = &Tile::Finish,
          .weights = &Tile::Weights};
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_INL_H_
