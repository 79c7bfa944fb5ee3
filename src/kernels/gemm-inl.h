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
  const bool plain = end.beta == 0 && end.residual == nullptr;
  if (HWY_LIKELY((plain || end.add) && end.c_type == DataType::kF32 &&
                 args.column_count == NV * kLanes)) {
    // Everything that stores could change, as the compiler sees it, is read before them.
    const FloatVec alpha = hn::Set(d, end.alpha);
    const int64_t stride = end.c_stride;
    float* HWY_RESTRICT c = static_cast<float*>(end.c) + first * stride;
    if (end.add) {
      HWY_UNROLL(16)
      for (size_t i = 0; i < MR; ++i, c += stride) {
        HWY_UNROLL(16)
        for (size_t j = 0; j < NV; ++j) {
          hn::StoreU(hn::MulAdd(alpha, tile.acc[i][j], hn::LoadU(d, c + j * kLanes)), d,
                     c + j * kLanes);
        }
      }
    } else if (const float* bias = end.bias; bias != nullptr) {
      HWY_UNROLL(16)
      for (size_t i = 0; i < MR; ++i, c += stride) {
        HWY_UNROLL(16)
        for (size_t j = 0; j < NV; ++j) {
          const FloatVec v = hn::Mul(alpha, tile.acc[i][j]);
          hn::StoreU(hn::Add(v, hn::LoadU(d, bias + j * kLanes)), d, c + j * kLanes);
        }
      }
    } else {
      HWY_UNROLL(16)
      for (size_t i = 0; i < MR; ++i, c += stride) {
        HWY_UNROLL(16)
        for (size_t j = 0; j < NV; ++j) {
          hn::StoreU(hn::Mul(alpha, tile.acc[i][j]), d, c + j * kLanes);
        }
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

// A step of B, a row of it in memory, into its place in a panel.
template <size_t NV>
HWY_INLINE void PackStep(FloatTag d, const float* HWY_RESTRICT from, size_t stride,
                         float* HWY_RESTRICT to) {
  // Rows fetched ahead: fewer than a set of the first-level cache has lines, since a stride that is
  // a power of two puts all of them into one.
  constexpr size_t kRowsAhead = 8;
  HWY_UNROLL(4)
  for (size_t j = 0; j < NV; ++j) {
    __builtin_prefetch(from + kRowsAhead * stride + j * kLanes);
    hn::Store(hn::LoadU(d, from + j * kLanes), d, to + j * kLanes);
  }
}

// One tile, in parts of its depth. kPacks: B is not packed yet and becomes so on the way.
template <size_t MR, size_t NV, bool kPacks>
class TileOfRows {
 public:
  HWY_INLINE TileOfRows(FloatTag d, const GemmPanelArgs& args, size_t row)
      : d_(d),
        a_(args.a + static_cast<int64_t>(row) * args.a_stride),
        a_stride_(args.a_stride),
        b_(args.b),
        b_stride_(static_cast<size_t>(args.b_stride)),
        panel_(args.pack_to) {
    tile_.Zero(d);
  }

  const RegisterTile<MR, NV>& tile() const { return tile_; }

  // Packing goes step by step with the products, which hide how long B takes to arrive.
  HWY_INLINE void Multiply(size_t begin, size_t end) {
    if (kPacks) {
      size_t s = begin;
      for (; s + kSteps <= end; s += kSteps) MultiplySteps(s, kSteps);
      for (; s < end; ++s) MultiplySteps(s, 1);
    } else {
      MultiplySteps(begin, end - begin);
    }
  }

  // Multiplies a few steps for each of the rows that are fetched. Lines that are asked for one by
  // one find the buffers of outstanding lines free, which panels of B need, too. Returns the steps
  // done so far.
  template <bool kIntoFirst>
  HWY_INLINE size_t MultiplyAndFetch(size_t begin, size_t end, GemmAhead rows) {
    size_t s = begin;
    for (; rows.row_count != 0 && s + kSteps <= end; --rows.row_count, s += kSteps) {
      HWY_UNROLL(4)
      for (size_t j = 0; j < NV; ++j) {
        const char* line = rows.row + j * kLanes * sizeof(float);
        __builtin_prefetch(line, kIntoFirst ? 1 : 0, kIntoFirst ? 3 : 2);
      }
      rows.row += rows.row_bytes;
      MultiplySteps(s, kSteps);
    }
    return s;
  }

 private:
  static constexpr size_t kSteps = 4;

  HWY_INLINE void MultiplySteps(size_t begin, size_t count) {
    if (kPacks) {
      HWY_UNROLL(4)
      for (size_t s = begin; s < begin + count; ++s) {
        PackStep<NV>(d_, b_ + s * b_stride_, b_stride_, panel_ + s * NV * kLanes);
      }
    }
    tile_.template MultiplyAdd<ARows::kStrided, false>(d_, a_ + begin, a_stride_,
                                                       b_ + begin * b_stride_, b_stride_, count);
  }

  FloatTag d_;
  const float* HWY_RESTRICT a_;
  int64_t a_stride_;
  const float* HWY_RESTRICT b_;
  size_t b_stride_;
  float* HWY_RESTRICT panel_;
  RegisterTile<MR, NV> tile_;
};

template <size_t MR, size_t NV, bool kPacks>
void MultiplyTile(const GemmPanelArgs& args, size_t row, const GemmAhead& ahead) {
  const FloatTag d;
  const int64_t c_bytes = args.end.c_stride * (args.end.c_type == DataType::kF32 ? 4 : 2);
  const char* c = static_cast<const char*>(args.end.c) + static_cast<int64_t>(row) * c_bytes;
  TileOfRows<MR, NV, kPacks> rows(d, args, row);
  // C is far away, and so are the rows ahead.
  size_t s = rows.template MultiplyAndFetch<true>(0, args.depth, {c, c_bytes, MR});
  s = rows.template MultiplyAndFetch<false>(s, args.depth, ahead);
  rows.Multiply(s, args.depth);
  EndTile(d, rows.tile(), args, row);
}

// `rows` from 1 to MR.
template <size_t MR, size_t NV>
HWY_INLINE void MultiplyRows(const GemmPanelArgs& args, size_t row, size_t rows,
                             const GemmAhead& ahead) {
  if constexpr (MR > 1) {
    if (rows != MR) return MultiplyRows<MR - 1, NV>(args, row, rows, ahead);
  }
  MultiplyTile<MR, NV, false>(args, row, ahead);
}

// Rows of the next tile when `left` are to be done: all that a tile holds, but the last two tiles
// share what is left, since a tile of few rows takes as long as one of more.
template <size_t MR>
constexpr size_t NextRows(size_t left) {
  if (left <= MR) return left;
  return left < 2 * MR ? (left + 1) / 2 : MR;
}

template <size_t MR, size_t NV>
HWY_INLINE void MultiplyPanel(GemmPanelArgs args) {
  // Each tile fetches its part of the rows ahead.
  const size_t tiles = (args.row_count + MR - 1) / MR;
  const size_t rows_a_tile = (args.ahead.row_count + tiles - 1) / HWY_MAX(tiles, 1);
  GemmAhead ahead = args.ahead;
  size_t left = ahead.row_count;
  for (size_t row = 0; row < args.row_count;) {
    const size_t rows = NextRows<MR>(args.row_count - row);
    ahead.row_count = HWY_MIN(rows_a_tile, left);
    if (args.pack_to != nullptr) {
      MultiplyTile<MR, NV, true>(args, row, ahead);
      args.b = args.pack_to;
      args.b_stride = NV * kLanes;
      args.pack_to = nullptr;
    } else {
      MultiplyRows<MR, NV>(args, row, rows, ahead);
    }
    ahead.row += static_cast<int64_t>(ahead.row_count) * ahead.row_bytes;
    left -= ahead.row_count;
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
