// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Valid lengths of each batch item: what lies behind them is never read.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

// [batch, 1 head, capacity, columns] of which only the first kv_len[b] rows of item b can be read,
// to the page: an item is a whole number of pages, and so is its valid part.
class InaccessibleTails {
 public:
  InaccessibleTails(const Sizes& sizes, const std::vector<int64_t>& kv_len, uint32_t seed)
      : sizes_(sizes), bytes_(static_cast<size_t>(Count(sizes)) * sizeof(float)) {
    void* mapping =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<float*>(mapping);
    const std::vector<float> values = Gen(seed, Count(sizes));
    std::copy(values.begin(), values.end(), data_);
    for (int64_t b = 0; b < sizes[0]; ++b) {
      const int64_t valid = kv_len[static_cast<size_t>(b)];
      float* tail = data_ + (b * sizes[2] + valid) * sizes[3];
      const size_t tail_bytes = static_cast<size_t>((sizes[2] - valid) * sizes[3]) * sizeof(float);
      if (tail_bytes != 0 && mprotect(tail, tail_bytes, PROT_NONE) != 0) throw std::bad_alloc();
    }
  }
  InaccessibleTails(const InaccessibleTails&) = delete;
  InaccessibleTails& operator=(const InaccessibleTails&) = delete;
  ~InaccessibleTails() { munmap(data_, bytes_); }

  ConstTensor view() const { return {data_, sizes_}; }

 private:
  Sizes sizes_;
  size_t bytes_;
  float* data_ = nullptr;
};

TEST(AttentionKvLen, NothingBehindTheValidKeysIsRead) {
  // A row of 1 KiB, so that any number of rows that is a multiple of 4 ends at a page.
  constexpr int64_t kColumns = 256;
  if (sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "pages are not of 4096 bytes";
  const std::vector<int64_t> kv_len = {0, 4, 16, 48, 52, 96, 100};
  AttentionCase c;
  c.shape = {.batch = 7, .queries = 1, .keys = 100, .dim = kColumns, .value_dim = kColumns};
  c.SetKvLen(kv_len);
  const InaccessibleTails k(c.k_sizes(), kv_len, 2);
  const InaccessibleTails v(c.v_sizes(), kv_len, 3);
  for (const int64_t queries : {1, 20}) {
    c.shape.queries = queries;
    for (const int variant : {0, 1, 2, 3}) {
      AttentionCase other = c;
      if (variant == 1) other.options.causal = true;
      if (variant == 2) other.options.window = {15, 30};
      if (variant == 3) other.SetMask({1, 1, 1, 100}, RandomMask(5, 100, 80));
      const PreparedCase prepared(other);  // the same data in ordinary memory
      for (const Path& path : EveryTile()) {
        std::vector<float> out = Repeat(0, Count(c.out_sizes()));
        AttentionTensors tensors = prepared.inputs();
        tensors.k = k.view();
        tensors.v = v.view();
        tensors.out = Tensor(out.data(), c.out_sizes());
        const Result<PlanExplanation> result = RunOnPath(other.shape, other.options, path, tensors);
        ASSERT_TRUE(result.ok()) << result.status().message();
        EXPECT_TRUE(SameBits(out, prepared.Run(path).out)) << path.ToString() << other.ToString();
      }
    }
  }
}

// Every length around lanes, tiles and blocks: the array ends where the valid part does.
TEST(AttentionKvLen, ArrayThatEndsAtTheValidLength) {
  for (int64_t valid = 1; valid <= 100; ++valid) {
    AttentionCase exact;
    exact.shape = {.queries = 5, .keys = valid, .dim = 7, .value_dim = 9};
    exact.options.causal = valid % 2 == 0;
    const PreparedCase prepared(exact);
    for (const Path& path : EveryTile()) {
      std::vector<float> out = Repeat(0, Count(exact.out_sizes()));
      AttentionTensors tensors = prepared.inputs();
      tensors.k.sizes[2] = tensors.v.sizes[2] = 150;  // the rest is not there
      tensors.kv_len = {&valid, 1};
      tensors.out = Tensor(out.data(), exact.out_sizes());
      AttentionShape shape = exact.shape;
      shape.keys = 150;
      AttentionOptions options = exact.options;
      options.kv_len = true;
      const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
      ASSERT_TRUE(result.ok()) << result.status().message();
      EXPECT_TRUE(SameBits(out, prepared.Run(path).out)) << "valid " << valid << path.ToString();
    }
  }
}

TEST(AttentionKvLen, MatchesTheReference) {
  for (const int64_t queries : {1, 3, 40}) {
    AttentionCase c;
    c.shape = {.batch = 5,
               .heads = 4,
               .kv_heads = 2,
               .queries = queries,
               .keys = 97,
               .dim = 10,
               .value_dim = 6};
    c.SetKvLen({97, 0, 1, 50, 20});
    ExpectMatchesReference(c, EveryPath());
    c.options.causal = true;
    ExpectMatchesReference(c, EveryPath());
    c.options.top_left = true;
    ExpectMatchesReference(c, EveryPath());
    c.options.top_left = false;
    c.options.query_offset = 30;
    ExpectMatchesReference(c, EveryPath());
    c.options.query_offset.reset();
    c.options.causal = false;
    c.options.window = {10, 4};
    ExpectMatchesReference(c, EveryPath());
    c.SetMask({5, 1, queries, 97}, RandomMask(5, 5 * queries * 97, 70));
    c.SetAlibiSlopes({0.5F, 0.25F, 0.125F, 1});
    c.SetSinks({0, 1, 2, -1});
    ExpectMatchesReference(c, EveryPath());
  }
}

// The lengths belong to the call: one plan serves all of them.
TEST(AttentionKvLen, OnePlanForAllLengths) {
  AttentionCase c;
  c.shape = {.queries = 2, .keys = 64, .dim = 8, .value_dim = 8};
  c.options.causal = true;
  c.SetKvLen({64});
  const Result<AttentionPlan> plan = PlanAttention(c.shape, c.options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  Workspace workspace(plan->workspace_bytes());
  for (int64_t valid = 0; valid <= 64; ++valid) {
    c.kv_len = {valid};
    const PreparedCase prepared(c);
    AttentionRun run;
    run.out = Repeat(0, 16);
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(run.out.data(), c.out_sizes());
    const Status status = plan->Run(tensors, workspace);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(prepared.Agrees(run, prepared.FromReference())) << valid;
  }
}

}  // namespace
}  // namespace lanewise::testing
