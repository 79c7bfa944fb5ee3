// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about caches that grow (group G).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/gen.h"
#include "tests/support/kv_history.h"
#include "tests/support/means.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

// Tokens with value j and key 0 for token j.
std::vector<KvToken> NumberedTokens(int64_t first, int64_t count) {
  std::vector<KvToken> tokens;
  for (int64_t j = first; j < first + count; ++j) {
    tokens.push_back({.k = {0}, .v = {static_cast<float>(j)}});
  }
  return tokens;
}

// What one query of 0 at the last token of the only item gives.
float AttendTo(const KvCache& cache, const AttentionOptions& wanted, const Path& path) {
  const float q = 0;
  float out = -1;
  const int64_t kv_len = cache.KvLen(0);
  const int64_t kv_first = cache.KvFirst(0);
  AttentionOptions options = wanted;
  options.kv_len = true;
  options.kv_first = cache.is_ring();
  options.paged = cache.is_paged();
  AttentionTensors tensors = {ConstTensor(&q, {1, 1, 1, 1}), cache.k, cache.v,
                              Tensor(&out, {1, 1, 1, 1})};
  tensors.kv_len = {&kv_len, 1};
  if (options.kv_first) tensors.kv_first = {&kv_first, 1};
  tensors.page_table = cache.page_table;
  const AttentionShape shape = {.queries = 1, .keys = cache.slots(), .dim = 1, .value_dim = 1};
  const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return out;
}

TEST(PublicCases, C060_RingTurnsAtTheWindow) {
  AttentionOptions options;
  options.causal = true;
  options.window = {7, 0};
  for (const int64_t page_size : {0, 2}) {
    for (const Path& path : EveryTile()) {
      KvHistory history({.slots = 8, .page_size = page_size, .ring = true});
      ASSERT_TRUE(history.Append(NumberedTokens(0, 6)).ok());
      for (int64_t token = 6; token <= 20; ++token) {
        ASSERT_TRUE(history.Append(NumberedTokens(token, 1)).ok());
        ASSERT_TRUE(history.IsRight());
        const float mean =
            token < 7 ? static_cast<float>(token) / 2 : static_cast<float>(token) - 3.5F;
        EXPECT_NEAR(AttendTo(history.cache(), options, path), mean, 2e-4)
            << "token " << token << ", page_size " << page_size << ", " << path.ToString();
      }
    }
  }
}

TEST(PublicCases, C063_RewindOfAWrappedRingIsRefused) {
  KvHistory history({.slots = 8, .ring = true});
  ASSERT_TRUE(history.Append(NumberedTokens(0, 20)).ok());
  const std::vector<int64_t> before = history.Contents();
  // A window of 8 that ends at position 17 begins at 10; the ring begins at 12.
  EXPECT_THAT(history.Rewind(0, 17), IsInvalid({"length", "17", "10", "12", "19", "20"}));
  EXPECT_EQ(history.Contents(), before);
  ASSERT_TRUE(history.Append(NumberedTokens(20, 1)).ok());
  EXPECT_TRUE(history.IsRight());
  EXPECT_EQ(history.length(0), 21);
  for (const Path& path : EveryTile()) {
    // 13 to 20
    EXPECT_NEAR(AttendTo(history.cache(), {}, path), 16.5, 2e-4) << path.ToString();
  }
}

TEST(PublicCases, C063_RewindThenOtherTokensIsAFreshCache) {
  const KvCase c = {.slots = 32, .dim = 1, .value_dim = 1};
  KvHistory rewound(c);
  ASSERT_TRUE(rewound.Append(NumberedTokens(0, 20)).ok());
  ASSERT_TRUE(rewound.Rewind(0, 17).ok());
  ASSERT_TRUE(rewound.Append(NumberedTokens(117, 8)).ok());
  KvHistory fresh(c);
  ASSERT_TRUE(fresh.Append(NumberedTokens(0, 17)).ok());
  ASSERT_TRUE(fresh.Append(NumberedTokens(117, 8)).ok());
  EXPECT_EQ(rewound.Contents(), fresh.Contents());
  EXPECT_TRUE(rewound.IsRight());
  for (const Path& path : EveryTile()) {
    const float out = AttendTo(rewound.cache(), {}, path);
    EXPECT_EQ(out, AttendTo(fresh.cache(), {}, path)) << path.ToString();
    EXPECT_NEAR(out, (17 * 8.0 + 8 * 120.5) / 25, 1e-3) << path.ToString();
  }
}

TEST(PublicCases, C064_OverflowIsAnErrorThatWritesNothing) {
  for (const GuardSide guard : {GuardSide::kBefore, GuardSide::kAfter}) {
    for (const StrideRule strides : {DenseStrides, PaddedStrides}) {
      const struct {
        int64_t used;
        int64_t more;
      } attempts[] = {{16, 1}, {13, 5}};
      for (const auto& attempt : attempts) {
        KvHistory history({.batch = 2,
                           .kv_heads = 3,
                           .slots = 16,
                           .dim = 5,
                           .value_dim = 4,
                           .strides = strides,
                           .guard = guard});
        ASSERT_TRUE(history.Append(attempt.used).ok());
        const std::vector<int64_t> before = history.Contents();
        EXPECT_THAT(history.Append(attempt.more),
                    IsInvalid({"capacity", "16", std::to_string(attempt.used + attempt.more)}));
        EXPECT_EQ(history.Contents(), before);
        // One item is full, the other is not.
        EXPECT_THAT(history.Append({0, attempt.more}),
                    IsInvalid({"capacity", "16", "batch item 1"}));
        EXPECT_EQ(history.Contents(), before);
        EXPECT_TRUE(history.IsRight());
        EXPECT_EQ(history.length(0), attempt.used);
        EXPECT_EQ(history.length(1), attempt.used);
      }
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
