// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How a tile of scores S[MR keys][lanes of a part] comes about, one struct for each ScoreForm
// (lanes.h). What stays in the first-level cache: the queries [dim][lanes]; rows of keys stream.
// Every score is a chain of operations in order of the dims, so its bits do not depend on the tile.

#if defined(LANEWISE_SRC_KERNELS_SCORE_FORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_SCORE_FORMS_INL_H_
#undef LANEWISE_SRC_KERNELS_SCORE_FORMS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_SCORE_FORMS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Whether to turn scores into weights on the guess that the shift stays. It saves a pass over the
// scores, and costs a score stage when the guess is wrong; without registers for the constants of
// exp beside the tile it gains nothing. A wrong guess shows in weights that are huge: only the exp
// of AVX3 is, or is infinite, wherever its argument is beyond 88.
inline constexpr bool kGuessShift = HWY_TARGET == HWY_AVX3;

HWY_INLINE const float* KeyRow(const StepArgs& args, size_t key) {
  return args.keys + static_cast<int64_t>(key) * args.key_stride;
}

// Keys from `key` on times the queries of a part.
template <size_t GV, size_t NV>
HWY_INLINE ProductArgs KeyProduct(const StepArgs& args, Part<GV, NV> part, size_t key) {
  return {KeyRow(args, key), args.key_stride, args.group.queries + part.lane, part.kGroupWidth,
          args.dim};
}

struct DotForm {
  static constexpr bool kGuessesShift = kGuessShift;

  template <size_t MR, size_t GV, size_t NV>
  static HWY_INLINE void Fill(FloatTag d, const StepArgs& args, Part<GV, NV> part, size_t key,
                              RegisterTile<MR, NV>& tile, PrefetchCursor& prefetch) {
    tile.Zero(d);
    MultiplyAddAndFetch<ARows::kStrided, 0, NV>(d, KeyProduct(args, part, key), tile, prefetch);
  }
};

struct DistanceForm {
  static constexpr bool kGuessesShift = kGuessShift;

  template <size_t MR, size_t GV, size_t NV>
  static HWY_INLINE void Fill(FloatTag d, const StepArgs& args, Part<GV, NV> part, size_t key,
                              RegisterTile<MR, NV>& tile, PrefetchCursor& prefetch) {
    tile.Zero(d);
    MultiplyAddAndFetch<ARows::kStrided, 0, NV, SquaredDifference>(d, KeyProduct(args, part, key),
                                                                   tile, prefetch);
    const FloatVec factor = hn::Set(d, args.distance_factor);
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) tile.acc[i][j] = hn::Mul(factor, tile.acc[i][j]);
    }
  }
};

// tanh takes most of the time and all of the registers, so the tile is done a few vectors at a
// time, whose operations alternate: one chain of tanh takes some 45 cycles.
struct AdditiveForm {
  // A wrong guess would cost far more than right ones save.
  static constexpr bool kGuessesShift = false;

  // Vectors whose tanh is computed together: of neighbouring keys.
  static constexpr size_t kTogether = 2;

  template <size_t MR, size_t GV, size_t NV>
  static HWY_INLINE void Fill(FloatTag d, const StepArgs& args, Part<GV, NV> part, size_t key,
                              RegisterTile<MR, NV>& tile, PrefetchCursor& prefetch) {
    constexpr size_t kRows = HWY_MIN(MR, kTogether);
    static_assert(MR % kRows == 0);
    prefetch.Advance();
    for (size_t i = 0; i < MR; i += kRows) {
      for (size_t j = 0; j < NV; ++j) {
        FloatVec sums[kRows];
        Sum<kRows>(d, args, KeyRow(args, key + i), args.group.queries + part.lane + j * kLanes,
                   part.kGroupWidth, sums);
        for (size_t r = 0; r < kRows; ++r) tile.acc[i + r][j] = sums[r];
      }
    }
  }

 private:
  // sums[r] = Σ_s tanh_weights[s] * tanh(keys[r][s] + queries[s][.]), from the given key row on.
  template <size_t kRows>
  static HWY_INLINE void Sum(FloatTag d, const StepArgs& args, const float* HWY_RESTRICT keys,
                             const float* HWY_RESTRICT queries, size_t query_stride,
                             FloatVec (&sums)[kRows]) {
    HWY_UNROLL(4)
    for (size_t r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
    for (size_t s = 0; s < args.dim; ++s) {
      const FloatVec query = hn::Load(d, queries + s * query_stride);
      FloatVec x[kRows];
      HWY_UNROLL(4)
      for (size_t r = 0; r < kRows; ++r) {
        const int64_t at = static_cast<int64_t>(r) * args.key_stride + static_cast<int64_t>(s);
        x[r] = hn::Add(query, hn::Set(d, keys[at]));
      }
      TanhUnbounded<kRows>(d, x);
      const FloatVec weight = hn::Set(d, args.tanh_weights[s]);
      HWY_UNROLL(4)
      for (size_t r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(weight, x[r], sums[r]);
    }
  }
};

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_SCORE_FORMS_INL_H_
