// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Errors about pools of pages and their table: each names the argument and what was found, and
// writes nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

using Words = std::vector<std::string>;

constexpr float kUntouched = 42.0F;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Two batch items of four key slots, in a pool of five pages of two.
class PageErrors : public ::testing::Test {
 protected:
  PageErrors() {
    tensors_.q = ConstTensor(q_.data(), {2, 1, 1, 3});
    tensors_.k = ConstTensor(pool_.data(), {5, 1, 2, 3});
    tensors_.v = ConstTensor(pool_.data(), {5, 1, 2, 3});
    tensors_.out = Tensor(out_.data(), {2, 1, 1, 3});
    tensors_.page_table = {ids_.data(), 2, 2};
  }

  Status Run() {
    AttentionShape shape = {.batch = 2, .queries = 1, .keys = 4, .dim = 3, .value_dim = 3};
    AttentionOptions options;
    options.paged = true;
    options.kv_len = tensors_.kv_len.data != nullptr;
    const Result<AttentionPlan> plan = PlanAttention(shape, options);
    if (!plan.ok()) return plan.status();
    Workspace workspace(plan->workspace_bytes());
    return plan->Run(tensors_, workspace);
  }
  void ExpectError(const Words& words) {
    EXPECT_THAT(Run(), IsInvalid(words));
    EXPECT_EQ(std::count(out_.begin(), out_.end(), kUntouched), 6);
  }

  std::vector<float> q_ = std::vector<float>(6, 0.5F);
  std::vector<float> pool_ = std::vector<float>(30, 0.25F);
  std::vector<float> out_ = std::vector<float>(6, kUntouched);
  std::vector<int32_t> ids_ = {4, 0, 2, 1};
  std::vector<int64_t> no_keys_ = {0, 0};
  AttentionTensors tensors_;
};

TEST_F(PageErrors, ARightTableRuns) {
  EXPECT_TRUE(Run().ok()) << Run().message();
  EXPECT_EQ(out_, std::vector<float>(6, 0.25F));
}

TEST_F(PageErrors, Pools) {
  tensors_.v.sizes[0] = 4;
  ExpectError({"v", "4 pages of 2 rows", "5 of 2"});
  tensors_.v.sizes = {5, 1, 1, 3};
  ExpectError({"v", "5 pages of 1 rows", "5 of 2"});
  tensors_.k.sizes[2] = tensors_.v.sizes[2] = 0;
  ExpectError({"k", "pages of 0 rows", "at least 1"});
}

TEST_F(PageErrors, NegativePools) {
  tensors_.kv_len = {no_keys_.data(), 2};
  EXPECT_TRUE(Run().ok()) << Run().message();
  std::fill(out_.begin(), out_.end(), kUntouched);
  tensors_.k.sizes[0] = tensors_.v.sizes[0] = -3;
  ExpectError({"k", "-3"});
  tensors_.k.sizes[0] = 5;
  ExpectError({"v", "-3"});
  tensors_.v.sizes[0] = 5;
  tensors_.k.sizes[2] = tensors_.v.sizes[2] = -2;
  ExpectError({"k", "-2"});
}

TEST_F(PageErrors, Tables) {
  tensors_.page_table.batch = 3;
  ExpectError({"page_table", "3 batch items", "2"});
  tensors_.page_table = {ids_.data(), 2, 1};
  ExpectError({"page_table", "1 pages", "at least 2", "4 key slots", "pages of 2"});
  tensors_.page_table = {ids_.data(), 2, -1};
  ExpectError({"page_table", "-1 pages", "at least 2"});
  for (const int64_t pages : {kMax, kMax / 2, kMax / 8 + 1}) {
    tensors_.page_table = {ids_.data(), 2, pages};
    ExpectError({"page_table", "2 batch items of " + std::to_string(pages), "64 bits"});
  }
  tensors_.page_table = {nullptr, 2, 2};
  ExpectError({"page_table", "null"});
}

TEST_F(PageErrors, Pages) {
  for (const int32_t wrong : {5, -1, std::numeric_limits<int32_t>::min()}) {
    ids_ = {4, 0, 2, wrong};
    ExpectError(
        {"page_table", "page " + std::to_string(wrong), "index 1", "batch item 1", "0 to 4"});
  }
}

}  // namespace
}  // namespace lanewise::testing
