// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about memory layout and alignment (group I; C074 is in
// public_cases_masks_test.cc), and the same questions for layouts that no report mentions.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

TEST(PublicCases, C072_InnerStrideMustBeOne) {
  constexpr int64_t kQueries = 9;
  constexpr int64_t kDim = 5;
  const Sizes sizes = {1, 2, kQueries, kDim};
  const std::vector<float> data = Gen(1, 2 * Count(sizes));
  // [dim][queries] a head, and every second element.
  for (const Sizes& strides : {Sizes{2 * kQueries * kDim, kQueries * kDim, 1, kQueries},
                               Sizes{4 * kQueries * kDim, 2 * kQueries * kDim, 2 * kDim, 2}}) {
    const std::string found = std::to_string(strides[3]);
    for (const char* name : {"q", "k", "v", "out"}) {
      std::vector<float> out = Repeat(42, 2 * Count(sizes));
      AttentionTensors tensors;
      tensors.q = tensors.k = tensors.v = ConstTensor(data.data(), sizes);
      tensors.out = Tensor(out.data(), sizes);
      const std::string argument = name;
      if (argument == "q") tensors.q.strides = strides;
      if (argument == "k") tensors.k.strides = strides;
      if (argument == "v") tensors.v.strides = strides;
      if (argument == "out") tensors.out.strides = strides;
      EXPECT_THAT(Attention(tensors), IsInvalid({argument, "stride", found, "1"}));
      EXPECT_EQ(out, Repeat(42, 2 * Count(sizes)));
    }
  }
}

// The dense copies that `shared` describes by strides: the first head, or item, repeated.
std::vector<float> Materialised(const std::vector<float>& one, int64_t copies) {
  std::vector<float> all;
  for (int64_t i = 0; i < copies; ++i) all.insert(all.end(), one.begin(), one.end());
  return all;
}

TEST(PublicCases, C073_HeadStrideZero) {
  for (int64_t keys = 1; keys <= 40; ++keys) {
    AttentionCase c;
    c.shape = {.heads = 4, .kv_heads = 4, .queries = 3, .keys = keys, .dim = 16, .value_dim = 16};
    c.k = Materialised(Gen(2, keys * 16), 4);
    c.v = Materialised(Gen(3, keys * 16), 4);
    const PreparedCase dense(c);
    const Expectation expected = dense.FromReference();
    c.kv_strides = SharedHeadStrides;
    const PreparedCase shared(c);
    for (const Path& path : EveryTile()) {
      const AttentionRun run = shared.Run(path);
      EXPECT_TRUE(shared.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run, dense.Run(path))) << path.ToString() << ", keys " << keys;
    }
  }
}

TEST(PublicCases, C073_BatchStrideZero) {
  for (int64_t keys = 1; keys <= 40; ++keys) {
    AttentionCase c;
    c.shape = {.batch = 3,
               .heads = 2,
               .kv_heads = 2,
               .queries = 3,
               .keys = keys,
               .dim = 16,
               .value_dim = 16};
    c.q = Materialised(Gen(1, 2 * 3 * 16), 3);
    c.k = Materialised(Gen(2, 2 * keys * 16), 3);
    c.v = Materialised(Gen(3, 2 * keys * 16), 3);
    const PreparedCase dense(c);
    const Expectation expected = dense.FromReference();
    c.kv_strides = SharedBatchStrides;
    c.q_strides = SharedBatchStrides;
    const PreparedCase shared(c);
    for (const Path& path : EveryTile()) {
      const AttentionRun run = shared.Run(path);
      EXPECT_TRUE(shared.Agrees(run, expected)) << path.ToString();
      EXPECT_TRUE(SameBits(run, dense.Run(path))) << path.ToString() << ", keys " << keys;
    }
  }
}

TEST(PublicCases, C076_PackedQkvAndOutputSlice) {
  constexpr int64_t kLength = 5, kHeads = 2, kDim = 4, kOutRow = 7;
  constexpr float kGuard = -77.0F;
  AttentionCase c;
  c.shape = {.heads = kHeads,
             .kv_heads = kHeads,
             .queries = kLength,
             .keys = kLength,
             .dim = kDim,
             .value_dim = kDim};
  // [length][q, k, v][heads][dim]
  const std::vector<float> packed = Gen(1, kLength * 3 * kHeads * kDim);
  const auto view = [&](int64_t which) {
    return ConstTensor(packed.data() + which * kHeads * kDim, c.q_sizes(),
                       {kLength * 3 * kHeads * kDim, kDim, 3 * kHeads * kDim, 1});
  };
  const auto dense = [&](int64_t which) {
    std::vector<float> values;
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t i = 0; i < kLength; ++i) {
        const int64_t row = ((i * 3 + which) * kHeads + h) * kDim;
        for (int64_t d = 0; d < kDim; ++d) values.push_back(packed[static_cast<size_t>(row + d)]);
      }
    }
    return values;
  };
  c.q = dense(0);
  c.k = dense(1);
  c.v = dense(2);
  const PreparedCase prepared(c);

  for (const Path& path : EveryPath()) {
    // [length][heads][7], of which columns 0 to 3 are the output.
    std::vector<float> out = Repeat(kGuard, kLength * kHeads * kOutRow);
    std::vector<float> lse = Repeat(kGuard, kLength * kHeads);
    AttentionTensors tensors;
    tensors.q = view(0);
    tensors.k = view(1);
    tensors.v = view(2);
    tensors.out = Tensor(out.data(), c.out_sizes(),
                         {kLength * kHeads * kOutRow, kOutRow, kHeads * kOutRow, 1});
    AttentionOptions options;
    options.lse = path.lse;
    if (path.lse) tensors.lse = Tensor(lse.data(), c.lse_sizes());
    const Result<PlanExplanation> result = RunOnPath(c.shape, options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message();

    std::vector<float> got;
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t i = 0; i < kLength; ++i) {
        const float* row = out.data() + (i * kHeads + h) * kOutRow;
        got.insert(got.end(), row, row + kDim);
        for (int64_t d = kDim; d < kOutRow; ++d) EXPECT_EQ(row[d], kGuard) << path.ToString();
      }
    }
    EXPECT_TRUE(SameBits(got, prepared.Run(path).out)) << path.ToString();
  }
}

TEST(PublicCases, C078_AnyElementAlignment) {
  for (const int64_t dim : {3, 7, 11, 15, 19, 37}) {
    AttentionCase plain;
    plain.shape = {.queries = 18, .keys = 21, .dim = dim, .value_dim = dim};
    plain.placement = {.guard = GuardSide::kBefore, .lead = 0};
    AttentionCase masked = plain;
    masked.SetMask({1, 1, 18, 21}, RandomMask(5, 18 * 21, 70));
    AttentionCase biased = plain;
    biased.SetBias({1, 1, 18, 21}, BiasWithHoles(6, 18 * 21, 1.0F, 20));
    for (AttentionCase c : {plain, masked, biased}) {
      const PreparedCase aligned(c);
      const Expectation expected = aligned.FromReference();
      for (const Path& path : EveryTile()) {
        const AttentionRun at_zero = aligned.Run(path);
        EXPECT_TRUE(aligned.Agrees(at_zero, expected)) << path.ToString();
        for (size_t lead = 1; lead < 16; ++lead) {
          c.placement.lead = lead;
          EXPECT_TRUE(SameBits(PreparedCase(c).Run(path), at_zero))
              << path.ToString() << "; " << c.ToString() << ", first element at " << lead;
        }
      }
    }
  }
}

// Inaccessible memory right before the first and right after the last element of every array.
TEST(AttentionLayout, NothingOutsideTheArraysIsTouched) {
  for (const GuardSide guard : {GuardSide::kBefore, GuardSide::kAfter}) {
    for (const int64_t dim : {1, 3, 4, 7, 8, 13, 16, 17, 33}) {
      for (const int64_t keys : {1, 2, 7, 16, 33}) {
        AttentionCase c;
        c.shape = {.queries = keys + 1, .keys = keys, .dim = dim, .value_dim = dim + 2};
        c.options.causal = dim % 2 == 0;
        c.placement.guard = guard;
        ExpectMatchesReference(c, EveryTile());
        c.SetMask(c.pair_sizes(), RandomMask(5, Count(c.pair_sizes()), 70));
        c.SetBias({1, 1, 1, keys}, Gen(6, keys));
        c.SetAlibiSlopes({0.25F});
        c.SetSinks({0.5F});
        c.SetKvLen({keys});
        ExpectMatchesReference(c, EveryTile());
      }
    }
  }
}

TEST(AttentionLayout, StridesDoNotChangeABit) {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 35, .dim = 20, .value_dim = 11};
  c.options.causal = true;
  c.SetMask(c.pair_sizes(), RandomMask(5, Count(c.pair_sizes()), 80));
  c.SetBias({2, 1, 19, 35}, BiasWithHoles(6, 2 * 19 * 35, 1.0F, 20));
  const PreparedCase dense(c);
  const Expectation expected = dense.FromReference();
  for (const StrideRule inputs : {PaddedStrides, PackedStrides}) {
    for (const StrideRule outputs : {PaddedStrides, PackedStrides}) {
      c.q_strides = c.kv_strides = c.pair_strides = inputs;
      c.out_strides = outputs;
      const PreparedCase strided(c);
      for (const Path& path : EveryPath()) {
        const AttentionRun run = strided.Run(path);
        EXPECT_TRUE(strided.Agrees(run, expected)) << path.ToString();
        EXPECT_TRUE(SameBits(run, dense.Run(path))) << path.ToString() << "; " << c.ToString();
      }
    }
  }
}

TEST(AttentionLayout, InputsMayShareMemory) {
  AttentionCase c;
  c.shape = {.queries = 9, .keys = 9, .dim = 6, .value_dim = 6};
  c.q = c.k = c.v = Gen(1, 54);
  const PreparedCase apart(c);
  for (const Path& path : EveryTarget()) {
    std::vector<float> out = Repeat(0, 54);
    AttentionTensors tensors;
    tensors.q = tensors.k = tensors.v = apart.inputs().q;
    tensors.out = Tensor(out.data(), c.out_sizes());
    const Result<PlanExplanation> result = RunOnPath(c.shape, c.options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(SameBits(out, apart.Run(path).out)) << path.ToString();
  }
}

// Offsets of 2^32 elements, in memory of which only the touched pages exist.
TEST(AttentionLayout, StridesBeyond32Bits) {
  constexpr int64_t kStride = int64_t{1} << 31;
  constexpr int64_t kKeys = 3;
  constexpr size_t kBytes = (2 * static_cast<size_t>(kStride) + 1) * sizeof(float);
  void* mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    GTEST_SKIP() << "the system refuses a mapping of " << kBytes << " bytes";
  const auto unmap = [](void* address) { munmap(address, kBytes); };
  const std::unique_ptr<void, decltype(unmap)> owner(mapping, unmap);
  float* wide = static_cast<float*>(mapping);
  for (int64_t j = 0; j < kKeys; ++j) wide[j * kStride] = static_cast<float>(j + 1);

  const float q[kKeys] = {0, 0, 0};
  for (const Path& path : EveryTarget()) {
    AttentionTensors tensors;
    tensors.q = ConstTensor(q, {1, 1, kKeys, 1});
    tensors.k = tensors.v = ConstTensor(wide, {1, 1, kKeys, 1}, {0, 0, kStride, 1});
    AttentionOptions options;
    options.causal = true;
    std::vector<float> out = Repeat(0, kKeys);
    tensors.out = Tensor(out.data(), {1, 1, kKeys, 1});
    const AttentionShape shape = {.queries = kKeys, .keys = kKeys, .dim = 1, .value_dim = 1};
    const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(out, (std::vector<float>{1, 1.5F, 2})) << path.ToString();
  }
}

}  // namespace
}  // namespace lanewise::testing
