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
#include "src/kernels/lanes_stages-inl.h"
#include "src/kernels/register_tile-inl.h"
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
      hn::Store(hn::Set(d, -kInfinity), d, args.group.shift + j * kLanes);
      hn::Store(hn::Zero(d), d, args.group.sum + j * kLanes);

      const float* const* rows = args.rows + j * kLanes;
      float* HWY_RESTRICT to = args.group.queries + j * kLanes;
      size_t c = 0;
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
    PrefetchCursor prefetch(args, (args.key_count + MR - 1) / MR);
    if (kGuessShift && args.bounds == nullptr && TryScoreAndSoftmax<MR, NV>(d, args, prefetch)) {
      Value<MR, NV>(d, args, 0, nullptr);
      return;
    }

    KeepScores<NV> scores;
    HWY_UNROLL(16)
    for (size_t j = 0; j < NV; ++j) scores.max[j] = hn::Set(d, -kInfinity);
    Score<MR, NV>(d, args, 0, scores, prefetch);
    if (args.bounds != nullptr) Edit<NV>(d, args, LaneVisibility(*args.bounds), scores.max);
    HWY_ALIGN float rescale[kWidth];
    const bool moved = Softmax<NV>(d, args, scores.max, rescale);
    const float* factors = moved ? rescale : nullptr;
    if (args.bounds != nullptr) {
      const LaneVisibility visibility(*args.bounds);
      if (HWY_UNLIKELY(!HiddenValuesAreFinite(d, args, visibility))) {
        ValueOfVisible<NV>(args, visibility, factors);
        return;
      }
    }
    Value<MR, NV>(d, args, 0, factors);
  }

  static void Finish(const FinishArgs& args) {
    const FloatTag d;
    const size_t value_dim = args.value_dim;
    for (size_t j = 0; j < NV && j * kLanes < args.row_count; ++j) {
      const size_t row_count = HWY_MIN(args.row_count - j * kLanes, kLanes);
      float* const* rows = args.rows + j * kLanes;
      const FloatVec sum = hn::Load(d, args.group.sum + j * kLanes);
      const FloatVec inverse = hn::Div(hn::Set(d, 1.0f), sum);
      const FloatMask empty = hn::Eq(sum, hn::Zero(d));
      const float* HWY_RESTRICT from = args.group.output + j * kLanes;
      size_t c = 0;
      for (; c + kColumns <= value_dim; c += kColumns) {
        FloatVec columns[kColumns];
        HWY_UNROLL(4)
        for (size_t i = 0; i < kColumns; ++i) {
          columns[i] = Divide(d, hn::Load(d, from + (c + i) * kWidth), inverse, empty);
        }
        StoreColumns(d, columns, rows, row_count, c);
      }
      for (; c < value_dim; ++c) {
        HWY_ALIGN float column[kLanes];
        hn::Store(Divide(d, hn::Load(d, from + c * kWidth), inverse, empty), d, column);
        for (size_t lane = 0; lane < row_count; ++lane) rows[lane][c] = column[lane];
      }
    }
    if (args.lse == nullptr) return;
    for (size_t lane = 0; lane < args.row_count; ++lane) {
      // ln 0 = -inf for a row that saw no key; in double, so that the sum adds no error of its own.
      const double log_sum = std::log(static_cast<double>(args.group.sum[lane]));
      const float shift = args.group.shift[lane];
      *args.lse[lane] = static_cast<float>(shift == -kInfinity ? log_sum : shift + log_sum);
    }
  }

 private:
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
  return {tile, MR, NV, Tile::kWidth, relative_time, &Tile::Load, &Tile::Step, &Tile::Finish};
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_INL_H_
