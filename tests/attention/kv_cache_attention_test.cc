// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention over rings and pages gives the bits of the same keys and values in one block.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/kv_history.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// `c` over what the history holds, in order and in one block; NaN behind.
AttentionCase InOneBlock(AttentionCase c, const KvHistory& history) {
  c.k = Repeat(kNan, Count(c.k_sizes()));
  c.v = Repeat(kNan, Count(c.v_sizes()));
  std::vector<int64_t> kv_len;
  for (int64_t b = 0; b < c.shape.batch; ++b) {
    const std::deque<KvToken>& held = history.held(b);
    kv_len.push_back(static_cast<int64_t>(held.size()));
    for (int64_t h = 0; h < c.shape.kv_heads; ++h) {
      for (int64_t j = 0; j < kv_len.back(); ++j) {
        const KvToken& token = held[static_cast<size_t>(j)];
        const int64_t row = (b * c.shape.kv_heads + h) * c.shape.keys + j;
        std::copy_n(token.k.begin() + h * c.shape.dim, c.shape.dim,
                    c.k.begin() + row * c.shape.dim);
        std::copy_n(token.v.begin() + h * c.shape.value_dim, c.shape.value_dim,
                    c.v.begin() + row * c.shape.value_dim);
      }
    }
  }
  c.SetKvLen(kv_len);
  return c;
}

// The same case, of which k and v are the cache's.
AttentionRun RunOnCache(const PreparedCase& prepared, const KvCache& cache, const Path& path) {
  const AttentionCase& c = prepared.description();
  AttentionOptions options = c.options;
  options.kv_first = cache.is_ring();
  options.paged = cache.is_paged();
  options.lse = path.lse;
  options.weights = path.weights;
  std::vector<int64_t> kv_first;
  for (int64_t b = 0; b < c.shape.batch; ++b) kv_first.push_back(cache.KvFirst(b));
  AttentionTensors tensors = prepared.inputs();
  tensors.k = cache.k;
  tensors.v = cache.v;
  if (options.kv_first) tensors.kv_first = {kv_first.data(), c.shape.batch};
  tensors.page_table = cache.page_table;
  AttentionRun run;
  run.out = Repeat(kNan, Count(c.out_sizes()));
  tensors.out = Tensor(run.out.data(), c.out_sizes());
  if (path.lse) {
    run.lse = Repeat(kNan, Count(c.lse_sizes()));
    tensors.lse = Tensor(run.lse.data(), c.lse_sizes());
  }
  if (path.weights) {
    run.weights = Repeat(kNan, Count(c.pair_sizes()));
    tensors.weights = Tensor(run.weights.data(), c.pair_sizes());
  }
  const Result<PlanExplanation> result = RunOnPath(c.shape, options, path, tensors);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return run;
}

void ExpectSameAsInOneBlock(const AttentionCase& c, const KvHistory& history) {
  const PreparedCase prepared(InOneBlock(c, history));
  for (const Path& path : EveryTile()) {
    EXPECT_TRUE(SameBits(RunOnCache(prepared, history.cache(), path), prepared.Run(path)))
        << path.ToString() << "\n"
        << prepared.description().ToString();
    if (::testing::Test::HasFailure()) return;
  }
}

AttentionCase CaseFor(const KvCase& c, int64_t queries) {
  AttentionCase attention;
  attention.shape = {.batch = c.batch,
                     .heads = 2 * c.kv_heads,
                     .kv_heads = c.kv_heads,
                     .queries = queries,
                     .keys = c.slots,
                     .dim = c.dim,
                     .value_dim = c.value_dim,
                     .k_type = c.k_type,
                     .v_type = c.v_type};
  attention.options.causal = true;
  return attention;
}

// Every other option at once.
void SetEverything(AttentionCase& c) {
  c.options.window = {17, 3};
  c.options.softcap = 3.0F;
  c.SetMask({c.shape.batch, 1, c.shape.queries, c.shape.keys},
            RandomMask(5, c.shape.batch * c.shape.queries * c.shape.keys, 80));
  c.SetBias({1, c.shape.heads, 1, c.shape.keys}, Gen(6, c.shape.heads * c.shape.keys));
  c.SetAlibiSlopes(Ramp(0.125F, 0.125F, c.shape.heads));
  c.SetSinks(Ramp(-1, 0.5F, c.shape.heads));
}

class KvCachePages : public ::testing::TestWithParam<int64_t> {};

// Lengths that are empty, short, full and, in rings, wrapped; appended in several steps, rounded if
// keys and values are of other types.
TEST_P(KvCachePages, AttentionGivesTheBitsOfOneBlock) {
  for (const bool ring : {false, true}) {
    for (const StrideRule strides : {DenseStrides, PackedStrides, PaddedStrides}) {
      KvCase c;
      c.batch = 4;
      c.kv_heads = 2;
      c.slots = 60;
      c.page_size = GetParam();
      c.dim = 9;
      c.value_dim = 7;
      c.ring = ring;
      c.strides = strides;
      if (strides == PackedStrides) c.k_type = c.v_type = DataType::kBF16;
      if (strides == PaddedStrides) c.k_type = DataType::kF16;
      KvHistory history(c);
      ASSERT_TRUE(history.Append({0, 33, 51, 7}).ok());
      ASSERT_TRUE(history.Append({0, 11, 9, 13}).ok());
      if (ring) {
        ASSERT_TRUE(history.Append({0, 31, 40, 200}).ok());
      }
      for (const int64_t queries : {1, 20}) {
        AttentionCase attention = CaseFor(c, queries);
        ExpectSameAsInOneBlock(attention, history);
        SetEverything(attention);
        ExpectSameAsInOneBlock(attention, history);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PageSizes, KvCachePages, ::testing::Values(0, 1, 12));

// Token by token around the turn of a ring, with what was overwritten being seen at no time.
TEST(KvCacheAttention, EveryLengthOfARing) {
  for (const int64_t page_size : {0, 4}) {
    const KvCase c = {.kv_heads = 2,
                      .slots = 20,
                      .page_size = page_size,
                      .dim = 5,
                      .value_dim = 3,
                      .ring = true,
                      .window_left = 15};
    KvHistory history(c);
    for (int step = 0; step < 70; ++step) {
      if (step % 5 == 4) {
        ASSERT_TRUE(history.Rewind(0, history.length(0) - 3).ok());
      }
      ASSERT_TRUE(history.Append(1 + step % 3).ok());
      AttentionCase attention = CaseFor(c, 1 + step % 3);
      attention.options.window = {15, 0};
      ExpectSameAsInOneBlock(attention, history);
    }
  }
}

// A page that no token lies in need not exist.
TEST(KvCacheAttention, IdsOfPagesWithoutTokensAreNotRead) {
  const struct {
    bool ring;
    int64_t appended;
    int64_t rewound;  // to this length
    std::vector<int64_t> pages_in_use;
  } cases[] = {{false, 9, 9, {0, 1, 2}}, {true, 9, 9, {0, 1, 2}}, {true, 26, 12, {1, 2}}};
  for (const auto& used : cases) {
    const KvCase c = {.slots = 20,
                      .page_size = 4,
                      .dim = 3,
                      .value_dim = 2,
                      .ring = used.ring,
                      .window_left = used.ring ? 5 : kUnlimited};
    KvHistory history(c);
    ASSERT_TRUE(history.Append(used.appended).ok());
    ASSERT_TRUE(history.Rewind(0, used.rewound).ok());
    std::vector<int32_t> ids(5, -1);
    for (const int64_t page : used.pages_in_use) {
      ids[static_cast<size_t>(page)] = history.cache().page_table.ids[page];
    }
    history.cache().page_table.ids = ids.data();
    ExpectSameAsInOneBlock(CaseFor(c, 2), history);
  }
}

}  // namespace
}  // namespace lanewise::testing
