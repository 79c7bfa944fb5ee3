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

// What becomes of rows that a tile goes through besides its products.
enum class RowUse {
  kStore,  // a row of C: into the first-level cache
  kFetch,  // into the second-level cache
  kCopy,   // a row of B: into its place in a panel
};

// One row, as wide as a tile.
template <RowUse kUse, size_t NV>
HWY_INLINE void TakeRow(FloatTag d, const char* HWY_RESTRICT row, int64_t row_bytes,
                        float* HWY_RESTRICT to) {
  // Copied rows are fetched so many ahead into the second-level cache, then into the first: there
  // fewer than a set has lines, since a stride that is a power of two puts all of them into one.
  constexpr int64_t kFarAhead = 32;
  constexpr int64_t kAhead = 8;
  HWY_UNROLL(4)
  for (size_t j = 0; j < NV; ++j) {
    const char* part = row + j * kLanes * sizeof(float);
    if constexpr (kUse == RowUse::kCopy) {
      __builtin_prefetch(part + kFarAhead * row_bytes, 0, 2);
      __builtin_prefetch(part + kAhead * row_bytes);
      hn::Store(hn::LoadU(d, reinterpret_cast<const float*>(part)), d, to + j * kLanes);
    } else if constexpr (kUse == RowUse::kStore) {
      __builtin_prefetch(part, 1, 3);
    } else {
      __builtin_prefetch(part, 0, 2);
    }
  }
}

// Steps for each row that is taken: few, or more where all rows find a place.
constexpr size_t kFewSteps = 4;
constexpr size_t kMoreSteps = 8;

// One tile, in parts of its depth. Panels are kPanel columns wide, of which it takes the first.
template <size_t MR, size_t NV, size_t kPanel>
class TileOfRows {
 public:
  HWY_INLINE TileOfRows(FloatTag d, const GemmPanelArgs& args, size_t row)
      : d_(d),
        a_(args.a + static_cast<int64_t>(row) * args.a_stride),
        a_stride_(args.a_stride),
        b_(args.b) {
    tile_.Zero(d);
  }

  const RegisterTile<MR, NV>& tile() const { return tile_; }

  HWY_INLINE void Multiply(size_t begin, size_t end) {
    tile_.template MultiplyAdd<ARows::kStrided, true>(d_, a_ + begin, a_stride_,
                                                      b_ + begin * kPanel, kPanel, end - begin);
  }

  // Multiplies kSteps steps for each of at most `count` rows, which hide how long a row takes to
  // arrive. Lines that are asked for one by one find the buffers of outstanding lines free, which
  // panels of B need, too. Takes the rows off `rows`, and returns the steps done so far.
  template <RowUse kUse, size_t kSteps>
  HWY_INLINE size_t MultiplyAndTake(size_t begin, size_t end, size_t count, GemmAhead& rows) {
    count = HWY_MIN(HWY_MIN(count, rows.row_count), (end - begin) / kSteps);
    rows.row_count -= count;
    const char* row = rows.row;
    const int64_t row_bytes = rows.row_bytes;
    float* to = rows.to;
    size_t s = begin;
    for (; count != 0; --count, s += kSteps) {
      TakeRow<kUse, NV>(d_, row, row_bytes, to);
      row += row_bytes;
      if constexpr (kUse == RowUse::kCopy) to += kPanel;
      // As straight code: a loop would set up its pointers for each row.
      HWY_UNROLL(4)
      for (size_t part = 0; part < kSteps; part += kFewSteps) {
        Multiply(s + part, s + part + kFewSteps);
      }
    }
    rows.row = row;
    rows.to = to;
    return s;
  }

 private:
  FloatTag d_;
  const float* HWY_RESTRICT a_;
  int64_t a_stride_;
  const float* HWY_RESTRICT b_;
  RegisterTile<MR, NV> tile_;
};

// Takes at most `count` rows off `ahead`.
template <size_t MR, size_t NV, size_t kPanel, RowUse kUse>
void MultiplyTile(const GemmPanelArgs& args, size_t row, size_t count, GemmAhead& ahead) {
  const FloatTag d;
  const int64_t c_bytes = args.end.c_stride * (args.end.c_type == DataType::kF32 ? 4 : 2);
  GemmAhead c = {static_cast<const char*>(args.end.c) + static_cast<int64_t>(row) * c_bytes,
                 c_bytes, MR, nullptr};
  TileOfRows<MR, NV, kPanel> rows(d, args, row);
  // C is far away, and so are the rows ahead.
  size_t s = rows.template MultiplyAndTake<RowUse::kStore, kFewSteps>(0, args.depth, MR, c);
  if (kUse == RowUse::kCopy && s + count * kMoreSteps <= args.depth) {
    s = rows.template MultiplyAndTake<kUse, kMoreSteps>(s, args.depth, count, ahead);
  } else {
    s = rows.template MultiplyAndTake<kUse, kFewSteps>(s, args.depth, count, ahead);
  }
  rows.Multiply(s, args.depth);
  EndTile(d, rows.tile(), args, row);
}

// `rows` from 1 to MR.
template <size_t MR, size_t NV, size_t kPanel>
HWY_INLINE void MultiplyRows(const GemmPanelArgs& args, size_t row, size_t rows, size_t count,
                             GemmAhead& ahead) {
  if constexpr (MR > 1) {
    if (rows != MR) return MultiplyRows<MR - 1, NV, kPanel>(args, row, rows, count, ahead);
  }
  MultiplyTile<MR, NV, kPanel, RowUse::kFetch>(args, row, count, ahead);
}

// Rows of the next tile when `left` are to be done: all that a tile holds, but the last two tiles
// share what is left, since a tile of few rows takes as long as one of more.
template <size_t MR>
constexpr size_t NextRows(size_t left) {
  if (left <= MR) return left;
  return left < 2 * MR ? (left + 1) / 2 : MR;
}

template <size_t MR, size_t NV, size_t kPanel>
HWY_INLINE void MultiplyPanel(const GemmPanelArgs& args) {
  // Each tile takes its part of the rows ahead. Only whole tiles copy.
  GemmAhead ahead = args.ahead;
  const bool copies = ahead.to != nullptr;
  const size_t tiles = HWY_MAX(args.row_count / MR, 1);
  const size_t rows_a_tile = (ahead.row_count + tiles - 1) / tiles;
  for (size_t row = 0; row < args.row_count;) {
    const size_t rows = NextRows<MR>(args.row_count - row);
    if (copies && rows == MR) {
      MultiplyTile<MR, NV, kPanel, RowUse::kCopy>(args, row, rows_a_tile, ahead);
    } else {
      MultiplyRows<MR, NV, kPanel>(args, row, rows, copies ? 0 : rows_a_tile, ahead);
    }
    row += rows;
  }
  if (!copies) return;
  for (; ahead.row_count != 0; --ahead.row_count) {
    TakeRow<RowUse::kCopy, NV>(FloatTag(), ahead.row, ahead.row_bytes, ahead.to);
    ahead.row += ahead.row_bytes;
    ahead.to += kPanel;
  }
}

// With as many vectors as the panel's columns need.
template <size_t MR, size_t NV, size_t kPanel>
void Panel(const GemmPanelArgs& args) {
  if constexpr (NV > 1) {
    if (args.column_count <= (NV - 1) * kLanes) return Panel<MR, NV - 1, kPanel>(args);
  }
  MultiplyPanel<MR, NV, kPanel>(args);
}

template <size_t MR, size_t NV>
GemmKernel MakeGemmKernel(const char* tile) {
  constexpr size_t kPanel = NV * kLanes;
  static_assert(kPanel <= kMaxTileColumns);
  return {tile, MR, kPanel, kLanes, &Panel<MR, NV, kPanel>};
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_INL_H_
