// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp in several threads at once.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanewise/softmax.h"
#include "tests/softmax/softmax_case.h"
#include "tests/support/attention_case.h"
#include "tests/support/concurrency.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr size_t kCallers = 4;
constexpr int kRounds = 20;
// As many elements as a call hands to several threads.
constexpr Sizes kSizes = {1, 2, 64, 300};
constexpr Sizes kLseSizes = {1, 2, 64, 1};

Runtime WithThreads(int threads) {
  Runtime runtime = OneThread();
  runtime.threads = threads;
  return runtime;
}

TEST(ConcurrencySoftmax, InPlaceOnDifferentArrays) {
  for (const int threads : PlanThreads()) {
    const Runtime runtime = WithThreads(threads);
    const auto softmax = [&](size_t caller) {
      std::vector<float> rows = Gen(static_cast<uint32_t>(50 + caller), Count(kSizes), 4.0F);
      const Tensor view(rows.data(), kSizes);
      if (!Softmax(view, view, {}, runtime).ok()) rows.clear();
      return rows;
    };
    std::vector<std::vector<float>> alone;
    for (size_t i = 0; i < kCallers; ++i) {
      alone.push_back(softmax(i));
      ASSERT_FALSE(alone.back().empty());
    }
    const auto run = [&](size_t i) { return bool{SameBits(softmax(i), alone[i])}; };
    EXPECT_EQ(FailuresAtOnce(kCallers, kRounds, run), 0) << "threads " << threads;
  }
}

// All read the same input and the same mask.
TEST(ConcurrencySoftmax, SharedInput) {
  const std::vector<float> in = Gen(1, Count(kSizes), 4.0F);
  const std::vector<uint8_t> mask = RandomMask(2, kSizes[3], 70);
  SoftmaxOptions options;
  options.mask = ConstTensor(mask.data(), DataType::kBool, {1, 1, 1, kSizes[3]});
  for (const int threads : PlanThreads()) {
    const Runtime runtime = WithThreads(threads);
    // The weights of all rows, then their log-sum-exps.
    const auto both = [&] {
      std::vector<float> out = Repeat(-1, Count(kSizes));
      std::vector<float> lse = Repeat(-1, Count(kLseSizes));
      const ConstTensor rows(in.data(), kSizes);
      if (!Softmax(rows, Tensor(out.data(), kSizes), options, runtime).ok()) return Repeat(0, 0);
      if (!LogSumExp(rows, Tensor(lse.data(), kLseSizes), options, runtime).ok()) out.clear();
      out.insert(out.end(), lse.begin(), lse.end());
      return out;
    };
    const std::vector<float> alone = both();
    ASSERT_EQ(static_cast<int64_t>(alone.size()), Count(kSizes) + Count(kLseSizes));
    const auto run = [&](size_t /*caller*/) { return bool{SameBits(both(), alone)}; };
    EXPECT_EQ(FailuresAtOnce(kCallers, kRounds, run), 0) << "threads " << threads;
  }
}

}  // namespace
}  // namespace lanewise::testing
