// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about errors and degenerate sizes (group L): each error names the argument
// and both numbers, writes nothing, and leaves the process usable. Errors about the inputs of
// options are in option_errors_test.cc, C095 is in ragged_test.cc.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

constexpr float kUntouched = 42.0F;

// Arrays whose sizes all differ, so that a number in a message identifies its axis.
class PublicCasesErrors : public ::testing::Test {
 protected:
  static constexpr AttentionShape kShape = {
      .batch = 2, .heads = 4, .kv_heads = 1, .queries = 3, .keys = 5, .dim = 6, .value_dim = 7};

  // More than the output needs, so that an input may begin at its last element.
  static constexpr int64_t kRoom = 400;
  static constexpr int64_t kOutCount = 2 * 4 * 3 * 7;

  PublicCasesErrors()
      : q_(Gen(1, 2 * 4 * 3 * 6)),
        k_(Gen(2, 2 * 1 * 5 * 6)),
        v_(Gen(3, 2 * 1 * 5 * 7)),
        out_(Repeat(kUntouched, kRoom)),
        lse_(Repeat(kUntouched, kRoom)) {
    tensors_.q = ConstTensor(q_.data(), {2, 4, 3, 6});
    tensors_.k = ConstTensor(k_.data(), {2, 1, 5, 6});
    tensors_.v = ConstTensor(v_.data(), {2, 1, 5, 7});
    tensors_.out = Tensor(out_.data(), {2, 4, 3, 7});
  }

  // Both forms refuse `tensors`, write nothing, and work with the right arrays afterwards.
  void ExpectRefused(const AttentionTensors& tensors, const std::vector<std::string>& words) {
    EXPECT_THAT(Attention(tensors), IsInvalid(words));
    ExpectRunRefused(tensors, {}, words);
  }

  // A plan for kShape refuses `tensors`.
  void ExpectRunRefused(const AttentionTensors& tensors, const AttentionOptions& options,
                        const std::vector<std::string>& words) {
    const Result<AttentionPlan> plan = PlanAttention(kShape, options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Workspace workspace(plan->workspace_bytes());
    EXPECT_THAT(plan->Run(tensors, workspace), IsInvalid(words));
    ExpectNothingWritten();
    ExpectStillUsable();
  }

  void ExpectNothingWritten() const {
    EXPECT_EQ(out_, Repeat(kUntouched, kRoom));
    EXPECT_EQ(lse_, Repeat(kUntouched, kRoom));
  }

  void ExpectStillUsable() const {
    std::vector<float> out = Repeat(0, kOutCount);
    AttentionTensors tensors = tensors_;
    tensors.out = Tensor(out.data(), {2, 4, 3, 7});
    const Status status = Attention(tensors);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  AttentionTensors tensors_;
  std::vector<float> q_, k_, v_, out_, lse_;
};

TEST_F(PublicCasesErrors, C094_SizesThatDoNotFitTogether) {
  struct Row {
    std::function<Sizes&(AttentionTensors&)> sizes;
    size_t axis;
    int64_t found;
    std::vector<std::string> words;
  };
  const auto k = [](AttentionTensors& t) -> Sizes& { return t.k.sizes; };
  const auto v = [](AttentionTensors& t) -> Sizes& { return t.v.sizes; };
  const auto out = [](AttentionTensors& t) -> Sizes& { return t.out.sizes; };
  const Row rows[] = {
      {v, 2, 4, {"v", "4", "5"}},      // key and value length
      {k, 3, 5, {"k", "5", "6"}},      // dim of q and k
      {k, 0, 1, {"k", "1", "2"}},      // batch of q and k
      {v, 0, 1, {"v", "1", "2"}},      // batch of k and v
      {v, 1, 0, {"v", "0", "1"}},      // kv_heads
      {out, 0, 1, {"out", "1", "2"}},  //
      {out, 1, 3, {"out", "3", "4"}},  //
      {out, 2, 2, {"out", "2", "3"}},  //
      {out, 3, 6, {"out", "6", "7"}},  //
  };
  for (const Row& row : rows) {
    AttentionTensors tensors = tensors_;
    row.sizes(tensors)[row.axis] = row.found;
    ExpectRefused(tensors, row.words);
  }
}

TEST_F(PublicCasesErrors, C094_SizesThatDoNotFitThePlan) {
  AttentionTensors tensors = tensors_;
  tensors.q.sizes[2] = 2;
  tensors.out.sizes[2] = 2;
  ExpectRunRefused(tensors, {}, {"q", "2", "3"});
  tensors = tensors_;
  tensors.k.sizes[2] = 4;
  tensors.v.sizes[2] = 4;
  ExpectRunRefused(tensors, {}, {"k", "4", "5"});
  tensors = tensors_;
  tensors.v.sizes[3] = 6;
  tensors.out.sizes[3] = 6;
  ExpectRunRefused(tensors, {}, {"v", "6", "7"});
}

TEST_F(PublicCasesErrors, C094_NullPointer) {
  AttentionTensors tensors = tensors_;
  tensors.q.data = nullptr;
  ExpectRefused(tensors, {"q", "null"});
  tensors = tensors_;
  tensors.k.data = nullptr;
  ExpectRefused(tensors, {"k", "null"});
  tensors = tensors_;
  tensors.v.data = nullptr;
  ExpectRefused(tensors, {"v", "null"});
  tensors = tensors_;
  tensors.out.data = nullptr;
  ExpectRefused(tensors, {"out", "null"});
}

TEST_F(PublicCasesErrors, C094_WrongType) {
  AttentionTensors tensors = tensors_;
  tensors.k.type = DataType::kBool;
  ExpectRunRefused(tensors, {}, {"k", "bool", "f32"});
  const Status status = Attention(tensors);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(ContainsWord(status.message(), "bool")) << status.message();
  ExpectNothingWritten();

  AttentionShape shape = kShape;
  shape.q_type = DataType::kBool;
  EXPECT_THAT(PlanAttention(shape).status(), IsInvalid({"q_type", "bool", "f32", "f16", "bf16"}));
}

TEST_F(PublicCasesErrors, C094_OutputStrides) {
  // Heads on top of each other; rows that overlap in one column; batch items within each other.
  AttentionTensors tensors = tensors_;
  tensors.out.strides[1] = 0;
  ExpectRefused(tensors, {"out", "strides", "0"});
  tensors = tensors_;
  tensors.out.strides[2] = 6;
  ExpectRefused(tensors, {"out", "strides", "6"});
  tensors = tensors_;
  tensors.out.strides[0] = 42;
  ExpectRefused(tensors, {"out", "strides", "42"});
}

TEST_F(PublicCasesErrors, C094_OutputOverlapsAnInput) {
  // Read-only inputs stand where `out_` lies, so that a write would show.
  AttentionTensors tensors = tensors_;
  tensors.q.data = out_.data();
  ExpectRefused(tensors, {"out", "q"});
  tensors = tensors_;
  tensors.k.data = out_.data() + 100;
  ExpectRefused(tensors, {"out", "k"});
  tensors = tensors_;
  tensors.v.data = out_.data() + kOutCount - 1;
  ExpectRefused(tensors, {"out", "v"});
}

TEST_F(PublicCasesErrors, LogSumExpArray) {
  AttentionOptions wanted;
  wanted.lse = true;
  ExpectRunRefused(tensors_, wanted, {"lse"});  // wanted, but not given

  AttentionTensors tensors = tensors_;
  tensors.lse = Tensor(lse_.data(), {2, 4, 3, 1});
  ExpectRunRefused(tensors, {}, {"lse"});  // given, but not wanted

  tensors.lse.sizes = {2, 4, 2, 1};
  ExpectRunRefused(tensors, wanted, {"lse", "2", "3"});
  tensors.lse = Tensor(lse_.data(), {2, 4, 3, 1}, {12, 0, 1, 1});
  ExpectRunRefused(tensors, wanted, {"lse", "strides", "0"});
  tensors.lse = Tensor(out_.data(), {2, 4, 3, 1});
  ExpectRunRefused(tensors, wanted, {"lse", "out"});
  tensors.lse = Tensor(lse_.data(), {2, 4, 3, 1});
  tensors.q.data = lse_.data();
  ExpectRunRefused(tensors, wanted, {"lse", "q"});
}

TEST_F(PublicCasesErrors, SmallWorkspace) {
  const Result<AttentionPlan> plan = PlanAttention(kShape);
  ASSERT_TRUE(plan.ok());
  ASSERT_GT(plan->workspace_bytes(), 0U);
  Workspace none;
  EXPECT_THAT(plan->Run(tensors_, none),
              IsInvalid({"workspace", "0", std::to_string(plan->workspace_bytes())}));
  Workspace small(plan->workspace_bytes() - 1);
  EXPECT_THAT(plan->Run(tensors_, small),
              IsInvalid({"workspace", std::to_string(plan->workspace_bytes() - 1),
                         std::to_string(plan->workspace_bytes())}));
  ExpectNothingWritten();
  ExpectStillUsable();
}

TEST(AttentionPlanErrors, Sizes) {
  struct Row {
    AttentionShape shape;
    std::vector<std::string> words;
  };
  const auto with = [](int64_t AttentionShape::*member, int64_t value) {
    AttentionShape shape = {
        .batch = 1, .heads = 1, .kv_heads = 1, .queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
    shape.*member = value;
    return shape;
  };
  const Row rows[] = {
      {with(&AttentionShape::batch, -1), {"batch", "-1"}},
      {with(&AttentionShape::heads, -2), {"heads", "-2"}},
      {with(&AttentionShape::kv_heads, -3), {"kv_heads", "-3"}},
      {with(&AttentionShape::queries, -4), {"queries", "-4"}},
      {with(&AttentionShape::keys, -5), {"keys", "-5"}},
      {with(&AttentionShape::dim, -6), {"dim", "-6"}},
      {with(&AttentionShape::value_dim, -7), {"value_dim", "-7"}},
      {with(&AttentionShape::dim, 0), {"dim", "0"}},
      {with(&AttentionShape::kv_heads, 0), {"kv_heads", "0"}},
      {with(&AttentionShape::keys, std::numeric_limits<int64_t>::min()), {"keys"}},
  };
  for (const Row& row : rows) EXPECT_THAT(PlanAttention(row.shape).status(), IsInvalid(row.words));

  AttentionShape shape = {
      .heads = 6, .kv_heads = 4, .queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  EXPECT_THAT(PlanAttention(shape).status(), IsInvalid({"heads", "kv_heads", "6", "4"}));
}

TEST(AttentionPlanErrors, SizesThatOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const AttentionShape& shape :
       {AttentionShape{.queries = kHuge, .keys = 1, .dim = kHuge, .value_dim = 1},
        AttentionShape{.queries = 1, .keys = kHuge, .dim = 1, .value_dim = kHuge},
        AttentionShape{.batch = kHuge, .queries = kHuge, .keys = 1, .dim = 1, .value_dim = 1},
        AttentionShape{.queries = 1, .keys = 1, .dim = kMax, .value_dim = 1},
        AttentionShape{.queries = kMax, .keys = kMax, .dim = kMax, .value_dim = kMax}}) {
    EXPECT_EQ(PlanAttention(shape).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(AttentionPlanErrors, TopLeftAndOffset) {
  const AttentionShape shape = {.queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  AttentionOptions options;
  options.causal = true;
  options.top_left = true;
  options.query_offset = 3;
  EXPECT_THAT(PlanAttention(shape, options).status(), IsInvalid({"top_left", "query_offset"}));
}

TEST(AttentionPlanErrors, Overrides) {
  const AttentionShape shape = {.queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  const auto status = [&](const attention::PlanOverrides& overrides) {
    return attention::PlanAttentionWith(shape, {}, DefaultRuntime(), overrides).status();
  };
  attention::PlanOverrides overrides;
  overrides.variant = "many";
  EXPECT_THAT(status(overrides), IsInvalid({"variant", "many", "lanes", "few"}));
  overrides = {};
  overrides.tile = "9x9v";
  EXPECT_THAT(status(overrides), IsInvalid({"tile", "9x9v"}));
  overrides.variant = "few";
  EXPECT_THAT(status(overrides), IsInvalid({"tile", "9x9v", "few"}));
  overrides.tile.clear();
  overrides.q_groups = 2;
  EXPECT_THAT(status(overrides), IsInvalid({"q_groups", "2", "few"}));
  overrides = {};
  overrides.kv_block = -1;
  EXPECT_THAT(status(overrides), IsInvalid({"kv_block", "-1"}));
  overrides = {};
  overrides.q_groups = -2;
  EXPECT_THAT(status(overrides), IsInvalid({"q_groups", "-2"}));
  overrides = {};
  overrides.grain = -3;
  EXPECT_THAT(status(overrides), IsInvalid({"grain", "-3"}));
}

TEST(PublicCases, C097_NothingIsRandom) {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 33, .keys = 65, .dim = 24, .value_dim = 24};
  const PreparedCase prepared(c);
  for (const Path& path : EveryPath()) {
    EXPECT_TRUE(SameBits(prepared.Run(path), prepared.Run(path))) << path.ToString();
  }
  std::vector<float> first = Repeat(0, 2 * 33 * 24);
  std::vector<float> second = first;
  AttentionTensors tensors = prepared.inputs();
  for (std::vector<float>* out : {&first, &second}) {
    tensors.out = Tensor(out->data(), c.out_sizes());
    ASSERT_TRUE(Attention(tensors).ok());
  }
  EXPECT_TRUE(SameBits(second, first));
}

}  // namespace
}  // namespace lanewise::testing
