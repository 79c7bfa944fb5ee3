// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The choices made without measuring: pure functions of cache bytes, vector lanes and shape.

#ifndef LANEWISE_SRC_PROFILE_DEFAULTS_H_
#define LANEWISE_SRC_PROFILE_DEFAULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/kernels/lanes.h"
#include "src/profile/machine_caches.h"

namespace lanewise::profile {

// Largest number of lane groups in a query tile.
inline constexpr int64_t kMaxQueryGroups = 16;

// Keys per softmax step of the `lanes` variant, a power of two between 32 and 512: as many as fit,
// keys and values together, in a quarter of the second-level cache, where queries and outputs take
// another one; up to 128 in half of it, since outputs are loaded and stored once a step. Four times
// as many, up to 1024, if a `window` of so many keys fits half of it as a whole: rows whose window
// an edge cuts take a step more. Numeric: it decides where rows are rescaled, so it depends on
// nothing else.
int64_t LanesKvBlock(const CacheBytes& caches, int64_t dim, int64_t value_dim,
                     std::optional<int64_t> window);

// What the neutral choices look at.
struct LanesProblem {
  int64_t kv_heads = 0;  // of all batch items
  int64_t heads = 1;     // query heads that share a kv head
  int64_t rows = 0;      // queries * heads
  int64_t dim = 0;
  int64_t value_dim = 0;
  double keys_per_row = 0;  // mean over the rows
  int moving_ends = 0;      // ends of what a row sees that grow with the row: causal 1, window 2
  std::optional<int64_t> window;  // keys that a window limited on both sides holds
  int threads = 1;
};

// Expected time of a tile, in units that tiles of one target and problem share.
double LanesTileTime(const kernels::LanesKernel& kernel, const LanesProblem& problem);

// Index in `kernels` of the tile with the smallest expected time; not empty.
size_t LanesTile(const std::vector<kernels::LanesKernel>& kernels, const LanesProblem& problem);

// Lane groups a query tile: keys and values that come from beyond the second-level cache are used
// for 256 rows, fewer if queries and output of those would fill more than a quarter of that cache
// or leave a thread fewer than four tiles.
int64_t LanesQueryGroups(const CacheBytes& caches, const LanesProblem& problem, size_t lanes);

// Query tiles that a thread takes at a time. One thread takes all; otherwise as many as leave each
// thread eight turns, at most 16, so that a tile can fetch ahead for its successor.
int64_t LanesGrain(int64_t tile_count, int threads);

// Rows a kv head (query heads that share it times queries) with which `few` comes into question.
// Numeric.
inline constexpr int64_t kMostFewRows = 24;

// Expected time of `few` in units of that of `lanes` with the best of its `tiles`, for a number of
// rows a kv head of at most kMostFewRows. Lanes without a row cost as much as others; a row of
// `few` costs more the shorter it is, as its sums over the lanes then weigh more. Numeric: it
// decides between the variants, so it depends on nothing else.
double FewTime(const std::vector<kernels::LanesKernel>& tiles, int64_t rows, int64_t dim,
               int64_t value_dim);

// Keys a chunk of `few`. Four streams of a quarter each: long, so that hardware fetches ahead of
// them most of the time, and no power of two, which would put them into the same sets of a cache.
// Numeric.
inline constexpr int64_t kFewKeyChunk = 768;

// Query rows of `rows` that `few` computes together.
int64_t FewRowBlock(int64_t rows);

// Chunks that a thread takes at a time. One thread takes all; otherwise as many as leave each
// thread eight turns.
int64_t FewGrain(int64_t chunk_count, int threads);

// Columns up to which a row of softmax counts as one that a cache holds, a third-level cache if
// need be: as long as exp takes longer than moving a row once more. Numeric.
inline constexpr int64_t kResidentColumns = int64_t{1} << 20;

// Rows of softmax that a thread takes at a time: all, or an eighth of a thread's share.
int64_t SoftmaxGrain(int64_t rows, int threads);

}  // namespace lanewise::profile

#endif  // LANEWISE_SRC_PROFILE_DEFAULTS_H_
