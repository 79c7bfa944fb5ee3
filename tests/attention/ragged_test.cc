// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Ragged batches: sequences one after the other, each computed as if alone. C095 is of group L.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/gen.h"
#include "tests/support/means.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(PublicCases, C095_RaggedDecodeWithEmptySequences) {
  AttentionCase c;
  c.shape = {.heads = 9, .kv_heads = 3, .dim = 1, .value_dim = 1};
  c.options.scale = 1.0F;
  c.SetSequences({0, 1, 0, 1}, {0, 3, 0, 5});
  c.q = Repeat(0, 18);
  // v_j = j, counted from the start of each sequence.
  for (int head = 0; head < 3; ++head) {
    const std::vector<float> v = {0, 1, 2, 0, 1, 2, 3, 4};
    c.v.insert(c.v.end(), v.begin(), v.end());
  }
  std::vector<double> means;
  for (int head = 0; head < 9; ++head) means.insert(means.end(), {1, 2});
  ExpectMeans(c, means);

  // v_j = j, counted from the first key of all: the report's 1 and 5.
  c.v.clear();
  for (int head = 0; head < 3; ++head) {
    const std::vector<float> v = Ramp(0, 1, 8);
    c.v.insert(c.v.end(), v.begin(), v.end());
  }
  for (size_t i = 1; i < means.size(); i += 2) means[i] = 5;
  ExpectMeans(c, means);
}

// Rows [first, first + count) of every head.
std::vector<float> RowsOf(const std::vector<float>& values, const Sizes& sizes, int64_t first,
                          int64_t count) {
  std::vector<float> rows;
  for (int64_t h = 0; h < sizes[1]; ++h) {
    const auto begin = values.begin() + (h * sizes[2] + first) * sizes[3];
    rows.insert(rows.end(), begin, begin + count * sizes[3]);
  }
  return rows;
}

// Empty ones, short ones, ones of more than a tile, more queries than keys and fewer.
AttentionCase RaggedCase() {
  AttentionCase c;
  c.shape = {.heads = 4, .kv_heads = 2, .dim = 11, .value_dim = 7};
  c.SetSequences({3, 0, 70, 1, 5, 17, 0, 130, 4}, {5, 4, 70, 60, 0, 9, 0, 131, 1});
  c.q = Gen(1, Count(c.q_sizes()), 2.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

// The options that go with ragged batches.
std::vector<AttentionCase> RaggedCases() {
  std::vector<AttentionCase> cases(7, RaggedCase());
  cases[1].options.causal = true;
  cases[2].options.window = {9, 3};
  cases[3].options.causal = true;
  cases[3].options.top_left = true;
  cases[4].options.causal = true;
  cases[4].options.query_offset = 2;
  cases[5].SetAlibiSlopes({0.5F, 0.25F, 0, -0.125F});
  cases[5].options.softcap = 1.5F;
  cases[6].SetSinks({1, -2, 3, 0});
  cases[6].options.window = {20, 0};
  return cases;
}

TEST(AttentionRagged, MatchesTheReference) {
  for (const AttentionCase& c : RaggedCases()) ExpectMatchesReference(c, EveryPath());
}

TEST(AttentionRagged, EachSequenceAsIfAlone) {
  for (const AttentionCase& c : RaggedCases()) {
    const PreparedCase together(c);
    for (Path path : EveryTile()) {
      path.overrides.kv_block = 48;  // the default may follow from the number of rows
      const AttentionRun all = together.Run(path);
      for (size_t b = 0; b + 1 < c.q_offsets.size(); ++b) {
        AttentionCase one = c;
        one.options.ragged = false;
        one.shape.batch = 1;
        one.shape.queries = c.q_offsets[b + 1] - c.q_offsets[b];
        one.shape.keys = c.k_offsets[b + 1] - c.k_offsets[b];
        one.q = RowsOf(c.q, c.q_sizes(), c.q_offsets[b], one.shape.queries);
        one.k = RowsOf(c.k, c.k_sizes(), c.k_offsets[b], one.shape.keys);
        one.v = RowsOf(c.v, c.v_sizes(), c.k_offsets[b], one.shape.keys);
        const AttentionRun alone = PreparedCase(one).Run(path);
        EXPECT_TRUE(
            SameBits(RowsOf(all.out, c.out_sizes(), c.q_offsets[b], one.shape.queries), alone.out))
            << "sequence " << b << ", " << path.ToString() << "; " << c.ToString();
        if (!path.lse) continue;
        EXPECT_TRUE(
            SameBits(RowsOf(all.lse, c.lse_sizes(), c.q_offsets[b], one.shape.queries), alone.lse))
            << "sequence " << b << ", " << path.ToString() << "; " << c.ToString();
      }
    }
  }
}

TEST(AttentionRagged, OneSequenceIsAnOrdinaryBatchItem) {
  AttentionCase c = RaggedCase();
  c.SetSequences({30}, {41});
  c.q = Gen(1, Count(c.q_sizes()));
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  c.options.causal = true;
  const PreparedCase ragged(c);
  c.options.ragged = false;
  const PreparedCase plain(c);
  for (Path path : EveryPath()) {
    path.overrides.kv_block = 48;
    EXPECT_TRUE(SameBits(ragged.Run(path), plain.Run(path))) << path.ToString();
  }
}

// A sequence may have any number of rows up to all of the batch's.
TEST(AttentionRagged, ExplainsTheVariantsThatSequencesMayTake) {
  for (const std::string& target : AvailableTargets()) {
    Runtime runtime;
    runtime.target = target;
    for (const int64_t dim : {8, 64, 128}) {
      bool few = false;
      bool lanes = false;
      for (int64_t rows = 1; rows <= 40; ++rows) {
        AttentionShape shape = {.queries = rows, .keys = 100, .dim = dim, .value_dim = dim};
        AttentionOptions options;
        const std::string alone = PlanAttention(shape, options, runtime)->Explain().variant;
        few |= alone == "few";
        lanes |= alone == "lanes";
        shape.batch = 2;
        options.ragged = true;
        const std::string ragged = PlanAttention(shape, options, runtime)->Explain().variant;
        EXPECT_EQ(ragged, few && lanes ? "lanes, few"
                          : few        ? "few"
                                       : "lanes")
            << target << ", dim " << dim << ", " << rows << " rows";
      }
    }
  }
}

TEST(AttentionRagged, NoSequencesAndNoRows) {
  AttentionCase c = RaggedCase();
  c.q = c.k = c.v = {};
  c.SetSequences({}, {});
  ExpectMatchesReference(c, EveryPath());
  c.SetSequences({0, 0, 0}, {0, 0, 0});
  ExpectMatchesReference(c, EveryPath());
  c.SetSequences({0, 0}, {3, 4});
  ExpectMatchesReference(c, EveryPath());
  c.SetSequences({3, 4}, {0, 0});
  ExpectMatchesReference(c, EveryPath());
}

TEST(AttentionRagged, ManyShortSequences) {
  AttentionCase c = RaggedCase();
  std::vector<int64_t> queries;
  std::vector<int64_t> keys;
  for (uint32_t b = 0; b < 100; ++b) {
    queries.push_back(GenBits(31, b) % 4);
    keys.push_back(GenBits(32, b) % 6);
  }
  c.SetSequences(queries, keys);
  c.q = Gen(1, Count(c.q_sizes()));
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  c.options.causal = true;
  ExpectMatchesReference(c, EveryPath());
}

TEST(AttentionRagged, LayoutDoesNotMatter) {
  AttentionCase c = RaggedCase();
  c.options.causal = true;
  const PreparedCase dense(c);
  for (const StrideRule rule : {PaddedStrides, PackedStrides}) {
    c.q_strides = c.kv_strides = c.out_strides = rule;
    const PreparedCase strided(c);
    for (const Path& path : EveryTile()) {
      EXPECT_TRUE(SameBits(strided.Run(path), dense.Run(path))) << path.ToString();
    }
  }
}

// What lies in the neighbours of a sequence has no influence on it.
TEST(AttentionRagged, NeighboursHaveNoInfluence) {
  AttentionCase c = RaggedCase();
  c.options.window = {30, 2};
  const PreparedCase clean(c);
  AttentionCase poisoned_case = c;
  // All but sequence 7.
  const auto poison = [&](std::vector<float>& values, const Sizes& sizes, int64_t begin,
                          int64_t end) {
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / sizes[3] % sizes[2];
      if (row < begin || row >= end) values[i] = kNan;
    }
  };
  poison(poisoned_case.q, c.q_sizes(), c.q_offsets[7], c.q_offsets[8]);
  poison(poisoned_case.k, c.k_sizes(), c.k_offsets[7], c.k_offsets[8]);
  poison(poisoned_case.v, c.v_sizes(), c.k_offsets[7], c.k_offsets[8]);
  const PreparedCase poisoned(poisoned_case);
  const int64_t rows = c.q_offsets[8] - c.q_offsets[7];
  for (const Path& path : EveryTile()) {
    EXPECT_TRUE(SameBits(RowsOf(poisoned.Run(path).out, c.out_sizes(), c.q_offsets[7], rows),
                         RowsOf(clean.Run(path).out, c.out_sizes(), c.q_offsets[7], rows)))
        << path.ToString();
  }
}

TEST(AttentionRagged, OneCallForm) {
  const AttentionCase c = RaggedCase();
  const PreparedCase prepared(c);
  std::vector<float> out = Repeat(kNan, Count(c.out_sizes()));
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(out.data(), c.out_sizes());
  const Status status = Attention(tensors, c.options);
  ASSERT_TRUE(status.ok()) << status.message();
  AttentionRun run;
  run.out = out;
  EXPECT_TRUE(prepared.Agrees(run, prepared.FromReference()));
}

}  // namespace
}  // namespace lanewise::testing
