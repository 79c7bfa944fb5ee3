// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Rows of A against a panel of B, register tile by register tile. Contract in gemm.h.
//
// Registers of a tile: MR * NV accumulators, NV vectors of B, one broadcast element of A.

#if defined(LANEWISE_SRC_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_GEMM_INL_H_
#undef LANEWISE_SRC_KERNELS_GEMM_INL_H_
#else
#define LANEWISE_SRC_KERNELS_GEMM_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/gemm.h"
#include "src/kernels/gemm_end-inl.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// The end of a tile that `row` begins. C as a whole tile of f32 goes straight from the registers.
template <size_t MR, size_t NV>
HWY_INLINE void EndTile(FloatTag d, const RegisterTile<MR, NV>& tile, const GemmPanelArgs& args,
                        size_t row) {
  const GemmEnd& end = args.end;
  const int64_t first = static_cast<int64_t>(row);
  const bool plain = end.beta == 0 && end.bias == nullptr && end.residual == nullptr;
  if (HWY_LIKELY((plain || end.add) && end.c_type == DataType::kF32 &&
                 args.column_count == NV * kLanes)) {
    const FloatVec alpha = hn::Set(d, end.alpha);
    float* HWY_RESTRICT c = static_cast<float*>(end.c) + first * end.c_stride;
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        float* to = c + static_cast<int64_t>(i) * end.c_stride + j * kLanes;
        const FloatVec v = end.add ? hn::MulAdd(alpha, tile.acc[i][j], hn::LoadU(d, to))
                                   : hn::Mul(alpha, tile.acc[i][j]);
        hn::StoreU(v, d, to);
      }
    }
    return;
  }
  HWY_ALIGN float sums[MR * NV * kLanes];
  tile.Store(d, sums, NV * kLanes);
  const int64_t bytes = end.c_type == DataType::kF32 ? 4 : 2;
  GemmEnd from_row = end;
  from_row.c = static_cast<char*>(end.c) + first * end.c_stride * bytes;
  if (end.residual != nullptr) {
    from_row.residual =
        static_cast<const char*>(end.residual) + first * end.residual_stride * bytes;
  }
  Finish(sums, NV * kLanes, MR, args.column_count, from_row);
}

HWY_INLINE void FetchC(const GemmEnd& end, size_t row, size_t row_count) {
  const int64_t row_bytes = end.c_stride * (end.c_type == DataType::kF32 ? 4 : 2);
  const char* c = static_cast<const char*>(end.c) + static_cast<int64_t>(row) * row_bytes;
  for (size_t i = 0; i < row_count; ++i, c += row_bytes) __builtin_prefetch(c, 1);
}

template <size_t MR, size_t NV>
void MultiplyTile(const GemmPanelArgs& args, size_t row) {
  const FloatTag d;
  // What the last multiply-adds are added to. Of several depth blocks, C is large and far away.
  if (args.end.add) FetchC(args.end, row, MR);
  RegisterTile<MR, NV> tile;
  tile.Zero(d);
  tile.template MultiplyAdd<ARows::kStrided, false>(
      d, args.a + static_cast<int64_t>(row) * args.a_stride, args.a_stride, args.b,
      static_cast<size_t>(args.b_stride), args.depth);
  EndTile(d, tile, args, row);
}

// `rows` from 1 to MR.
template <size_t MR, size_t NV>
HWY_INLINE void MultiplyRows(const GemmPanelArgs& args, size_t row, size_t rows) {
  if constexpr (MR > 1) {
    if (rows != MR) return MultiplyRows<MR - 1, NV>(args, row, rows);
  }
  MultiplyTile<MR, NV>(args, row);
}

// Rows of the next tile when `left` are to be done: all that a tile holds, but the last two tiles
// share what is left, since a tile of few rows takes as long as one of more.
template <size_t MR>
constexpr size_t NextRows(size_t left) {
  if (left <= MR) return left;
  return left < 2 * MR ? (left + 1) / 2 : MR;
}

template <size_t MR, size_t NV>
HWY_INLINE void MultiplyPanel(const GemmPanelArgs& args) {
  for (size_t row = 0; row < args.row_count;) {
    const size_t rows = NextRows<MR>(args.row_count - row);
    MultiplyRows<MR, NV>(args, row, rows);
    row += rows;
  }
}

// With as many vectors as the panel's columns need.
template <size_t MR, size_t NV>
void Panel(const GemmPanelArgs& args) {
  if constexpr (NV > 1) {
    if (args.column_count <= (NV - 1) * kLanes) return Panel<MR, NV - 1>(args);
  }
  MultiplyPanel<MR, NV>(args);
}

template <size_t MR, size_t NV>
GemmKernel MakeGemmKernel(const char* tile) {
  static_assert(NV * kLanes <= kMaxTileColumns);
  return {tile, MR, NV * kLanes, kLanes, &Panel<MR, NV>};
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_INL_H_
