// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about heads and head sizes (group J).

#include <gtest/gtest.h>

#include "tests/support/attention_case.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

TEST(PublicCases, C080_QueryHeadsAreGroupedByKvHead) {
  struct Row {
    int64_t heads;
    std::vector<float> v;
    std::vector<double> out;
  };
  const Row rows[] = {
      {4, {1, 2}, {1, 1, 2, 2}}, {6, {1, 2}, {1, 1, 1, 2, 2, 2}}, {3, {1}, {1, 1, 1}}};
  for (const Row& row : rows) {
    AttentionCase c = PlainCase(1, 1);
    c.shape.heads = row.heads;
    c.shape.kv_heads = static_cast<int64_t>(row.v.size());
    c.q = Repeat(0, row.heads);
    c.v = row.v;
    ExpectKnownResult(c, {.out = row.out}, EveryPath());
  }
}

// Whatever else a head has of its own: mask, slope, sink.
TEST(PublicCases, C080_AnyGroupSize) {
  for (const int64_t group : {1, 2, 3, 4, 5, 7, 8, 12}) {
    for (const int64_t queries : {1, 2, 9}) {
      AttentionCase c;
      c.shape = {.batch = 2,
                 .heads = 2 * group,
                 .kv_heads = 2,
                 .queries = queries,
                 .keys = 19,
                 .dim = 7,
                 .value_dim = 5};
      ExpectMatchesReference(c, EveryTile());
      c.options.causal = true;
      c.options.window = {6, 0};
      ExpectMatchesReference(c, EveryTile());
      c.SetMask({2, c.shape.heads, 1, 19}, RandomMask(3, 2 * c.shape.heads * 19, 80));
      c.SetAlibiSlopes(Ramp(0.1F, 0.05F, c.shape.heads));
      c.SetSinks(Gen(9, c.shape.heads));
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(PublicCases, C082_ValueWidthDiffersFromKeyWidth) {
  struct Dims {
    int64_t dim;
    int64_t value_dim;
  };
  for (const Dims& dims : {Dims{32, 24}, Dims{3, 70}, Dims{64, 1}, Dims{192, 128}}) {
    for (const bool causal : {false, true}) {
      AttentionCase c;
      c.shape = {.heads = 4,
                 .kv_heads = 1,
                 .queries = 1,
                 .keys = 36,
                 .dim = dims.dim,
                 .value_dim = dims.value_dim};
      c.options.causal = causal;
      ExpectMatchesReference(c, EveryPath());
      AttentionCase masked = c;
      masked.SetMask({1, 4, 1, 36}, RandomMask(5, 4 * 36, 70));
      ExpectMatchesReference(masked, EveryPath());
      c.shape.queries = 20;
      ExpectMatchesReference(c, EveryTile());
      c.SetMask({1, 4, 20, 36}, RandomMask(6, 4 * 20 * 36, 70));
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(PublicCases, C083_HeadSizesAroundVectorsAndTiles) {
  for (const int64_t dim : {1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31,  33,  40, 63,
                            65, 72, 80, 88, 96, 100, 112, 127, 129, 136, 192, 256, 257}) {
    AttentionCase c = PlainCase(1, 2);
    c.shape.dim = c.shape.value_dim = dim;
    c.q = Repeat(0, dim);
    c.q.back() = 1.0986123F;  // ln 3
    c.k = Repeat(0, 2 * dim);
    c.k.back() = 1;
    c.v = Repeat(4, dim);
    c.v.resize(static_cast<size_t>(2 * dim), 8);
    c.out_strides = PaddedStrides;
    const KnownResult known = {.out = std::vector<double>(static_cast<size_t>(dim), 7.0),
                               .out_tolerance = 1e-5};
    ExpectKnownResult(c, known, EveryTile());
    // The last column ends at an inaccessible page.
    c.out_strides = DenseStrides;
    ExpectKnownResult(c, known, EveryTile());
  }
}

}  // namespace
}  // namespace lanewise::testing
