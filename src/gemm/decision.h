// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a plan holds: everything that a run needs, validated and decided.

#ifndef LANEWISE_SRC_GEMM_DECISION_H_
#define LANEWISE_SRC_GEMM_DECISION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lanewise/gemm.h"
#include "src/core/sizes.h"
#include "src/gemm/overrides.h"
#include "src/kernels/convert.h"
#include "src/kernels/gemm.h"
#include "src/parallel/parallel.h"

namespace lanewise {
namespace gemm {

enum class Variant {
  kBlocks,  // blocks of B are packed for all rows, blocks of A are copied
  kPanels,  // one block of rows: each panel of B is packed just before it is used
  kRows,    // very few rows: B is read once, in place or packed
  kDots,    // the same in place, for a transposed B
};

// Whether a variant takes few rows and all columns at a time.
constexpr bool Streams(Variant variant) {
  return variant == Variant::kRows || variant == Variant::kDots;
}

}  // namespace gemm

struct GemmPlan::Decision {
  explicit Decision(int threads) : team(threads) {}

  GemmShape shape;
  GemmOptions options;

  // Numeric, which an element's bits depend on: the depth block, and whether the variant is kDots.
  gemm::Variant variant = gemm::Variant::kBlocks;
  int64_t depth_block = 0;
  // Neutral.
  kernels::GemmKernel kernel;
  int64_t row_block = 0;     // kRows, kDots: rows a kernel takes
  int64_t column_block = 0;  // kRows, kDots: columns a worker takes at a time

  kernels::GemmMoves a_moves;
  kernels::GemmMoves b_moves;
  kernels::GemmStreams streams;
  kernels::ConvertRows copy_a = nullptr;   // to f32
  kernels::ConvertRows widen_b = nullptr;  // likewise
  parallel::Team team;

  // Scratch, in bytes: sums of a half-typed C, then a block of B for each of `b_blocks` workers,
  // then worker_bytes for each worker.
  size_t sums_bytes = 0;
  size_t b_block_bytes = 0;
  int b_blocks = 0;
  size_t worker_bytes = 0;

  // Without influence of A and B there is no depth.
  int64_t depth() const { return options.alpha == 0 ? 0 : shape.depth; }
  int64_t matrices() const { return shape.batch * shape.heads; }
  int64_t tile_columns() const { return static_cast<int64_t>(kernel.columns); }
  // Products take panels of f32: packed ones of other types are widened first.
  bool uses_packed_panels() const { return options.packed_b && shape.b_type == DataType::kF32; }
  // f16 and bf16 hold no partial sums.
  bool sums_apart() const { return shape.c_type != DataType::kF32 && depth() > depth_block; }
  int64_t sums_stride() const {
    return core::RoundUp(std::min(column_block, shape.columns),
                         static_cast<int64_t>(kernels::kMaxTileColumns));
  }

  int64_t panel_rows = 0;  // up to so many rows are one block
  int64_t target_id = 0;   // that of a packed B, too

  // For Explain only, but the override of the variant.
  std::string target;
  std::string note;
  gemm::PlanOverrides overrides;
  bool target_overridden = false;
  bool threads_overridden = false;
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_GEMM_DECISION_H_
