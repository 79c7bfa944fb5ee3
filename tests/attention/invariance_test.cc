// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A row's bits depend on its query, the keys it sees, what edits its scores, dim, value_dim, scale,
// target and kv_block, and on nothing else.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"
#include "tests/support/slices.h"

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
  c.options.weights = true;
  c.q = Gen(1, Count(c.q_sizes()), 4.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

// The same with everything that decides what a row sees, or edits its scores.
std::vector<AttentionCase> CompanyCases() {
  std::vector<AttentionCase> cases(10, CompanyCase());
  const Sizes pairs = CompanyCase().pair_sizes();
  for (size_t i = 1; i < cases.size(); ++i) cases[i].options.causal = i % 3 == 0;
  cases[2].options.window = {20, 3};
  cases[3].SetMask(pairs, RandomMask(5, Count(pairs), 50));
  cases[4].SetMask(pairs, BlockMask(6, pairs, {16, 48}, 40));
  cases[5].SetBias({1, 4, 75, 107}, BiasWithHoles(7, 4 * 75 * 107, 2.0F, 30));
  cases[5].SetAlibiSlopes({0.25F, 0.125F, 0, -0.0625F});
  cases[6].options.softcap = 3.0F;
  cases[6].options.window = {40, kUnlimited};
  cases[6].SetSinks({0, 2, -2, 4});
  cases[7].SetKvLen({107, 30, 76});
  cases[7].options.window = {25, 0};
  // Scores so far apart that the first one of a row is often no guide to the rest.
  for (const size_t i : {8U, 9U}) {
    for (float& q : cases[i].q) q *= 8;
  }
  cases[8].options.window = {30, 11};
  return cases;
}

Path FixedBlock(const std::string& target) {
  Path path;
  path.runtime.target = target;
  path.overrides.kv_block = kKvBlock;
  return path;
}

// Each variant with it: which one runs follows from the number of rows, so it is held fixed, too.
std::vector<Path> FixedBlocks() {
  std::vector<Path> paths;
  for (const std::string& target : TestedTargets()) {
    for (const char* variant : {"lanes", "few"}) {
      paths.push_back(FixedBlock(target));
      paths.back().overrides.variant = variant;
    }
  }
  return paths;
}

// Computes `part` of `whole` alone and compares it with `run`.
void ExpectSamePart(const AttentionCase& whole, const AttentionRun& run, const CasePart& part,
                    const Path& path) {
  const AttentionRun alone = PreparedCase(PartOf(whole, part)).Run(path);
  EXPECT_TRUE(SameBits(alone, PartOf(run, whole, part)))
      << path.ToString() << ", items from " << part.items.begin << ", heads from "
      << part.heads.begin << ", rows " << part.queries.begin << " to " << part.queries.end << "; "
      << whole.ToString();
}

TEST(AttentionInvariance, ThreadsTilesGroupsGrain) {
  for (const AttentionCase& c : CompanyCases()) {
    const PreparedCase prepared(c);
    const Expectation expected = prepared.FromReference();
    for (const std::string& target : TestedTargets()) {
      Path lanes = FixedBlock(target);
      lanes.overrides.variant = "lanes";
      const AttentionRun baseline = prepared.Run(lanes);
      EXPECT_TRUE(prepared.Agrees(baseline, expected));
      const auto check = [&](const Path& path) {
        EXPECT_TRUE(SameBits(prepared.Run(path), baseline)) << path.ToString() << c.ToString();
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
}

TEST(AttentionInvariance, ThreadsAndGrainOfFew) {
  for (const AttentionCase& c : CompanyCases()) {
    const PreparedCase prepared(c);
    const Expectation expected = prepared.FromReference();
    for (const std::string& target : TestedTargets()) {
      Path path = FewPath(target);
      path.overrides.kv_block = kKvBlock;
      const AttentionRun baseline = prepared.Run(path);
      EXPECT_TRUE(prepared.Agrees(baseline, expected));
      for (const int threads : {1, 2, 3, 7, 0}) {
        for (const int64_t grain : {0, 1, 3, 100}) {
          path.runtime.threads = threads;
          path.overrides.grain = grain;
          EXPECT_TRUE(SameBits(prepared.Run(path), baseline)) << path.ToString() << c.ToString();
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
  for (const AttentionCase& whole : CompanyCases()) {
    const PreparedCase together(whole);
    for (const Path& path : FixedBlocks()) {
      const AttentionRun run = together.Run(path);
      for (int64_t b = 0; b < whole.shape.batch; ++b) {
        for (int64_t h = 0; h < whole.shape.heads; ++h) {
          ExpectSamePart(whole, run, {{b, b + 1}, {h, h + 1}, {0, 75}}, path);
        }
      }
    }
  }
}

TEST(AttentionInvariance, ChunkedPrefill) {
  for (const AttentionCase& whole : CompanyCases()) {
    const PreparedCase prepared(whole);
    for (const Path& path : FixedBlocks()) {
      const AttentionRun run = prepared.Run(path);
      for (const int64_t chunk : {7, 16, 64}) {
        for (int64_t begin = 0; begin < 75; begin += chunk) {
          const Range rows = {begin, std::min(begin + chunk, int64_t{75})};
          // Lengths make the offsets of the items differ.
          for (int64_t b = 0; whole.options.kv_len && b < 3; ++b) {
            ExpectSamePart(whole, run, {{b, b + 1}, {0, 4}, rows}, path);
          }
          if (whole.options.kv_len) continue;
          ExpectSamePart(whole, run, {{0, 3}, {0, 4}, rows}, path);
        }
      }
    }
  }
}

TEST(AttentionInvariance, EveryRowAlone) {
  for (const AttentionCase& all : CompanyCases()) {
    const AttentionCase whole = PartOf(all, {{1, 2}, {0, 4}, {0, 75}});
    const PreparedCase prepared(whole);
    for (const Path& path : FixedBlocks()) {
      const AttentionRun run = prepared.Run(path);
      for (int64_t row = 0; row < 75; ++row) {
        ExpectSamePart(whole, run, {{0, 1}, {0, 4}, {row, row + 1}}, path);
      }
    }
  }
}

// Positions that f32 has to round, which steps of other keys may not change.
TEST(AttentionInvariance, AlibiOfFarPositions) {
  for (const int64_t offset : {int64_t{1} << 24, int64_t{1} << 25, int64_t{1} << 30}) {
    AttentionCase whole = CompanyCase();
    whole.options.causal = false;
    whole.options.query_offset = offset + 101;
    whole.options.window = {offset + 90, kUnlimited};
    whole.SetAlibiSlopes({0.05F, 0.1F, -0.05F, 0.02F});
    const PreparedCase prepared(whole);
    for (const Path& path : FixedBlocks()) {
      const AttentionRun run = prepared.Run(path);
      for (const int64_t begin : {3, 29, 32, 70}) {
        ExpectSamePart(whole, run, {{0, 3}, {0, 4}, {begin, 75}}, path);
      }
    }
  }
}

// Some rows have no key at all, others see few: neighbours that start later change nothing.
TEST(AttentionInvariance, RowsWithoutKeysAmongOthers) {
  AttentionCase causal = CompanyCase();
  causal.options.query_offset = -9;
  AttentionCase window = CompanyCase();
  window.options.causal = false;
  window.options.window = {3, 1};
  window.options.query_offset = 60;
  for (const AttentionCase& whole : {causal, window}) {
    const PreparedCase prepared(whole);
    for (const Path& path : FixedBlocks()) {
      const AttentionRun run = prepared.Run(path);
      for (int64_t begin = 0; begin < 75; begin += 5) {
        ExpectSamePart(whole, run, {{0, 3}, {0, 4}, {begin, begin + 5}}, path);
      }
    }
  }
}

TEST(AttentionInvariance, KeysThatNoRowSees) {
  AttentionCase many = CompanyCase();
  many.options.weights = false;  // their size follows the keys
  many.options.query_offset = 3;
  AttentionCase few = many;
  few.shape.keys = 75 + 3;
  few.k = Slice(many.k, many.k_sizes(), {{0, 3}, {0, 2}, {0, few.shape.keys}, {0, 21}});
  few.v = Slice(many.v, many.v_sizes(), {{0, 3}, {0, 2}, {0, few.shape.keys}, {0, 18}});
  const PreparedCase with(many);
  const PreparedCase without(few);
  for (const Path& path : FixedBlocks()) {
    EXPECT_TRUE(SameBits(without.Run(path), with.Run(path))) << path.ToString();
  }
}

// Rows of keys and values far apart are gathered where tiles are large enough.
TEST(AttentionInvariance, KeysFarApart) {
  for (AttentionCase c : CompanyCases()) {
    const PreparedCase dense(c);
    c.kv_strides = PackedStrides;
    const PreparedCase packed(c);
    for (const std::string& target : TestedTargets()) {
      Path path = FixedBlock(target);
      path.overrides.q_groups = 5;
      EXPECT_TRUE(SameBits(dense.Run(path), packed.Run(path))) << path.ToString();
    }
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
  AttentionCase c = CompanyCase();
  c.options.weights = false;
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
