// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The choices made without measuring: their ranges, what they grow and shrink with, and what they
// do not look at.

#include "src/profile/defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/kernels/few.h"
#include "src/machine/targets.h"

namespace lanewise::profile {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// In rising order, with empty and absurd ends.
constexpr int64_t kDims[] = {0, 1, 2, 31, 64, 80, 95, 96, 128, 192, 256, 1000, 1 << 20, kHuge};
constexpr int64_t kL2Bytes[] = {0, 1, 1 << 15, 1 << 18, 1 << 19, 1 << 20, 1 << 21, kHuge};
constexpr int64_t kRows[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 256, 1000, 1 << 20, kHuge};
constexpr size_t kLaneCounts[] = {1, 4, 8, 16, 32, 64};
constexpr int kThreads[] = {1, 2, 3, 8, 100, 4096};

// Machines and problems of many kinds.
constexpr CacheBytes kCaches = {32 << 10, 1 << 20};
LanesProblem Problem(int64_t rows, int64_t dim, int threads) {
  LanesProblem problem;
  problem.kv_heads = 2;
  problem.rows = rows;
  problem.dim = dim;
  problem.value_dim = dim;
  problem.keys_per_row = 100;
  problem.threads = threads;
  return problem;
}

kernels::LanesKernel Tile(size_t vectors, size_t lanes, double relative_time) {
  kernels::LanesKernel tile = {};
  tile.vectors = vectors;
  tile.lanes = lanes;
  tile.relative_time = relative_time;
  return tile;
}

TEST(LanesKvBlock, IsAPowerOfTwoInItsRange) {
  for (const int64_t l2 : kL2Bytes) {
    for (const int64_t dim : kDims) {
      for (const int64_t value_dim : kDims) {
        const int64_t block = LanesKvBlock({0, l2}, dim, value_dim, {});
        EXPECT_GE(block, 32) << l2 << " " << dim << " " << value_dim;
        EXPECT_LE(block, 512) << l2 << " " << dim << " " << value_dim;
        EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(block))) << block;
      }
    }
  }
}

TEST(LanesKvBlock, FitsAQuarterOfTheSecondLevelCacheOrHalfIfItIsShort) {
  for (const int64_t l2 : {1 << 18, 1 << 19, 1 << 20, 1 << 21}) {
    for (const int64_t dim : {1, 17, 64, 128, 256}) {
      const int64_t block = LanesKvBlock({0, l2}, dim, 64, {});
      const int64_t row_bytes = 4 * (dim + 64);
      if (block > 32) {
        EXPECT_LE(block * row_bytes, block > 128 ? l2 / 4 : l2 / 2) << l2 << " " << dim;
      }
      if (block < 512) {
        EXPECT_GT(2 * block * row_bytes, block < 128 ? l2 / 2 : l2 / 4) << l2 << " " << dim;
      }
    }
  }
}

TEST(LanesKvBlock, IsLongerForWindowsThatFitToo) {
  const auto block = [](int64_t l2, std::optional<int64_t> window) {
    return LanesKvBlock({0, l2}, 64, 64, window);
  };
  constexpr int64_t kL2 = 1 << 20;  // half of it holds 1024 keys and values
  EXPECT_EQ(block(kL2, 1), 1024);
  EXPECT_EQ(block(kL2, 1024), 1024);
  EXPECT_EQ(block(kL2, 1025), 512);
  EXPECT_EQ(block(kL2, std::nullopt), 512);
  EXPECT_EQ(block(kL2 / 4, 256), 512);
  EXPECT_EQ(block(kL2 / 4, 257), 128);
}

TEST(LanesKvBlock, GrowsWithTheCacheAndShrinksWithRows) {
  for (const int64_t dim : kDims) {
    int64_t previous = 0;
    for (const int64_t l2 : kL2Bytes) {
      const int64_t block = LanesKvBlock({0, l2}, dim, 64, {});
      EXPECT_GE(block, previous) << l2 << " " << dim;
      previous = block;
    }
  }
  for (const int64_t l2 : kL2Bytes) {
    int64_t previous = 512;
    for (const int64_t dim : kDims) {
      const int64_t block = LanesKvBlock({0, l2}, dim, 64, {});
      EXPECT_LE(block, previous) << l2 << " " << dim;
      EXPECT_EQ(block, LanesKvBlock({0, l2}, 64, dim, {})) << "keys and values count alike";
      EXPECT_EQ(block, LanesKvBlock({kHuge, l2}, dim, 64, {})) << "the first level does not count";
      previous = block;
    }
  }
}

TEST(LanesQueryGroups, IsInItsRange) {
  for (const int64_t l2 : kL2Bytes) {
    for (const int64_t rows : kRows) {
      for (const int64_t dim : kDims) {
        for (const size_t lanes : kLaneCounts) {
          for (const int threads : kThreads) {
            LanesProblem problem = Problem(rows, dim, threads);
            for (const int64_t kv_heads : {int64_t{0}, int64_t{1}, kHuge}) {
              problem.kv_heads = kv_heads;
              const int64_t groups = LanesQueryGroups({0, l2}, problem, lanes);
              ASSERT_GE(groups, 1) << l2 << " " << rows << " " << dim << " " << lanes;
              ASSERT_LE(groups, kMaxQueryGroups) << l2 << " " << rows << " " << dim << " " << lanes;
              // None without a row.
              ASSERT_LE(groups - 1, rows / static_cast<int64_t>(lanes)) << rows << " " << lanes;
            }
          }
        }
      }
    }
  }
}

TEST(LanesQueryGroups, GrowsWithRowsAndShrinksWithDimAndThreads) {
  for (const size_t lanes : kLaneCounts) {
    for (const int threads : kThreads) {
      int64_t previous = 0;
      for (const int64_t rows : kRows) {
        const int64_t groups = LanesQueryGroups(kCaches, Problem(rows, 64, threads), lanes);
        EXPECT_GE(groups, previous) << rows << " rows, " << lanes << " lanes";
        previous = groups;
      }
    }
    for (const int64_t rows : kRows) {
      int64_t previous = kMaxQueryGroups;
      for (const int64_t dim : kDims) {
        const int64_t groups = LanesQueryGroups(kCaches, Problem(rows, dim, 2), lanes);
        EXPECT_LE(groups, previous) << rows << " rows, dim " << dim;
        previous = groups;
      }
      previous = kMaxQueryGroups;
      for (const int threads : kThreads) {
        const int64_t groups = LanesQueryGroups(kCaches, Problem(rows, 64, threads), lanes);
        EXPECT_LE(groups, previous) << rows << " rows, " << threads << " threads";
        previous = groups;
      }
    }
  }
}

TEST(LanesQueryGroups, LeavesEachThreadFourTiles) {
  for (const int threads : {2, 3, 8}) {
    for (const int64_t rows : {64, 100, 1000, 5000}) {
      const LanesProblem problem = Problem(rows, 64, threads);
      const int64_t groups = LanesQueryGroups(kCaches, problem, 16);
      if (groups == 1) continue;
      const int64_t lane_groups = problem.kv_heads * ((rows + 15) / 16);
      EXPECT_GE(lane_groups, groups * 4 * threads) << rows << " rows, " << threads << " threads";
    }
  }
}

TEST(LanesGrain, LeavesEachThreadEightTurns) {
  for (const int threads : kThreads) {
    int64_t previous = 0;
    for (const int64_t tiles : kRows) {
      const int64_t grain = LanesGrain(tiles, threads);
      EXPECT_GE(grain, std::max<int64_t>(previous, 1)) << tiles << " tiles, " << threads;
      previous = grain;
      if (threads == 1) {
        EXPECT_EQ(grain, std::max<int64_t>(tiles, 1)) << "one thread takes all";
        continue;
      }
      EXPECT_LE(grain, 16) << tiles << " tiles, " << threads << " threads";
      if (grain > 1) {
        EXPECT_GE(tiles / grain, 8 * threads) << tiles;
      }
    }
  }
}

TEST(FewGrain, LeavesEachThreadEightTurns) {
  for (const int threads : kThreads) {
    int64_t previous = 0;
    for (const int64_t chunks : kRows) {
      const int64_t grain = FewGrain(chunks, threads);
      EXPECT_GE(grain, std::max<int64_t>(previous, 1)) << chunks << " chunks, " << threads;
      previous = grain;
      if (threads == 1) {
        EXPECT_EQ(grain, std::max<int64_t>(chunks, 1)) << "one thread takes all";
      } else if (grain > 1) {
        EXPECT_GE(chunks / grain, 8 * threads) << chunks;
      }
    }
  }
}

TEST(FewTime, GrowsWithRowsThatShareLanesAndFallsWithTheirLength) {
  for (const size_t vector : {size_t{4}, size_t{8}, size_t{16}}) {
    const std::vector<kernels::LanesKernel> tiles = {Tile(2, 2 * vector, 1.0),
                                                     Tile(1, vector, 1.1)};
    for (const int64_t value_dim : kDims) {
      for (const int64_t dim : kDims) {
        if (dim == 0 && value_dim == 0) continue;
        double previous = 0;
        for (int64_t rows = 1; rows <= static_cast<int64_t>(vector); ++rows) {
          const double time = FewTime(tiles, rows, dim, value_dim);
          EXPECT_GT(time, previous) << vector << ", " << rows << ", " << dim << ", " << value_dim;
          EXPECT_EQ(time, FewTime(tiles, rows, value_dim, dim)) << "keys and values count alike";
          previous = time;
        }
      }
      double previous = std::numeric_limits<double>::infinity();
      for (const int64_t dim : kDims) {
        const double time = FewTime(tiles, 3, dim, value_dim);
        EXPECT_LE(time, previous) << vector << ", " << dim << ", " << value_dim;
        previous = time;
      }
    }
  }
}

// What the grids of bench/README.md show.
TEST(FewTime, CountsLanesWithoutARow) {
  const std::vector<kernels::LanesKernel> tiles = {Tile(4, 64, 1.0), Tile(2, 32, 1.005),
                                                   Tile(1, 16, 1.04)};
  const auto takes_few = [&](int64_t rows, int64_t dim) {
    return FewTime(tiles, rows, dim, dim) <= 1;
  };
  for (const int64_t rows : {1, 2, 4, 6, 8, 12, 20}) {
    EXPECT_TRUE(takes_few(rows, 64)) << rows;
    EXPECT_TRUE(takes_few(rows, 128)) << rows;
  }
  EXPECT_FALSE(takes_few(16, 64)) << "one vector, full";
  EXPECT_TRUE(takes_few(16, 128));
  EXPECT_FALSE(takes_few(24, 64));
  EXPECT_TRUE(takes_few(24, 128));
  EXPECT_FALSE(takes_few(32, 64));
  EXPECT_FALSE(takes_few(32, 128)) << "two vectors, full";
}

TEST(FewTime, OfAvx2) {
  const std::vector<kernels::LanesKernel> tiles = {Tile(3, 24, 1.0), Tile(2, 16, 1.01),
                                                   Tile(1, 8, 1.25)};
  for (const int64_t dim : {64, 128}) {
    for (const int64_t rows : {1, 2, 4, 6, 8, 12}) {
      EXPECT_LE(FewTime(tiles, rows, dim, dim), 1) << rows << ", " << dim;
    }
    for (const int64_t rows : {16, 24, 32}) {
      EXPECT_GT(FewTime(tiles, rows, dim, dim), 1) << rows << ", " << dim;
    }
  }
}

TEST(FewRowBlock, IsAllRowsUpToALimit) {
  for (const int64_t rows : kRows) {
    EXPECT_EQ(FewRowBlock(rows),
              std::min(std::max<int64_t>(rows, 1), static_cast<int64_t>(kernels::kMaxFewRows)))
        << rows;
  }
}

// Four streams begin at whole vectors of every target.
TEST(FewKeyChunk, FallsIntoQuartersOfWholeVectors) {
  EXPECT_EQ(kFewKeyChunk % (4 * 16), 0);
  EXPECT_FALSE(std::has_single_bit(static_cast<uint64_t>(kFewKeyChunk)));
}

// A wide tile and a narrow one that takes longer for the same work.
const std::vector<kernels::LanesKernel>& WideAndNarrow() {
  static const std::vector<kernels::LanesKernel> tiles = {Tile(4, 64, 1.0), Tile(1, 16, 1.1)};
  return tiles;
}

TEST(LanesTile, WideTilesForManyRowsNarrowOnesWhereLanesWouldIdle) {
  LanesProblem problem = Problem(1000, 64, 1);
  EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 0U);
  for (const int64_t rows : {1, 16, 17, 48, 65}) {
    problem.rows = rows;
    EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 1U) << rows;
  }
  problem.rows = 64;
  EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 0U);
}

TEST(LanesTile, NarrowTilesWhereRowsSeeDifferentKeys) {
  LanesProblem problem = Problem(64 * 1000, 64, 1);
  problem.moving_ends = 2;
  problem.keys_per_row = 33;
  EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 1U);
  problem.keys_per_row = 10'000;
  EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 0U);
  // Rows of 64 heads that share a kv head see the same.
  problem.keys_per_row = 33;
  problem.heads = 64;
  EXPECT_EQ(LanesTile(WideAndNarrow(), problem), 0U);
}

TEST(LanesTile, IsTheFirstOfTheShortestTime) {
  for (const std::string& target : machine::AvailableTargets()) {
    const auto tiles = kernels::LanesKernels(*machine::FindTarget(target));
    for (const int64_t rows : kRows) {
      for (const double keys : {0.0, 1.0, 65.0, 1e6, 1e18}) {
        for (const int moving_ends : {0, 1, 2}) {
          LanesProblem problem = Problem(rows, 64, 2);
          problem.keys_per_row = keys;
          problem.moving_ends = moving_ends;
          const size_t tile = LanesTile(tiles, problem);
          ASSERT_LT(tile, tiles.size());
          const double time = LanesTileTime(tiles[tile], problem);
          EXPECT_GE(time, 0);
          for (size_t other = 0; other < tiles.size(); ++other) {
            const double other_time = LanesTileTime(tiles[other], problem);
            EXPECT_TRUE(time < other_time || (time == other_time && tile <= other))
                << target << ", " << rows << " rows, " << keys << " keys: tile " << tiles[tile].tile
                << ", not " << tiles[other].tile;
          }
          problem.threads = 7;
          problem.kv_heads = 1000;
          EXPECT_EQ(LanesTile(tiles, problem), tile) << "threads and kv heads do not count";
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanewise::profile
