// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What goes before the steps of the `lanes` variant where scores are not plain dot products:
// queries and keys times weights. Contract in lanes.h.

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

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_INPUTS_INL_H_
