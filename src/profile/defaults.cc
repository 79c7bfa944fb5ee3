// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/profile/defaults.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/sizes.h"
#include "src/kernels/few.h"

namespace lanewise::profile {
namespace {

// Units that take equally long: one thread takes all, several take turns.
int64_t EvenGrain(int64_t count, int threads) {
  constexpr int64_t kTurns = 8;
  if (threads == 1) return std::max<int64_t>(count, 1);
  return std::max<int64_t>(count / (threads * kTurns), 1);
}

// Lanes of the lane groups that hold `rows`, those without a row included.
double LanesTaken(const kernels::LanesKernel& kernel, int64_t rows) {
  const double lanes = static_cast<double>(kernel.lanes);
  return std::ceil(static_cast<double>(rows) / lanes) * lanes;
}

}  // namespace

int64_t LanesKvBlock(const CacheBytes& caches, int64_t dim, int64_t value_dim,
                     std::optional<int64_t> window) {
  constexpr int64_t kSmallest = 32;
  constexpr int64_t kEnough = 128;
  constexpr int64_t kLargest = 512;
  constexpr int64_t kOfWindows = 1024;
  const double row_bytes =
      sizeof(float) * (static_cast<double>(dim) + static_cast<double>(value_dim));
  const auto fits = [&](int64_t keys, int64_t part) {
    return static_cast<double>(keys) * row_bytes <= static_cast<double>(caches.l2 / part);
  };
  int64_t block = kSmallest;
  while (block < kLargest && fits(2 * block, block < kEnough ? 2 : 4)) block *= 2;
  return window && fits(*window, 2) ? std::min(4 * block, kOfWindows) : block;
}

double LanesTileTime(const kernels::LanesKernel& kernel, const LanesProblem& problem) {
  const double lanes = static_cast<double>(kernel.lanes);
  // At each moving end a vector takes up to as many keys more than one of its rows sees as it holds
  // queries. Vectors of a group join and leave one by one, each of which costs as much as some
  // keys, but no more than if they all took the keys of the group.
  constexpr double kKeysPerChange = 2;
  const double vectors = static_cast<double>(kernel.vectors);
  const double queries = lanes / static_cast<double>(std::max<int64_t>(problem.heads, 1));
  const double at_end =
      std::min(queries / 2, queries / vectors / 2 + kKeysPerChange * (vectors - 1));
  const double keys = problem.keys_per_row + problem.moving_ends * at_end;
  return LanesTaken(kernel, problem.rows) * keys * kernel.relative_time;
}

size_t LanesTile(const std::vector<kernels::LanesKernel>& kernels, const LanesProblem& problem) {
  const auto smallest =
      std::min_element(kernels.begin(), kernels.end(), [&](const auto& a, const auto& b) {
        return LanesTileTime(a, problem) < LanesTileTime(b, problem);
      });
  return static_cast<size_t>(smallest - kernels.begin());
}

int64_t LanesQueryGroups(const CacheBytes& caches, const LanesProblem& problem, size_t lanes) {
  constexpr int64_t kRows = 256;
  constexpr int64_t kTilesPerThread = 4;
  const int64_t rows_per_group = static_cast<int64_t>(lanes);
  const int64_t groups = core::DivideUp(problem.rows, rows_per_group);
  const double row_bytes =
      sizeof(float) * (static_cast<double>(problem.dim) + static_cast<double>(problem.value_dim));
  const double fitting = static_cast<double>(caches.l2) / 4 / row_bytes;
  const double rows = std::min<double>(kRows, fitting);
  double wanted = rows / static_cast<double>(rows_per_group);
  if (problem.threads > 1) {
    const double tiles = static_cast<double>(groups) * static_cast<double>(problem.kv_heads);
    wanted = std::min(wanted, tiles / (static_cast<double>(problem.threads) * kTilesPerThread));
  }
  return std::clamp<int64_t>(std::min(groups, static_cast<int64_t>(wanted)), 1, kMaxQueryGroups);
}

double FewTime(const std::vector<kernels::LanesKernel>& tiles, int64_t rows, int64_t dim,
               int64_t value_dim) {
  // Fitted to the grids of bench/README.md, means over 64 to 4096 keys.
  struct Fit {
    double row;    // time of a row of `few`, in those of a lane of the first tile
    double sums;   // the same of its sums, for a row of one column
    double alone;  // factor of a tile whose group is a single vector
  };
  const size_t vector = tiles.front().lanes / tiles.front().vectors;
  const Fit fit = vector >= 16 ? Fit{1.06, 56, 1.25} : Fit{1.06, 23, 1.0};
  double lanes_time = std::numeric_limits<double>::infinity();
  for (const kernels::LanesKernel& tile : tiles) {
    const double alone = tile.vectors == 1 ? fit.alone : 1;
    lanes_time = std::min(lanes_time, LanesTaken(tile, rows) * tile.relative_time * alone);
  }
  const double columns = static_cast<double>(dim) + static_cast<double>(value_dim);
  return static_cast<double>(rows) * (fit.row + fit.sums / columns) / lanes_time;
}

int64_t FewRowBlock(int64_t rows) {
  return std::clamp<int64_t>(rows, 1, static_cast<int64_t>(kernels::kMaxFewRows));
}

int64_t FewGrain(int64_t chunk_count, int threads) { return EvenGrain(chunk_count, threads); }

int64_t SoftmaxGrain(int64_t rows, int threads) { return EvenGrain(rows, threads); }

int64_t LanesGrain(int64_t tile_count, int threads) {
  constexpr int64_t kTurns = 8;
  constexpr int64_t kLargest = 16;
  if (threads == 1) return std::max<int64_t>(tile_count, 1);
  return std::clamp<int64_t>(tile_count / (threads * kTurns), 1, kLargest);
}

}  // namespace lanewise::profile
