// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// AppendKv and RewindKv on different caches in several threads at once.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanewise/kv_cache.h"
#include "tests/support/concurrency.h"
#include "tests/support/kv_history.h"

namespace lanewise::testing {
namespace {

// A block, a ring, pages, and a block of another type than what is appended, each of many rows.
std::vector<KvCase> Cases() {
  KvCase block;
  block.batch = block.kv_heads = 2;
  block.slots = 64;
  block.dim = 9;
  block.value_dim = 7;
  std::vector<KvCase> cases(4, block);
  cases[1].ring = true;
  cases[1].window_left = 40;
  cases[2].page_size = 16;
  cases[3].k_type = DataType::kF16;
  cases[3].v_type = DataType::kBF16;
  return cases;
}

// The contents of a cache after steps of several sizes; none if one fails.
std::vector<int64_t> Steps(const KvCase& c) {
  KvHistory history(c);
  for (const int64_t tokens : {1, 30, 1, 2, 20}) {
    if (!history.Append(tokens).ok()) return {};
  }
  const int64_t length = history.length(0);
  if (!history.Rewind(0, length - 3).ok() || !history.Append({3, 1}).ok()) return {};
  return history.IsRight() ? history.Contents() : std::vector<int64_t>{};
}

TEST(ConcurrencyKvCache, DifferentCaches) {
  constexpr int kRounds = 20;
  const std::vector<KvCase> cases = Cases();
  std::vector<std::vector<int64_t>> alone;
  for (const KvCase& c : cases) {
    alone.push_back(Steps(c));
    ASSERT_FALSE(alone.back().empty()) << c.ToString();
  }
  const auto run = [&](size_t i) {
    const size_t which = i % cases.size();
    return Steps(cases[which]) == alone[which];
  };
  EXPECT_EQ(FailuresAtOnce(2 * cases.size(), kRounds, run), 0);
}

}  // namespace
}  // namespace lanewise::testing
