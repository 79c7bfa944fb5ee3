// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A row's bits depend on its query, the keys it sees, dim, value_dim, scale, target and kv_block,
// and on nothing else.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kKvBlock = 48;

// Causal, grouped heads, several lane groups and key blocks, nothing a multiple of anything.
AttentionCase CompanyCase() {
  AttentionCase c;
  c.shape = {.batch = 3,
             .heads = 4,
             .kv_heads = 2,
             .queries = 75,
             .keys = 107,
             .dim = 21,
             .value_dim = 18};
  c.options.causal = true;
  c.options.lse = true;
  c.q = Gen(1, Count(c.q_sizes()), 4.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

Path FixedBlock(const std::string& target) {
  Path path;
  path.runtime.target = target;
  path.overrides.kv_block = kKvBlock;
  return path;
}

// Rows [begin, end) of every head.
struct Rows {
  int64_t begin;
  int64_t end;
};
std::vector<float> SliceRows(const std::vector<float>& values, const Sizes& sizes,
                             const Rows& rows) {
  std::vector<float> slice;
  for (int64_t head = 0; head < sizes[0] * sizes[1]; ++head) {
    const auto first = values.begin() + head * sizes[2] * sizes[3];
    slice.insert(slice.end(), first + rows.begin * sizes[3], first + rows.end * sizes[3]);
  }
  return slice;
}

// Head h of batch item b.
std::vector<float> SliceHead(const std::vector<float>& values, const Sizes& sizes, int64_t b,
                             int64_t h) {
  const int64_t size = sizes[2] * sizes[3];
  const auto first = values.begin() + (b * sizes[1] + h) * size;
  return {first, first + size};
}

TEST(AttentionInvariance, ThreadsTilesGroupsGrain) {
  const PreparedCase prepared(CompanyCase());
  const Expectation expected = prepared.FromReference();
  for (const std::string& target : AvailableTargets()) {
    const AttentionRun baseline = prepared.Run(FixedBlock(target));
    EXPECT_TRUE(prepared.Agrees(baseline, expected));
    const auto check = [&](const Path& path) {
      EXPECT_TRUE(SameBits(prepared.Run(path), baseline)) << path.ToString();
    };
    for (const kernels::LanesKernel& tile : TilesOf(target)) {
      Path path = FixedBlock(target);
      path.overrides.tile = std::string(tile.tile);
      for (const int threads : {1, 2, 3, 7, 0}) {
        path.runtime.threads = threads;
        check(path);
      }
      for (const int64_t q_groups : {1, 2, 5}) {
        path.overrides.q_groups = q_groups;
        for (const int64_t grain : {1, 3, 100}) {
          path.overrides.grain = grain;
          path.runtime.threads = 2;
          check(path);
        }
      }
    }
  }
}

TEST(AttentionInvariance, LogSumExpIsOnlyAnOutput) {
  AttentionCase c = CompanyCase();
  const PreparedCase with(c);
  c.options.lse = false;
  const PreparedCase without(c);
  for (const Path& path : EveryTarget()) {
    EXPECT_TRUE(SameBits(without.Run(path), with.Run(path))) << path.ToString();
  }
}

TEST(AttentionInvariance, BatchItemsAndHeadsAlone) {
  const AttentionCase whole = CompanyCase();
  const PreparedCase together(whole);
  AttentionCase one = whole;
  one.shape.batch = one.shape.heads = one.shape.kv_heads = 1;
  for (const std::string& target : AvailableTargets()) {
    const Path path = FixedBlock(target);
    const AttentionRun run = together.Run(path);
    for (int64_t b = 0; b < whole.shape.batch; ++b) {
      for (int64_t h = 0; h < whole.shape.heads; ++h) {
        one.q = SliceHead(whole.q, whole.q_sizes(), b, h);
        one.k = SliceHead(whole.k, whole.k_sizes(), b, h / 2);
        one.v = SliceHead(whole.v, whole.v_sizes(), b, h / 2);
        const AttentionRun alone = PreparedCase(one).Run(path);
        EXPECT_TRUE(SameBits(alone.out, SliceHead(run.out, whole.out_sizes(), b, h)))
            << target << ", item " << b << ", head " << h;
        EXPECT_TRUE(SameBits(alone.lse, SliceHead(run.lse, whole.lse_sizes(), b, h)))
            << target << ", item " << b << ", head " << h;
      }
    }
  }
}

// Computes `rows` of `whole` alone and compares them with `run`.
void ExpectSameRows(const AttentionCase& whole, const AttentionRun& run, const Rows& rows,
                    const Path& path) {
  AttentionCase part = whole;
  part.shape.queries = rows.end - rows.begin;
  part.q = SliceRows(whole.q, whole.q_sizes(), rows);
  if (whole.options.causal) {
    const int64_t offset =
        whole.options.query_offset.value_or(whole.shape.keys - whole.shape.queries);
    part.options.query_offset = offset + rows.begin;
  }
  const AttentionRun alone = PreparedCase(part).Run(path);
  EXPECT_TRUE(SameBits(alone.out, SliceRows(run.out, whole.out_sizes(), rows)))
      << path.ToString() << ", rows " << rows.begin << " to " << rows.end;
  EXPECT_TRUE(SameBits(alone.lse, SliceRows(run.lse, whole.lse_sizes(), rows)))
      << path.ToString() << ", rows " << rows.begin << " to " << rows.end;
}

TEST(AttentionInvariance, ChunkedPrefill) {
  for (const bool causal : {true, false}) {
    AttentionCase whole = CompanyCase();
    whole.options.causal = causal;
    const PreparedCase prepared(whole);
    for (const std::string& target : AvailableTargets()) {
      const Path path = FixedBlock(target);
      const AttentionRun run = prepared.Run(path);
      for (const int64_t chunk : {7, 16, 64}) {
        for (int64_t begin = 0; begin < whole.shape.queries; begin += chunk) {
          ExpectSameRows(whole, run, {begin, std::min(begin + chunk, whole.shape.queries)}, path);
        }
      }
    }
  }
}

TEST(AttentionInvariance, EveryRowAlone) {
  AttentionCase whole = CompanyCase();
  whole.shape.batch = 1;
  whole.q.resize(static_cast<size_t>(Count(whole.q_sizes())));
  whole.k.resize(static_cast<size_t>(Count(whole.k_sizes())));
  whole.v.resize(static_cast<size_t>(Count(whole.v_sizes())));
  for (const bool causal : {true, false}) {
    whole.options.causal = causal;
    const PreparedCase prepared(whole);
    for (const std::string& target : AvailableTargets()) {
      const Path path = FixedBlock(target);
      const AttentionRun run = prepared.Run(path);
      for (int64_t row = 0; row < whole.shape.queries; ++row) {
        ExpectSameRows(whole, run, {row, row + 1}, path);
      }
    }
  }
}

// Some rows have no key at all, others see few: neighbours that start later change nothing.
TEST(AttentionInvariance, RowsWithoutKeysAmongOthers) {
  AttentionCase whole = CompanyCase();
  whole.options.query_offset = -9;
  const PreparedCase prepared(whole);
  for (const std::string& target : AvailableTargets()) {
    const Path path = FixedBlock(target);
    const AttentionRun run = prepared.Run(path);
    for (int64_t begin = 0; begin < whole.shape.queries; begin += 5) {
      ExpectSameRows(whole, run, {begin, begin + 5}, path);
    }
  }
}

TEST(AttentionInvariance, KeysThatNoRowSees) {
  AttentionCase many = CompanyCase();
  many.options.query_offset = 3;
  AttentionCase few = many;
  few.shape.keys = 75 + 3;
  few.k = SliceRows(many.k, many.k_sizes(), {0, few.shape.keys});
  few.v = SliceRows(many.v, many.v_sizes(), {0, few.shape.keys});
  const PreparedCase with(many);
  const PreparedCase without(few);
  for (const std::string& target : AvailableTargets()) {
    EXPECT_TRUE(SameBits(without.Run(FixedBlock(target)), with.Run(FixedBlock(target)))) << target;
  }
}

// The default kv_block, too, looks only at what a row's bits may depend on.
TEST(AttentionInvariance, DefaultKvBlock) {
  const auto kv_block = [](const AttentionShape& shape, int threads) {
    Runtime runtime;
    runtime.threads = threads;
    const Result<AttentionPlan> plan = PlanAttention(shape, {}, runtime);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? plan->Explain().kv_block : -1;
  };
  for (const int64_t dim : {1, 64, 80, 128, 1000}) {
    const AttentionShape base = {.queries = 64, .keys = 64, .dim = dim, .value_dim = dim};
    const int64_t expected = kv_block(base, 1);
    EXPECT_GE(expected, 1);
    for (const int threads : {0, 2, 7}) EXPECT_EQ(kv_block(base, threads), expected);
    for (const int64_t keys : {0, 1, 33, 100000}) {
      AttentionShape shape = base;
      shape.keys = keys;
      EXPECT_EQ(kv_block(shape, 1), expected) << "keys " << keys;
    }
    AttentionShape shape = base;
    shape.batch = 9;
    EXPECT_EQ(kv_block(shape, 1), expected);
    shape.heads = shape.kv_heads = 12;
    EXPECT_EQ(kv_block(shape, 1), expected);
  }
}

TEST(AttentionInvariance, OneCallFormIsThePlannedOne) {
  const AttentionCase c = CompanyCase();
  const PreparedCase prepared(c);
  std::vector<float> out = Repeat(0, Count(c.out_sizes()));
  std::vector<float> lse = Repeat(0, Count(c.lse_sizes()));
  AttentionTensors tensors = prepared.inputs();
  tensors.out = Tensor(out.data(), c.out_sizes());
  tensors.lse = Tensor(lse.data(), c.lse_sizes());
  Path path;
  path.runtime = DefaultRuntime();
  const AttentionRun planned = prepared.Run(path);
  Status status = Attention(tensors, c.options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(SameBits(out, planned.out));
  EXPECT_TRUE(SameBits(lse, planned.lse));

  AttentionOptions options = c.options;
  options.lse = false;
  std::fill(out.begin(), out.end(), 0.0F);
  status = Attention(tensors.q, tensors.k, tensors.v, tensors.out, options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(SameBits(out, planned.out));
}

}  // namespace
}  // namespace lanewise::testing
