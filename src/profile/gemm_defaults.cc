// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/profile/gemm_defaults.h"

#include <algorithm>

#include "src/core/sizes.h"

namespace lanewise::profile {
namespace {

constexpr int64_t kFloatBytes = 4;

// Units of work that each thread gets at least, so that one that is held up is not waited for long.
constexpr int64_t kUnitsPerThread = 4;

// The size of the fewest equal blocks of at most `largest`, in whole units.
int64_t EqualBlocks(int64_t total, int64_t largest, int64_t unit) {
  const int64_t blocks = std::max<int64_t>(core::DivideUp(total, largest), 1);
  return std::max(core::RoundUp(core::DivideUp(total, blocks), unit), unit);
}

// Whether the second-level cache holds a block of B that is worth going through for few rows at a
// time, since the rows of A are read again for each block.
bool KeepsBInSecond(const CacheBytes& caches, int64_t depth_block) {
  constexpr int64_t kColumns = 512;
  return caches.l2 / 2 >= kColumns * std::max<int64_t>(depth_block, 1) * kFloatBytes;
}

bool PanelExceedsFirst(const CacheBytes& caches, int64_t columns, int64_t depth_block) {
  return columns * depth_block * kFloatBytes > caches.l1d;
}

}  // namespace

int64_t GemmDepthBlock(const CacheBytes& caches, int64_t columns, int64_t depth) {
  const int64_t fitting = 2 * caches.l1d / (std::max<int64_t>(columns, 1) * kFloatBytes);
  const int64_t largest = std::clamp<int64_t>(fitting / 64 * 64, 128, 512);
  return EqualBlocks(depth, largest, 8);
}

int64_t GemmPanelRows(const CacheBytes& caches, int64_t columns, int64_t depth_block) {
  const int64_t most = PanelExceedsFirst(caches, columns, depth_block) ? 256 : 512;
  const int64_t fitting = caches.l2 / 2 / (std::max<int64_t>(depth_block, 1) * kFloatBytes);
  return KeepsBInSecond(caches, depth_block) ? std::min(fitting, most) : fitting;
}

bool GemmFetchesPanels(const CacheBytes& caches, int64_t columns, int64_t depth_block) {
  return KeepsBInSecond(caches, depth_block) && PanelExceedsFirst(caches, columns, depth_block);
}

int64_t GemmRowBlock(const CacheBytes& caches, const GemmProblem& problem) {
  const int64_t tile = problem.tile_rows;
  const int64_t row_bytes = std::max<int64_t>(problem.depth_block, 1) * kFloatBytes;
  const bool few = KeepsBInSecond(caches, problem.depth_block);
  const int64_t a_bytes = few ? caches.l2 / 8 : caches.l2 / 8 * 3;
  const int64_t most = few ? 256 : 4096;
  const int64_t fitting = std::clamp<int64_t>(a_bytes / row_bytes, tile, most);
  int64_t largest = fitting / tile * tile;
  if (problem.threads > 1) {
    const int64_t blocks =
        core::DivideUp(problem.threads * kUnitsPerThread, std::max<int64_t>(problem.matrices, 1));
    const int64_t shared = core::RoundUp(core::DivideUp(problem.rows, blocks), tile);
    largest = std::clamp(shared, std::min<int64_t>(8 * tile, largest), largest);
  }
  return EqualBlocks(problem.rows, largest, tile);
}

int64_t GemmColumnBlock(const CacheBytes& caches, const GemmProblem& problem) {
  const int64_t column_bytes = std::max<int64_t>(problem.depth_block, 1) * kFloatBytes;
  const int64_t b_bytes =
      KeepsBInSecond(caches, problem.depth_block) ? caches.l2 / 2 : 4 * caches.l2;
  const int64_t fitting =
      std::clamp<int64_t>(b_bytes / column_bytes, problem.tile_columns, 1 << 16);
  return EqualBlocks(problem.columns, core::RoundUp(fitting, problem.tile_columns),
                     problem.tile_columns);
}

bool GemmReadsRowsInPlace(const CacheBytes& caches, int64_t rows, int64_t stride, int64_t steps) {
  const int64_t apart = stride & -stride;
  const int64_t fitting = caches.l2 / 2 / (std::max<int64_t>(rows, 1) * kFloatBytes);
  return stride != 0 && (apart <= 2 * steps || apart <= fitting);
}

int64_t GemmStreamColumns(const GemmProblem& problem) {
  constexpr int64_t kLargest = 4096;
  constexpr int64_t kUnit = 64;
  int64_t wanted = kLargest;
  if (problem.threads > 1) {
    wanted = std::min(wanted, core::DivideUp(problem.columns, problem.threads));
  }
  return EqualBlocks(problem.columns, core::RoundUp(std::max<int64_t>(wanted, 1), kUnit), kUnit);
}

int64_t GemmGrain(int64_t panels, int threads) {
  if (threads == 1) return std::max<int64_t>(panels, 1);
  return std::max<int64_t>(panels / (threads * kUnitsPerThread), 1);
}

int64_t GemmColumnParts(int64_t row_blocks, int64_t panels, int threads) {
  if (threads == 1) return 1;
  const int64_t wanted =
      core::DivideUp(threads * kUnitsPerThread, std::max<int64_t>(row_blocks, 1));
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(panels, 1));
}

}  // namespace lanewise::profile
