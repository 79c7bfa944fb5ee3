// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products. This header is the contract between the loops over blocks and the kernels, and
// knows no instruction set.
//
//   sums[i][j] = Σ_s a[i][s] * b[s][j]           over one block of the depth
//   c[i][j]    = alpha * sums[i][j] + beta * c[i][j] + bias[j] + residual[i][j]   first block
//   c[i][j]   += alpha * sums[i][j]                                               later blocks
//
// Columns lie across lanes; rows are broadcast. A sum is one chain of multiply-adds in the order of
// s, whatever the tile and whichever of `panel`, `rows` and `panels` computes it; `dots` adds up s,
// s + 2 lanes, s + 4 lanes ... in each lane of two vectors, then the vectors and the lanes in a
// fixed order.
//
// Nothing beyond the given rows and columns is read or written. Strides count elements of the array
// they belong to. Only scratch arrays are aligned, to kGemmAlignment bytes.

#ifndef LANEWISE_SRC_KERNELS_GEMM_H_
#define LANEWISE_SRC_KERNELS_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lanewise/tensor.h"

namespace lanewise::kernels {

inline constexpr size_t kGemmAlignment = 64;

// The largest number of columns of a tile, over all targets, and of rows of `rows`, `panels` and
// `dots`.
inline constexpr size_t kMaxTileColumns = 64;
inline constexpr size_t kMaxStreamRows = 4;

// What becomes of sums.
struct GemmEnd {
  void* c;  // [rows, columns]
  int64_t c_stride;
  DataType c_type;
  bool add;  // c += alpha * sums, and nothing else; c is f32
  float alpha;
  float beta;            // 0: c is not read
  const float* bias;     // [columns], or null
  const void* residual;  // [rows, columns] of c_type, or null; may be c
  int64_t residual_stride;
};

// Rows of memory that will be read soon, each as many bytes as the tile has columns of f32. They
// are fetched into the second-level cache meanwhile, or copied.
struct GemmAhead {
  const char* row;  // the first
  int64_t row_bytes;
  size_t row_count;
  float* to;  // aligned: a packed panel that the rows become; or null
};

// All rows against one packed panel of B: the columns of a register tile, aligned and padded.
struct GemmPanelArgs {
  const float* a;  // [row_count, depth]
  int64_t a_stride;
  const float* b;  // [depth, columns of the tile]
  size_t row_count;
  size_t column_count;  // 1 to the columns of the tile
  size_t depth;
  GemmEnd end;  // of the first row and column
  GemmAhead ahead;
};

// Few rows against many columns of a B that is read where it lies. `sums` is scratch; `panels`
// wants room there for whole panels.
struct GemmStreamArgs {
  const float* a;  // [row_count, depth]
  int64_t a_stride;
  const void* b;     // rows: [depth, column_count]; dots: [column_count, depth]; panels: a panel
  int64_t b_stride;  // from row to row, or from panel to panel
  size_t row_count;  // 1 to kMaxStreamRows
  size_t column_count;
  size_t depth;
  float* sums;  // [row_count, sums_stride]
  size_t sums_stride;
};

// Copies columns of B into panels, widened: panel p is [depth, tile columns] and holds the columns
// from p * tile columns on, with zeros after the last one.
struct GemmPackArgs {
  const void* b;  // [depth, column_count], or [column_count, depth] if transposed
  int64_t b_stride;
  size_t depth;
  size_t column_count;
  float* to;            // aligned
  size_t panel_stride;  // floats from panel to panel
};

// to[j][i] = from[i][j], widened.
struct GemmTransposeArgs {
  const void* from;  // [rows, columns]
  int64_t from_stride;
  size_t rows;
  size_t columns;
  float* to;  // [columns, rows]
  int64_t to_stride;
};

// One register tile of one target.
struct GemmKernel {
  std::string_view tile;  // "4x3v": rows x vectors of accumulators
  size_t rows;            // MR
  size_t columns;         // NV * lanes of a vector
  size_t lanes;
  void (*panel)(const GemmPanelArgs&);
};

// The tiles of `target` (one of the HWY_* bits), the one for packed matrices first.
std::vector<GemmKernel> GemmKernels(int64_t target);

// Copies of an A or B of one type. Panels have `columns` columns, those of a tile.
struct GemmMoves {
  void (*pack)(const GemmPackArgs&, size_t columns);
  void (*pack_transposed)(const GemmPackArgs&, size_t columns);
  void (*transpose)(const GemmTransposeArgs&);
};
GemmMoves GemmMovesFor(int64_t target, DataType type);

// Products of few rows with a B of one type. `finish` merges sums [row_count, sums_stride], whose
// rows are aligned and padded to whole vectors, into C.
struct GemmStreams {
  void (*rows)(const GemmStreamArgs&);
  void (*panels)(const GemmStreamArgs&);  // packed, as for the target's first tile
  void (*dots)(const GemmStreamArgs&);
  void (*finish)(const float* sums, size_t sums_stride, size_t row_count, size_t column_count,
                 const GemmEnd& end);
};
GemmStreams GemmStreamsFor(int64_t target, DataType b_type);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_GEMM_H_
