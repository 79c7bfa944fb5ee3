// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The value stage of the `lanes` variant (contract in lanes.h): weights [keys][lanes], which stay
// in the first-level cache, times rows of V, which stream.

#if defined(LANEWISE_SRC_KERNELS_LANES_VALUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_VALUE_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_VALUE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_VALUE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/lanes_edit-inl.h"
#include "src/kernels/lanes_spans-inl.h"
#include "src/kernels/prefetch-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// What a product adds to: nothing, or the output so far.
struct Earlier {
  bool none;
  const float* rescale;  // [lanes] factors of it; null: all are 1
};

// Brings the output tile of rows starting at `c` into registers.
template <size_t MR, size_t NV>
HWY_INLINE void LoadOutput(FloatTag d, const StepArgs& args, size_t c, const Earlier& earlier,
                           RegisterTile<MR, NV>& tile) {
  if (earlier.none) {
    tile.Zero(d);
    return;
  }
  tile.Load(d, args.group.output + c * NV * kLanes, NV * kLanes);
  if (earlier.rescale != nullptr) tile.Scale(d, earlier.rescale);
}

// tile[i][lane] += Σ_key V[key][c + i] * P[key][lane] over the keys of a span, for the vectors that
// take part in it: as constants, so that the tile stays in registers.
template <size_t kFirst, size_t kCount, size_t MR, size_t NV>
HWY_INLINE void AddSpan(FloatTag d, const StepArgs& args, const Span& span, size_t c,
                        RegisterTile<MR, NV>& tile, PrefetchCursor& prefetch) {
  if (span.vector == kFirst && span.vector_count == kCount) {
    const size_t key = span.keys.begin;
    const float* values = args.values + static_cast<int64_t>(key) * args.value_stride + c;
    const float* weights = args.scores + (key * NV + kFirst) * kLanes;
    MultiplyAddAndFetch<ARows::kContiguous, kFirst, kCount>(
        d, {values, args.value_stride, weights, NV * kLanes, span.keys.end - key}, tile, prefetch);
  } else if constexpr (kFirst + kCount < NV) {
    AddSpan<kFirst + 1, kCount>(d, args, span, c, tile, prefetch);
  } else if constexpr (kCount > 1) {
    AddSpan<0, kCount - 1>(d, args, span, c, tile, prefetch);
  }
}

// output[c][lane] = output[c][lane] * rescale + Σ_key V[key][c] * P[key][lane] for c in
// [c, value_dim), keys in order, each for the vectors that take part in it.
template <size_t TileMR, size_t MR, size_t NV>
HWY_INLINE void Value(FloatTag d, const StepArgs& args, const Spans<MR, NV>& spans, size_t c,
                      const Earlier& earlier, PrefetchCursor& prefetch) {
  constexpr size_t kWidth = NV * kLanes;
  for (; c + TileMR <= args.value_dim; c += TileMR) {
    RegisterTile<TileMR, NV> tile;  // [TileMR value dims, lanes]
    LoadOutput(d, args, c, earlier, tile);
    for (const Span& span : spans) AddSpan<0, NV>(d, args, span, c, tile, prefetch);
    tile.Store(d, args.group.output + c * kWidth, kWidth);
  }
  if constexpr (TileMR > 1) Value<TailRows(TileMR)>(d, args, spans, c, earlier, prefetch);
}

// The same, leaving a lane's output alone at keys it does not see: 0 * V would be NaN where V is
// not finite. Rare, so one row at a time.
template <size_t NV>
HWY_NOINLINE void ValueOfVisible(const StepArgs& args, const Earlier& earlier) {
  const FloatTag d;
  constexpr size_t kWidth = NV * kLanes;
  for (size_t c = 0; c < args.value_dim; ++c) {
    RegisterTile<1, NV> tile;
    LoadOutput(d, args, c, earlier, tile);
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

#endif  // LANEWISE_SRC_KERNELS_LANES_VALUE_INL_H_
