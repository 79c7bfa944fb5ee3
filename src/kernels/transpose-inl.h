// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Moves between rows in memory and lanes of vectors: four columns of kLanes rows at a time, by 4 x
// 4 transposes inside 128-bit blocks, which every target does in two rounds of interleaves.

#if defined(LANEWISE_SRC_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_TRANSPOSE_INL_H_
#undef LANEWISE_SRC_KERNELS_TRANSPOSE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_TRANSPOSE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Columns moved at a time: a 128-bit block of floats, or the whole vector where that is smaller.
inline constexpr size_t kColumns = HWY_MIN(kLanes, 4);

// Transposes each 4 x 4 block: on return, lane 4b + r of m[c] is what lane 4b + c of m[r] was.
template <class D>
HWY_INLINE void TransposeBlocks(D d, hn::Vec<D> (&m)[kColumns]) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  (void)m;
#else
  const hn::RepartitionToWide<hn::RebindToSigned<D> > dw;
  const auto lower01 = hn::BitCast(dw, hn::InterleaveLower(d, m[0], m[1]));
  const auto upper01 = hn::BitCast(dw, hn::InterleaveUpper(d, m[0], m[1]));
  const auto lower23 = hn::BitCast(dw, hn::InterleaveLower(d, m[2], m[3]));
  const auto upper23 = hn::BitCast(dw, hn::InterleaveUpper(d, m[2], m[3]));
  m[0] = hn::BitCast(d, hn::InterleaveLower(dw, lower01, lower23));
  m[1] = hn::BitCast(d, hn::InterleaveUpper(dw, lower01, lower23));
  m[2] = hn::BitCast(d, hn::InterleaveLower(dw, upper01, upper23));
  m[3] = hn::BitCast(d, hn::InterleaveUpper(dw, upper01, upper23));
#endif
}

// The vector whose block b holds rows[4b][column .. column + 4).
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const float* const* rows, size_t column) {
  if constexpr (hn::MaxLanes(D()) <= kColumns) {
    return hn::LoadU(d, rows[0] + column);
  }
#if HWY_TARGET != HWY_SCALAR
  else {
    const hn::Half<D> dh;
    return hn::Combine(d, LoadBlocks(dh, rows + hn::MaxLanes(D()) / 2, column),
                       LoadBlocks(dh, rows, column));
  }
#endif
}

// The reverse: stores block b of v to rows[4b][column .. column + 4).
template <class D>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, float* const* rows, size_t column) {
  if constexpr (hn::MaxLanes(D()) <= kColumns) {
    hn::StoreU(v, d, rows[0] + column);
  }
#if HWY_TARGET != HWY_SCALAR
  else {
    const hn::Half<D> dh;
    StoreBlocks(dh, hn::LowerHalf(dh, v), rows, column);
    StoreBlocks(dh, hn::UpperHalf(dh, v), rows + hn::MaxLanes(D()) / 2, column);
  }
#endif
}

// m[c] = the lanes rows[0 .. kLanes)[column + c].
HWY_INLINE void LoadColumns(FloatTag d, const float* const* rows, size_t column,
                            FloatVec (&m)[kColumns]) {
  HWY_UNROLL(4)
  for (size_t r = 0; r < kColumns; ++r) m[r] = LoadBlocks(d, rows + r, column);
  TransposeBlocks(d, m);
}

// A cache line of floats of each row.
inline constexpr size_t kLineColumns = 16;

// Whether rows are best moved a line at a time even where they do not share sets of a cache: with
// fewer registers than two for each column of a line, vectors would wait in memory.
inline constexpr bool kMovesLines = kLanes == kLineColumns;

// The same for kLineColumns columns, reading each row's line once: rows a page apart share a set of
// the first-level cache, and more of them than it has ways would evict each other between columns.
HWY_INLINE void LoadLineColumns(FloatTag d, const float* const* rows, size_t column,
                                FloatVec (&m)[kLineColumns / kColumns][kColumns]) {
  HWY_UNROLL(4)
  for (size_t r = 0; r < kColumns; ++r) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kLineColumns / kColumns; ++i) {
      m[i][r] = LoadBlocks(d, rows + r, column + i * kColumns);
    }
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kLineColumns / kColumns; ++i) TransposeBlocks(d, m[i]);
}

// m[i] holds columns [4i, 4i + 4) of rows[0], rows[4], ... as blocks; stores them from `column` on.
HWY_INLINE void StoreLines(FloatTag d, const FloatVec (&m)[kLineColumns / kColumns],
                           float* const* rows, size_t column) {
#if HWY_TARGET == HWY_AVX3
  // A line a store: blocks would be four times as many stores, each waiting for its line.
  const __m512 lower01 = _mm512_shuffle_f32x4(m[0].raw, m[1].raw, 0x44);
  const __m512 upper01 = _mm512_shuffle_f32x4(m[0].raw, m[1].raw, 0xEE);
  const __m512 lower23 = _mm512_shuffle_f32x4(m[2].raw, m[3].raw, 0x44);
  const __m512 upper23 = _mm512_shuffle_f32x4(m[2].raw, m[3].raw, 0xEE);
  hn::StoreU(FloatVec{_mm512_shuffle_f32x4(lower01, lower23, 0x88)}, d, rows[0] + column);
  hn::StoreU(FloatVec{_mm512_shuffle_f32x4(lower01, lower23, 0xDD)}, d, rows[4] + column);
  hn::StoreU(FloatVec{_mm512_shuffle_f32x4(upper01, upper23, 0x88)}, d, rows[8] + column);
  hn::StoreU(FloatVec{_mm512_shuffle_f32x4(upper01, upper23, 0xDD)}, d, rows[12] + column);
#else
  HWY_UNROLL(16)
  for (size_t i = 0; i < kLineColumns / kColumns; ++i) {
    StoreBlocks(d, m[i], rows, column + i * kColumns);
  }
#endif
}

// rows[lane][column + c] = lane of m[c], for the first `row_count` lanes.
HWY_INLINE void StoreColumns(FloatTag d, FloatVec (&m)[kColumns], float* const* rows,
                             size_t row_count, size_t column) {
  TransposeBlocks(d, m);
  if (HWY_LIKELY(row_count >= kLanes)) {
    HWY_UNROLL(4)
    for (size_t r = 0; r < kColumns; ++r) StoreBlocks(d, m[r], rows + r, column);
    return;
  }
  HWY_ALIGN float block[kColumns * kLanes];
  HWY_UNROLL(4)
  for (size_t r = 0; r < kColumns; ++r) hn::Store(m[r], d, block + r * kLanes);
  for (size_t lane = 0; lane < row_count; ++lane) {
    const size_t r = lane % kColumns;
    for (size_t c = 0; c < kColumns; ++c) {
      rows[lane][column + c] = block[r * kLanes + lane - r + c];
    }
  }
}

// The same for kLineColumns columns.
HWY_INLINE void StoreLineColumns(FloatTag d, FloatVec (&m)[kLineColumns / kColumns][kColumns],
                                 float* const* rows, size_t row_count, size_t column) {
  if (HWY_UNLIKELY(row_count < kLanes)) {
    for (size_t i = 0; i < kLineColumns / kColumns; ++i) {
      StoreColumns(d, m[i], rows, row_count, column + i * kColumns);
    }
    return;
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kLineColumns / kColumns; ++i) TransposeBlocks(d, m[i]);
  HWY_UNROLL(4)
  for (size_t r = 0; r < kColumns; ++r) {
    FloatVec row[kLineColumns / kColumns];
    HWY_UNROLL(16)
    for (size_t i = 0; i < kLineColumns / kColumns; ++i) row[i] = m[i][r];
    StoreLines(d, row, rows + r, column);
  }
}

// One column: rows[lane][column] = lane of v, for the first `row_count` lanes.
HWY_INLINE void StoreColumn(FloatTag d, FloatVec v, float* const* rows, size_t row_count,
                            size_t column) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, d, lanes);
  for (size_t lane = 0; lane < row_count; ++lane) rows[lane][column] = lanes[lane];
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_TRANSPOSE_INL_H_
