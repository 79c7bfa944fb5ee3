// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The blocks of matrix products: their ranges, what they fit, and what they do not look at.

#include "src/profile/gemm_defaults.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace lanewise::profile {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 64;
constexpr int64_t kSizes[] = {0, 1, 5, 6, 7, 63, 64, 255, 256, 257, 1000, 4096, 1 << 20, kHuge};
constexpr CacheBytes kMachines[] = {{0, 0},
                                    {32 << 10, 256 << 10},
                                    {32 << 10, 512 << 10},
                                    {48 << 10, 2 << 20},
                                    {1 << 20, 256 << 20}};

GemmProblem Problem(int64_t rows, int64_t columns, int threads) {
  GemmProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth_block = 256;
  problem.tile_rows = 6;
  problem.tile_columns = 16;
  problem.threads = threads;
  return problem;
}

TEST(GemmDepthBlock, CutsTheDepthIntoEqualBlocks) {
  for (const CacheBytes& caches : kMachines) {
    for (const int64_t depth : kSizes) {
      const int64_t block = GemmDepthBlock(caches, 16, depth);
      EXPECT_GE(block, 8) << depth;
      EXPECT_LE(block, 512) << depth;
      EXPECT_EQ(block % 8, 0) << depth;
      if (depth <= 128) {
        EXPECT_GE(block, depth) << "one block";
      }
      if (depth > 8 && depth < (1 << 20)) {
        // The last block is not much shorter than the others.
        const int64_t blocks = (depth + block - 1) / block;
        EXPECT_LT(blocks * block - depth, 8 * blocks) << depth;
      }
    }
  }
}

TEST(GemmDepthBlock, APanelFillsTheFirstLevelCacheTwice) {
  constexpr CacheBytes kSmall = {16 << 10, 0};
  EXPECT_EQ(GemmDepthBlock(kSmall, 16, 2048), 512);  // 16 columns of 512 steps: 32 KiB
  EXPECT_EQ(GemmDepthBlock(kSmall, 16, 768), 384);
  EXPECT_EQ(GemmDepthBlock(kSmall, 32, 768), 256);
  EXPECT_EQ(GemmDepthBlock(kSmall, 32, 300), 152);
  EXPECT_EQ(GemmDepthBlock(kSmall, 1, 1 << 20), 512);
  EXPECT_EQ(GemmDepthBlock({24 << 10, 0}, 32, 1 << 20), 384);
  EXPECT_EQ(GemmDepthBlock({48 << 10, 0}, 32, 1 << 20), 512);
}

TEST(GemmPanelRows, FitHalfOfTheSecondLevelCache) {
  EXPECT_EQ(GemmPanelRows({0, 512 << 10}, 16, 512), 128);
  EXPECT_EQ(GemmPanelRows({0, 512 << 10}, 16, 256), 256);
  EXPECT_EQ(GemmPanelRows({0, 0}, 16, 0), 0);
}

TEST(GemmPanelRows, AreFewWhereABlockOfBFitsTheSecondLevelCache) {
  EXPECT_EQ(GemmPanelRows({32 << 10, 512 << 10}, 16, 64), 512);
  EXPECT_EQ(GemmPanelRows({48 << 10, 2 << 20}, 32, 256), 512);
  EXPECT_EQ(GemmPanelRows({48 << 10, 2 << 20}, 16, 512), 512);
  EXPECT_EQ(GemmPanelRows({48 << 10, 2 << 20}, 32, 512), 256);
}

TEST(GemmFetchesPanels, ThatLeaveBothCaches) {
  EXPECT_TRUE(GemmFetchesPanels({48 << 10, 2 << 20}, 32, 512));
  EXPECT_FALSE(GemmFetchesPanels({48 << 10, 2 << 20}, 16, 512));
  EXPECT_FALSE(GemmFetchesPanels({32 << 10, 1 << 20}, 32, 512));
}

TEST(GemmRowBlock, IsSmallBesideABlockOfB) {
  const GemmProblem problem = Problem(2048, 2048, 1);  // 256 steps
  EXPECT_EQ(GemmRowBlock({48 << 10, 2 << 20}, problem), 228);
  EXPECT_EQ(GemmColumnBlock({48 << 10, 2 << 20}, problem), 1024);
  EXPECT_EQ(GemmRowBlock({32 << 10, 512 << 10}, problem), 192);
  EXPECT_EQ(GemmColumnBlock({32 << 10, 512 << 10}, problem), 2048);
}

TEST(GemmRowBlock, FitsTheSecondLevelCacheInWholeTiles) {
  for (const CacheBytes& caches : kMachines) {
    for (const int64_t rows : kSizes) {
      for (const int threads : {1, 2, 8, 4096}) {
        const GemmProblem problem = Problem(rows, 1000, threads);
        const int64_t block = GemmRowBlock(caches, problem);
        EXPECT_GE(block, 6) << rows;
        EXPECT_EQ(block % 6, 0) << rows;
        if (block > 6) {
          EXPECT_LE(block * 256 * 4, caches.l2 * 3 / 8) << rows;
        }
      }
    }
  }
}

TEST(GemmRowBlock, LeavesWorkForAllThreads) {
  for (const int threads : {2, 4}) {
    const int64_t block = GemmRowBlock({32 << 10, 512 << 10}, Problem(2000, 1000, threads));
    EXPECT_GE((2000 + block - 1) / block, 4 * threads);
  }
}

TEST(GemmColumnBlock, IsWholeTiles) {
  for (const CacheBytes& caches : kMachines) {
    for (const int64_t columns : kSizes) {
      const int64_t block = GemmColumnBlock(caches, Problem(1000, columns, 1));
      EXPECT_GE(block, 16) << columns;
      EXPECT_EQ(block % 16, 0) << columns;
      if (block > 16) {
        EXPECT_LE(block * 256 * 4, 4 * caches.l2) << columns;
      }
    }
  }
}

TEST(GemmColumnBlock, GoesOnToTheEndOfATile) {
  GemmProblem problem = Problem(2048, 2048, 1);
  problem.depth_block = 512;  // 1024 columns take four times 512 KiB
  problem.tile_columns = 24;
  EXPECT_EQ(GemmColumnBlock({32 << 10, 512 << 10}, problem), 1032);
}

TEST(GemmReadsRowsInPlace, WhereRowsSpreadOverACache) {
  constexpr CacheBytes kCaches = {32 << 10, 512 << 10};
  const auto in_place = [&](int64_t rows, int64_t stride, int64_t steps) {
    return GemmReadsRowsInPlace(kCaches, rows, stride, steps);
  };
  EXPECT_TRUE(in_place(192, 64, 64));
  EXPECT_TRUE(in_place(192, 512, 256));
  EXPECT_TRUE(in_place(192, 768, 256));
  EXPECT_TRUE(in_place(192, 1001, 256));
  EXPECT_FALSE(in_place(192, 1024, 256));
  EXPECT_FALSE(in_place(192, 4096, 256));
  EXPECT_FALSE(in_place(192, -2048, 256));
  EXPECT_FALSE(in_place(192, int64_t{1} << 62, 256));
  EXPECT_FALSE(in_place(192, 0, 256));
}

TEST(GemmReadsRowsInPlace, WhereFewRowsFitTheSecondLevelCacheAnyway) {
  EXPECT_TRUE(GemmReadsRowsInPlace({48 << 10, 2 << 20}, 64, 2048, 512));
  EXPECT_FALSE(GemmReadsRowsInPlace({48 << 10, 2 << 20}, 192, 2048, 512));
}

TEST(GemmStreamColumns, CoversTheColumnsInUnits) {
  for (const int64_t columns : kSizes) {
    for (const int threads : {1, 2, 8}) {
      const int64_t block = GemmStreamColumns(Problem(1, columns, threads));
      EXPECT_GE(block, 64);
      EXPECT_LE(block, 4096);
      EXPECT_EQ(block % 64, 0);
    }
  }
  EXPECT_EQ(GemmStreamColumns(Problem(1, 4096, 1)), 4096);
  EXPECT_EQ(GemmStreamColumns(Problem(1, 4096, 2)), 2048);
}

TEST(GemmGrain, LeavesEachThreadFourTurns) {
  EXPECT_EQ(GemmGrain(0, 1), 1);
  EXPECT_EQ(GemmGrain(100, 1), 100);
  for (const int threads : {2, 3, 8}) {
    for (const int64_t panels : {1, 7, 64, 1000}) {
      const int64_t grain = GemmGrain(panels, threads);
      EXPECT_GE(grain, 1);
      if (grain > 1) {
        EXPECT_GE(panels / grain, 4 * threads);
      }
    }
  }
}

TEST(GemmColumnParts, MakesUpForFewRowBlocks) {
  for (const int64_t blocks : {1, 3, 100}) {
    EXPECT_EQ(GemmColumnParts(blocks, 64, 1), 1);
    const int64_t parts = GemmColumnParts(blocks, 64, 2);
    EXPECT_GE(blocks * parts, 8);
    EXPECT_LE(parts, 64);
  }
  EXPECT_EQ(GemmColumnParts(1, 3, 16), 3);
  EXPECT_EQ(GemmColumnParts(100, 3, 2), 1);
}

}  // namespace
}  // namespace lanewise::profile
