// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sizes around everything that a kernel counts in: lanes, register tiles, key blocks. Padded
// strides take turns with dense ones, causal with full attention.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kDims[] = {1,  2,  3,  4,  5,  7,  8,  9,   15,  16,  17,
                             31, 32, 33, 63, 64, 65, 80, 127, 128, 129, 256};
constexpr size_t kDimCount = sizeof(kDims) / sizeof(kDims[0]);
constexpr int64_t kKvBlock = 32;

// The non-negative ones, each once.
std::vector<int64_t> Distinct(std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  sizes.erase(sizes.begin(), std::lower_bound(sizes.begin(), sizes.end(), 0));
  return sizes;
}

std::vector<int64_t> QueryCounts(const kernels::LanesKernel& tile) {
  const int64_t n = static_cast<int64_t>(tile.lanes);
  const int64_t vector = n / static_cast<int64_t>(tile.vectors);
  return Distinct(
      {0, 1, 2, vector - 1, vector, vector + 1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 2 * n + 1});
}

std::vector<int64_t> KeyCounts(const kernels::LanesKernel& tile) {
  const int64_t n = static_cast<int64_t>(tile.lanes);
  const int64_t rows = static_cast<int64_t>(tile.rows);
  return Distinct({0, 1, rows - 1, rows, rows + 1, 2 * rows, n - 1, n, n + 1, kKvBlock - 1,
                   kKvBlock, kKvBlock + 1, 2 * kKvBlock, 2 * kKvBlock + 1});
}

struct Problem {
  int64_t queries;
  int64_t keys;
  int64_t dim;
  int64_t value_dim;
};

// One tile of one target; each checked problem also takes the next of the ways to run it.
class TileSizes {
 public:
  TileSizes(const std::string& target, const kernels::LanesKernel& tile)
      : target_(target), tile_(tile) {}

  void Check(const Problem& problem) {
    AttentionCase c;
    c.shape = {.queries = problem.queries,
               .keys = problem.keys,
               .dim = problem.dim,
               .value_dim = problem.value_dim};
    const uint32_t way = GenBits(99, count_++);
    if (way % 5 == 0) {
      c.shape.batch = 2;
      c.shape.heads = 4;
      c.shape.kv_heads = 2;
    }
    c.options.causal = (way >> 3) % 2 == 0;
    c.options.top_left = c.options.causal && (way >> 4) % 4 == 0;
    if (c.options.causal && (way >> 4) % 4 == 1) c.options.query_offset = problem.keys / 3;
    if ((way >> 6) % 2 == 0) c.q_strides = c.kv_strides = c.out_strides = PaddedStrides;
    if ((way >> 7) % 2 == 0) c.placement.guard = GuardSide::kBefore;
    Path path = TilePath(target_, tile_);
    path.overrides.kv_block = (way >> 8) % 4 == 0 ? 0 : kKvBlock;
    path.overrides.q_groups = (way >> 10) % 3;
    path.runtime.threads = (way >> 12) % 8 == 0 ? 2 : 1;
    path.lse = (way >> 15) % 2 == 0;
    ExpectMatchesReference(c, {path});
  }

 private:
  std::string target_;
  kernels::LanesKernel tile_;
  uint32_t count_ = 0;
};

template <typename Visit>
void ForEachTile(const Visit& visit) {
  for (const std::string& target : AvailableTargets()) {
    for (const kernels::LanesKernel& tile : TilesOf(target)) visit(target, tile);
  }
}

TEST(AttentionSizes, EveryDim) {
  ForEachTile([](const std::string& target, const kernels::LanesKernel& tile) {
    TileSizes sizes(target, tile);
    const std::vector<int64_t> queries = QueryCounts(tile);
    const std::vector<int64_t> keys = KeyCounts(tile);
    for (size_t i = 0; i < kDimCount; ++i) {
      // All dims and value dims appear; the counts take turns, without 0.
      sizes.Check({queries[1 + i % (queries.size() - 1)], keys[1 + i % (keys.size() - 1)], kDims[i],
                   kDims[(7 * i + 3) % kDimCount]});
    }
  });
}

TEST(AttentionSizes, EveryCount) {
  ForEachTile([](const std::string& target, const kernels::LanesKernel& tile) {
    TileSizes sizes(target, tile);
    for (const int64_t queries : QueryCounts(tile)) {
      for (const int64_t keys : KeyCounts(tile)) sizes.Check({queries, keys, 5, 6});
    }
  });
}

TEST(AttentionSizes, AroundTheDefaultKvBlock) {
  for (const Path& path : EveryTile()) {
    AttentionCase c;
    c.shape = {.queries = 3, .keys = 1, .dim = 8, .value_dim = 9};
    Path with_default = path;
    with_default.overrides.kv_block = 0;
    const int64_t kv_block = PreparedCase(c).Run(with_default).plan.kv_block;
    ASSERT_GE(kv_block, 1);
    for (const int64_t keys :
         Distinct({kv_block - 1, kv_block, kv_block + 1, 2 * kv_block, 2 * kv_block + 1})) {
      c.shape.keys = keys;
      ExpectMatchesReference(c, {with_default});
    }
  }
}

// `count` problems a tile.
void CheckRandomProblems(uint32_t count) {
  ForEachTile([count](const std::string& target, const kernels::LanesKernel& tile) {
    TileSizes sizes(target, tile);
    for (uint32_t i = 0; i < count; ++i) {
      const auto below = [&](uint32_t which, uint32_t limit) {
        return static_cast<int64_t>(GenBits(which, i) % limit);
      };
      sizes.Check({below(11, 200), below(12, 300), 1 + below(13, 140), below(14, 140)});
    }
  });
}

TEST(AttentionSizes, RandomProblems) { CheckRandomProblems(12); }

TEST(AttentionSizes, ZeroSizesSucceed) {
  for (int64_t AttentionShape::*const member :
       {&AttentionShape::batch, &AttentionShape::heads, &AttentionShape::queries,
        &AttentionShape::keys, &AttentionShape::value_dim}) {
    AttentionCase c;
    c.shape = {
        .batch = 2, .heads = 4, .kv_heads = 2, .queries = 3, .keys = 5, .dim = 6, .value_dim = 7};
    c.shape.*member = 0;
    ExpectMatchesReference(c, EveryPath());
  }
}

// A mask that broadcasts along an axis has entries where the shape has none.
TEST(AttentionSizes, ZeroSizesWithMasksThatBroadcast) {
  for (int64_t AttentionShape::*const member :
       {&AttentionShape::batch, &AttentionShape::heads, &AttentionShape::queries,
        &AttentionShape::keys, &AttentionShape::value_dim}) {
    AttentionCase c;
    c.shape = {
        .batch = 20, .heads = 8, .kv_heads = 8, .queries = 25, .keys = 5, .dim = 1, .value_dim = 1};
    c.shape.*member = 0;
    const AttentionShape& s = c.shape;
    for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, Sizes{s.batch, s.heads, s.queries, 1}}) {
      c.SetMask(sizes, std::vector<uint8_t>(static_cast<size_t>(Count(sizes)), 1));
      ExpectMatchesReference(c, EveryPath());
    }
  }
}

// A tile fetches keys of the next one, each of its lane groups a share of them.
TEST(AttentionSizes, FewerKeysThanLaneGroups) {
  std::vector<Path> paths = EveryTile();
  for (Path& path : paths) {
    if (path.overrides.variant != "few") path.overrides.q_groups = 8;
  }
  for (const int64_t keys : {1, 3, 5}) {
    AttentionCase c;
    c.shape = {.heads = 2, .kv_heads = 2, .queries = 400, .keys = keys, .dim = 5, .value_dim = 4};
    ExpectMatchesReference(c, paths);
  }
}

TEST(SlowAttentionSizes, EveryPairOfDims) {
  ForEachTile([](const std::string& target, const kernels::LanesKernel& tile) {
    TileSizes sizes(target, tile);
    const int64_t lanes = static_cast<int64_t>(tile.lanes);
    for (const int64_t dim : kDims) {
      for (const int64_t value_dim : kDims) sizes.Check({lanes + 1, kKvBlock + 1, dim, value_dim});
    }
  });
}

TEST(SlowAttentionSizes, EveryCountWithWiderRows) {
  ForEachTile([](const std::string& target, const kernels::LanesKernel& tile) {
    TileSizes sizes(target, tile);
    for (const int64_t queries : QueryCounts(tile)) {
      for (const int64_t keys : KeyCounts(tile)) {
        for (const int64_t dim : {1, 17, 64, 129}) sizes.Check({queries, keys, dim, 130 - dim});
      }
    }
  });
}

TEST(SlowAttentionSizes, RandomProblems) { CheckRandomProblems(150); }

}  // namespace
}  // namespace lanewise::testing
