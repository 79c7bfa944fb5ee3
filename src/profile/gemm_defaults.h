// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The choices of matrix products made without measuring: pure functions of cache bytes, register
// tile and shape.

#ifndef LANEWISE_SRC_PROFILE_GEMM_DEFAULTS_H_
#define LANEWISE_SRC_PROFILE_GEMM_DEFAULTS_H_

#include <cstdint>

#include "src/profile/machine_caches.h"

namespace lanewise::profile {

// Up to this many rows B is read where it lies. Numeric for a transposed B.
inline constexpr int64_t kGemmStreamRows = 4;

// Steps of the depth that are summed up before they are added to C: equal blocks of at most as many
// as make a panel of B fill the first-level cache twice, up to 512. `columns` is that of the
// target's first tile. Longer blocks add to C less often, and a panel that comes from the
// second-level cache is fast enough. Numeric: looks at nothing else.
int64_t GemmDepthBlock(const CacheBytes& caches, int64_t columns, int64_t depth);

// Up to this many rows there is one block of them, and B is packed panel by panel: their block of A
// fits half of the second-level cache. Fewer where a block of B could stay there instead: panels go
// down the columns of C, and more rows of it are slow to come and go. At most 512 then, for a panel
// of `columns` that stays in the first-level cache meanwhile, else 256. Neutral.
int64_t GemmPanelRows(const CacheBytes& caches, int64_t columns, int64_t depth_block);

// What the neutral choices look at.
struct GemmProblem {
  int64_t matrices = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth_block = 0;
  int64_t tile_rows = 1;
  int64_t tile_columns = 1;
  int threads = 1;
};

// Blocks of A and B follow one of two orders. Where half of the second-level cache holds 512
// columns of B, a block of B stays there, and few rows at a time go through all of it: C is written
// along its rows. Otherwise a block of A stays there, and panels of B come from the third-level
// cache.

// Rows of a block of A, in equal blocks of whole tiles, but enough blocks for all threads: as many
// as fit an eighth of the second-level cache, up to 256, beside a block of B; else three eighths.
int64_t GemmRowBlock(const CacheBytes& caches, const GemmProblem& problem);

// Columns of a block of B: as many as fit half of the second-level cache if it stays there; else as
// take four times that cache, which a third-level cache holds; up to the end of a tile.
int64_t GemmColumnBlock(const CacheBytes& caches, const GemmProblem& problem);

// Whether each panel of a block of B that was packed before is fetched into the second-level cache
// while the one before is in use. The block loses panels there to the rows of A and C that pass. A
// panel that stays in the first-level cache comes once for many tiles, and may be late.
bool GemmFetchesPanels(const CacheBytes& caches, int64_t columns, int64_t depth_block);

// Whether `rows` rows of A, `stride` floats apart, are read where they lie, `steps` floats of each.
// The power of two in the stride is what makes rows fall into the same sets of a cache: a block of
// them must spread over at least half of the sets, or all of it fit half of the second-level cache
// as if every row took that power of two.
bool GemmReadsRowsInPlace(const CacheBytes& caches, int64_t rows, int64_t stride, int64_t steps);

// Columns that a worker takes at a time where B is read in place: many, since rows of B are streams
// that hardware fetches ahead in.
int64_t GemmStreamColumns(const GemmProblem& problem);

// Panels that a worker packs at a time.
int64_t GemmGrain(int64_t panels, int threads);

// Parts that the panels of a block are cut into, so that `row_blocks` of them are enough for all
// threads.
int64_t GemmColumnParts(int64_t row_blocks, int64_t panels, int threads);

}  // namespace lanewise::profile

#endif  // LANEWISE_SRC_PROFILE_GEMM_DEFAULTS_H_
