// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// That what a path adds to a call reaches the plan and leaves the rows of the call as they are.

#include "tests/support/run_on_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

AttentionCase SmallCase() {
  AttentionCase c;
  c.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 61, .dim = 12, .value_dim = 9};
  return c;
}

// Each input that belongs to heads or pairs, in layouts that are not dense.
std::vector<AttentionCase> Cases() {
  std::vector<AttentionCase> cases(6, SmallCase());
  cases[1].options.causal = true;
  cases[1].SetKvLen({61, 30});
  cases[2].options.window = {7, 3};
  cases[2].SetTypes(DataType::kF16);
  AttentionCase& all = cases[3];
  all.SetMask(all.pair_sizes(), RandomMask(5, Count(all.pair_sizes()), 80));
  all.SetBias({1, 4, 1, 61}, Gen(6, 4 * 61));
  all.SetAlibiSlopes(Ramp(0.1F, 0.1F, 4));
  all.SetSinks(Ramp(-1, 0.5F, 4));
  all.q_strides = all.kv_strides = all.pair_strides = all.out_strides = PaddedStrides;
  cases[4].SetMask({2, 1, 19, 1}, RandomMask(7, 2 * 19, 50));
  cases[4].q_strides = cases[4].out_strides = PackedStrides;
  cases[4].SetTypes(DataType::kBF16);
  cases[5].SetSequences({3, 0, 16}, {40, 5, 16});
  cases[5].options.causal = true;
  return cases;
}

TEST(RunOnPath, AdditionsDoNotChangeABit) {
  for (const AttentionCase& c : Cases()) {
    const PreparedCase prepared(c);
    for (const Path& path : EveryPath()) {
      Path plain = path;
      plain.lse = plain.weights = plain.mask = plain.shared_heads = false;
      EXPECT_TRUE(SameBits(prepared.Run(path), prepared.Run(plain)))
          << path.ToString() << "; " << c.ToString();
    }
  }
}

// Their scratch grows with the tiles of a mask, and that of `few` with the heads.
TEST(RunOnPath, AdditionsReachThePlan) {
  AttentionCase c = SmallCase();
  c.shape.queries = 200;
  c.shape.keys = 300;
  const PreparedCase prepared(c);
  const auto scratch = [&](const Path& path) { return prepared.Run(path).plan.workspace_bytes; };
  Path lanes;
  lanes.overrides.variant = "lanes";
  lanes.overrides.kv_block = 16;
  Path masked = lanes;
  masked.mask = true;
  EXPECT_GT(scratch(masked), scratch(lanes));
  Path few;
  few.overrides.variant = "few";
  few.overrides.kv_block = 16;
  Path shared = few;
  shared.shared_heads = true;
  EXPECT_GT(scratch(shared), scratch(few));
}

// Of calls that have no array for them.
TEST(RunOnPath, OutputsOfItsOwn) {
  const AttentionCase c = SmallCase();
  const PreparedCase prepared(c);
  for (const Path& path : EveryTile()) {
    std::vector<float> out = Repeat(0, Count(c.out_sizes()));
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), c.out_sizes());
    const Result<PlanExplanation> plan = RunOnPath(c.shape, c.options, path, tensors);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_TRUE(SameBits(out, prepared.Run(path).out)) << path.ToString();
  }
}

TEST(RunOnPath, ErrorsAreThoseOfTheCall) {
  const AttentionCase c = SmallCase();
  for (const bool more : {false, true}) {
    Path path;
    path.lse = path.weights = path.mask = path.shared_heads = more;
    const Result<PlanExplanation> plan = RunOnPath(c.shape, c.options, path, {});
    EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace lanewise::testing
