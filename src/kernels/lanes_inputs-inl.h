// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What goes before the steps of the `lanes` variant where scores are not plain dot products:
// queries and keys times weights, and the terms of kDotAndTerms. Contract in lanes.h.

#if defined(LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/lanes.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Rows [row, row_count) of MultiplyArgs.
template <ARows kRows, size_t MR, size_t NV>
HWY_INLINE void MultiplyRows(FloatTag d, const MultiplyArgs& args, size_t row) {
  for (; row + MR <= args.row_count; row += MR) {
    const int64_t first = static_cast<int64_t>(row);
    RegisterTile<MR, NV> tile;  // [MR rows, lanes]
    tile.Zero(d);
    tile.template MultiplyAdd<kRows>(
        d, args.a + (kRows == ARows::kStrided ? first * args.a_stride : first), args.a_stride,
        args.b, args.b_stride, args.steps);
    tile.Store(d, args.to + row * args.to_stride, args.to_stride);
  }
  if constexpr (MR > 1) MultiplyRows<kRows, TailRows(MR), NV>(d, args, row);
}

template <size_t MR, size_t NV>
void Multiply(const MultiplyArgs& args) {
  const FloatTag d;
  if (args.by_columns) {
    MultiplyRows<ARows::kContiguous, MR, NV>(d, args, 0);
  } else {
    MultiplyRows<ARows::kStrided, MR, NV>(d, args, 0);
  }
}

// factor * norm, or NaN where the norm is not finite: 0 * inf.
HWY_INLINE FloatVec TermOf(FloatTag d, FloatVec norm, float factor) {
  return hn::MulAdd(hn::Set(d, factor), norm, hn::Mul(hn::Zero(d), norm));
}

template <size_t NV>
void QueryTerms(const QueryTermsArgs& args) {
  const FloatTag d;
  const FloatVec scale = hn::Set(d, args.scale);
  for (size_t j = 0; j < NV; ++j) {
    float* HWY_RESTRICT queries = args.group.queries + j * kLanes;
    FloatVec norm = hn::Zero(d);
    for (size_t s = 0; s < args.dim; ++s) {
      const FloatVec q = hn::Load(d, queries + s * NV * kLanes);
      norm = hn::MulAdd(q, q, norm);
      hn::Store(hn::Mul(q, scale), d, queries + s * NV * kLanes);
    }
    hn::Store(TermOf(d, norm, -0.5f * args.scale), d, args.group.terms + j * kLanes);
  }
}

// As many keys at a time as there are lanes; the last ones are repeated to fill up. Each norm is
// the same sum whichever keys it shares a round with.
inline void KeyTerms(const KeyTermsArgs& args) {
  const FloatTag d;
  const size_t whole = args.dim / kLanes * kLanes;
  for (size_t first = 0; first < args.key_count; first += kLanes) {
    const size_t count = HWY_MIN(kLanes, args.key_count - first);
    FloatVec sums[kLanes];
    HWY_ALIGN float rest[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      const float* HWY_RESTRICT row =
          args.keys + static_cast<int64_t>(first + HWY_MIN(i, count - 1)) * args.key_stride;
      sums[i] = hn::Zero(d);
      for (size_t s = 0; s < whole; s += kLanes) {
        const FloatVec k = hn::LoadU(d, row + s);
        sums[i] = hn::MulAdd(k, k, sums[i]);
      }
      rest[i] = 0;
      for (size_t s = whole; s < args.dim; ++s) rest[i] += row[s] * row[s];
    }
    const FloatVec norms = hn::Add(SumsOfLanes(d, sums), hn::Load(d, rest));
    HWY_ALIGN float terms[kLanes];
    hn::Store(TermOf(d, norms, -0.5f * args.scale), d, terms);
    for (size_t i = 0; i < count; ++i) args.terms[first + i] = terms[i];
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_
