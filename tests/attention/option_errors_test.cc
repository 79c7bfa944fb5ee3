// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Errors about the inputs of options: public report C094 (group L) for lengths, and the same
// questions for masks, biases, slopes, sinks and offsets. Each names the argument and the numbers,
// writes nothing, and leaves the process usable.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 42.0F;

// Arrays of a call whose sizes all differ. Tests turn options on and spoil what belongs to them.
class OptionErrors : public ::testing::Test {
 protected:
  static constexpr AttentionShape kShape = {
      .batch = 2, .heads = 4, .kv_heads = 1, .queries = 3, .keys = 5, .dim = 6, .value_dim = 7};
  static constexpr Sizes kOutSizes = {2, 4, 3, 7};

  OptionErrors()
      : q_(Gen(1, 2 * 4 * 3 * 6)),
        k_(Gen(2, 2 * 5 * 6)),
        v_(Gen(3, 2 * 5 * 7)),
        mask_(2 * 4 * 3 * 5, 1),
        bias_(Repeat(0, 2 * 4 * 3 * 5)),
        heads_(Repeat(0.5F, 9)),
        written_(Repeat(kUntouched, 1000)) {
    tensors_.q = ConstTensor(q_.data(), {2, 4, 3, 6});
    tensors_.k = ConstTensor(k_.data(), {2, 1, 5, 6});
    tensors_.v = ConstTensor(v_.data(), {2, 1, 5, 7});
    tensors_.out = Tensor(written_.data(), kOutSizes);
  }

  ConstTensor Mask(const Sizes& sizes) const { return {mask_.data(), DataType::kBool, sizes}; }
  ConstTensor Bias(const Sizes& sizes) const { return {bias_.data(), sizes}; }

  // The planned and the one-call form refuse the arrays.
  void ExpectRefused(const std::vector<std::string>& words) {
    EXPECT_THAT(Attention(tensors_, options_), IsInvalid(words));
    const Result<AttentionPlan> plan = PlanAttention(kShape, options_);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Workspace workspace(plan->workspace_bytes());
    EXPECT_THAT(plan->Run(tensors_, workspace), IsInvalid(words));
    EXPECT_EQ(written_, Repeat(kUntouched, 1000));
    ExpectStillUsable();
  }

  void ExpectStillUsable() const {
    std::vector<float> out = Repeat(0, Count(kOutSizes));
    const Status status =
        Attention(tensors_.q, tensors_.k, tensors_.v, Tensor(out.data(), kOutSizes));
    EXPECT_TRUE(status.ok()) << status.message();
  }

  void ExpectAccepted() {
    AttentionTensors tensors = tensors_;
    std::vector<float> out = Repeat(0, Count(kOutSizes));
    tensors.out = Tensor(out.data(), kOutSizes);
    const Status status = Attention(tensors, options_);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  std::vector<float> q_, k_, v_;
  std::vector<uint8_t> mask_;
  std::vector<float> bias_;
  std::vector<float> heads_;    // slopes or sinks
  std::vector<float> written_;  // outputs
  AttentionTensors tensors_;
  AttentionOptions options_;
};

TEST_F(OptionErrors, OptionWithoutItsArray) {
  const struct {
    bool AttentionOptions::*option;
    const char* argument;
  } rows[] = {{&AttentionOptions::mask, "mask"},
              {&AttentionOptions::bias, "bias"},
              {&AttentionOptions::alibi_slopes, "alibi_slopes"},
              {&AttentionOptions::sinks, "sinks"},
              {&AttentionOptions::kv_len, "kv_len"},
              {&AttentionOptions::weights, "weights"},
              {&AttentionOptions::lse, "lse"}};
  for (const auto& row : rows) {
    options_ = {};
    options_.*row.option = true;
    ExpectRefused({row.argument});
  }
}

TEST_F(OptionErrors, ArrayWithoutItsOption) {
  const AttentionTensors plain = tensors_;
  const int64_t counts[] = {0, 2, 3};
  tensors_.mask = Mask({1, 1, 3, 5});
  ExpectRefused({"mask", "option"});
  tensors_ = plain;
  tensors_.bias = Bias({1, 1, 3, 5});
  ExpectRefused({"bias", "option"});
  tensors_ = plain;
  tensors_.alibi_slopes = {heads_.data(), 4};
  ExpectRefused({"alibi_slopes", "option"});
  tensors_ = plain;
  tensors_.sinks = {heads_.data(), 4};
  ExpectRefused({"sinks", "option"});
  tensors_ = plain;
  tensors_.kv_len = {counts, 2};
  ExpectRefused({"kv_len", "option"});
  tensors_ = plain;
  tensors_.q_offsets = {counts, 3};
  ExpectRefused({"q_offsets", "option"});
  tensors_ = plain;
  tensors_.k_offsets = {counts, 3};
  ExpectRefused({"k_offsets", "option"});
  tensors_ = plain;
  tensors_.weights = Tensor(written_.data() + 500, {2, 4, 3, 5});
  ExpectRefused({"weights", "option"});
}

TEST_F(OptionErrors, MaskAndBiasSizes) {
  for (const Sizes& sizes : {Sizes{1, 1, 5, 3}, Sizes{1, 1, 1, 6}, Sizes{2, 4, 3, 4},
                             Sizes{2, 2, 3, 5}, Sizes{3, 4, 3, 5}, Sizes{1, 1, 2, 5}}) {
    std::vector<std::string> words = {"mask", "2", "4", "3", "5"};
    for (const int64_t size : sizes) words.push_back(std::to_string(size));
    options_ = {};
    options_.mask = true;
    tensors_.mask = Mask(sizes);
    ExpectRefused(words);
    tensors_.mask = {};
    options_.mask = false;
    options_.bias = true;
    tensors_.bias = Bias(sizes);
    words[0] = "bias";
    ExpectRefused(words);
    tensors_.bias = {};
  }
}

TEST_F(OptionErrors, MaskAndBiasStrides) {
  options_.mask = true;
  tensors_.mask = Mask({1, 1, 3, 5});
  tensors_.mask.strides[3] = 2;
  ExpectRefused({"mask", "stride", "2", "1"});
  tensors_.mask.strides[3] = 0;
  ExpectRefused({"mask", "stride", "0", "1"});
  tensors_.mask = {};
  options_ = {};
  options_.bias = true;
  tensors_.bias = Bias({1, 1, 3, 5});
  tensors_.bias.strides[3] = 3;
  ExpectRefused({"bias", "stride", "3", "1"});
}

TEST_F(OptionErrors, SlopesAndSinks) {
  options_.alibi_slopes = true;
  tensors_.alibi_slopes = {heads_.data(), 3};
  ExpectRefused({"alibi_slopes", "3", "4"});
  tensors_.alibi_slopes = {heads_.data(), 5};
  ExpectRefused({"alibi_slopes", "5", "4"});
  tensors_.alibi_slopes = {nullptr, 4};
  ExpectRefused({"alibi_slopes", "null"});
  tensors_.alibi_slopes = {heads_.data(), 4};
  for (const float bad : {kNan, kInf, -kInf}) {
    heads_[2] = bad;
    ExpectRefused({"alibi_slopes", "2", bad == bad ? "inf" : "nan"});
  }
  heads_[2] = -0.5F;
  ExpectAccepted();

  tensors_.alibi_slopes = {};
  options_ = {};
  options_.sinks = true;
  tensors_.sinks = {heads_.data(), 1};
  ExpectRefused({"sinks", "1", "4"});
  tensors_.sinks = {nullptr, 4};
  ExpectRefused({"sinks", "null"});
  tensors_.sinks = {heads_.data(), 4};
  for (const float bad : {kNan, kInf}) {
    heads_[1] = bad;
    ExpectRefused({"sinks", "1", bad == bad ? "inf" : "nan"});
  }
  heads_[1] = -kInf;
  ExpectAccepted();
}

TEST_F(OptionErrors, C094_ValidLengths) {
  options_.kv_len = true;
  int64_t lengths[] = {3, 5, 5};
  tensors_.kv_len = {lengths, 1};
  ExpectRefused({"kv_len", "1", "2"});
  tensors_.kv_len = {lengths, 3};
  ExpectRefused({"kv_len", "3", "2"});
  tensors_.kv_len = {nullptr, 2};
  ExpectRefused({"kv_len", "null"});
  tensors_.kv_len = {lengths, 2};
  ExpectAccepted();
  for (const int64_t bad : {int64_t{6}, int64_t{-1}, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    lengths[1] = bad;
    ExpectRefused({"kv_len", std::to_string(bad), "5"});
  }
}

TEST_F(OptionErrors, WeightsArray) {
  options_.weights = true;
  tensors_.weights = Tensor(written_.data() + 500, {2, 4, 3, 4});
  ExpectRefused({"weights", "4", "5"});
  tensors_.weights = Tensor(written_.data() + 500, {2, 4, 3, 5}, {60, 0, 5, 1});
  ExpectRefused({"weights", "strides", "0"});
  tensors_.weights = Tensor(written_.data() + 100, {2, 4, 3, 5});
  ExpectRefused({"weights", "out"});
  tensors_.weights = Tensor(written_.data() + 500, {2, 4, 3, 5});
  options_.lse = true;
  tensors_.lse = Tensor(written_.data() + 500, {2, 4, 3, 1});
  ExpectRefused({"weights", "lse"});
  options_.lse = false;
  tensors_.lse = {};
  options_.bias = true;
  tensors_.bias = ConstTensor(written_.data() + 600, {1, 1, 3, 5});
  ExpectRefused({"weights", "bias"});
  tensors_.bias = ConstTensor(written_.data(), {1, 1, 3, 5});
  ExpectRefused({"out", "bias"});
}

// Ragged: q and out hold 7 queries, k and v 5 keys, in 2 sequences.
class RaggedErrors : public ::testing::Test {
 protected:
  RaggedErrors() : data_(Gen(1, 2 * 7 * 4)), out_(Repeat(kUntouched, 2 * 7 * 4)) {
    tensors_.q = ConstTensor(data_.data(), {1, 2, 7, 4});
    tensors_.k = tensors_.v = ConstTensor(data_.data(), {1, 2, 5, 4});
    tensors_.out = Tensor(out_.data(), {1, 2, 7, 4});
    options_.ragged = true;
  }

  Status Run(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets) {
    tensors_.q_offsets = {q_offsets.data(), static_cast<int64_t>(q_offsets.size())};
    tensors_.k_offsets = {k_offsets.data(), static_cast<int64_t>(k_offsets.size())};
    const AttentionShape shape = {
        .batch = 2, .heads = 2, .kv_heads = 2, .queries = 7, .keys = 5, .dim = 4, .value_dim = 4};
    const Result<AttentionPlan> plan = PlanAttention(shape, options_);
    if (!plan.ok()) return plan.status();
    Workspace workspace(plan->workspace_bytes());
    return plan->Run(tensors_, workspace);
  }

  void ExpectRefused(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets,
                     const std::vector<std::string>& words) {
    EXPECT_THAT(Run(q_offsets, k_offsets), IsInvalid(words));
    EXPECT_EQ(out_, Repeat(kUntouched, 2 * 7 * 4));
  }

  std::vector<float> data_, out_;
  AttentionTensors tensors_;
  AttentionOptions options_;
};

TEST_F(RaggedErrors, Offsets) {
  const std::vector<int64_t> q = {0, 3, 7};
  const std::vector<int64_t> k = {0, 2, 5};
  ExpectRefused({0, 7}, k, {"q_offsets", "2", "3"});
  ExpectRefused(q, {0, 2, 5, 5}, {"k_offsets", "4", "3"});
  ExpectRefused({}, k, {"q_offsets", "0", "3"});
  ExpectRefused({1, 3, 7}, k, {"q_offsets", "1", "0"});
  ExpectRefused({-1, 3, 7}, k, {"q_offsets", "-1", "0"});
  ExpectRefused({0, 3, 6}, k, {"q_offsets", "6", "7"});
  ExpectRefused({0, 3, 8}, k, {"q_offsets", "8", "7"});
  ExpectRefused({0, 8, 7}, k, {"q_offsets", "8", "7"});
  ExpectRefused({0, -2, 7}, k, {"q_offsets", "-2", "0"});
  ExpectRefused(q, {0, 2, 4}, {"k_offsets", "4", "5"});
  ExpectRefused(q, {2, 2, 5}, {"k_offsets", "2", "0"});
  ExpectRefused(q, {0, 6, 5}, {"k_offsets", "6", "5"});
  EXPECT_TRUE(Run(q, k).ok());
  EXPECT_TRUE(Run({0, 0, 7}, {0, 5, 5}).ok());
}

TEST_F(RaggedErrors, OffsetsThatDecrease) {
  const std::vector<int64_t> up = {0, 3, 5, 7};
  const std::vector<int64_t> down = {0, 5, 3, 7};
  const std::vector<int64_t> keys_up = {0, 2, 2, 5};
  const std::vector<int64_t> keys_down = {0, 4, 1, 5};
  tensors_.q_offsets = {down.data(), 4};
  tensors_.k_offsets = {keys_up.data(), 4};
  EXPECT_THAT(Attention(tensors_, options_), IsInvalid({"q_offsets", "3", "2", "5"}));
  tensors_.q_offsets = {up.data(), 4};
  tensors_.k_offsets = {keys_down.data(), 4};
  EXPECT_THAT(Attention(tensors_, options_), IsInvalid({"k_offsets", "1", "2", "4"}));
  tensors_.k_offsets = {nullptr, 4};
  EXPECT_THAT(Attention(tensors_, options_), IsInvalid({"k_offsets", "null"}));
  EXPECT_EQ(out_, Repeat(kUntouched, 2 * 7 * 4));
  tensors_.k_offsets = {keys_up.data(), 4};
  EXPECT_TRUE(Attention(tensors_, options_).ok());
}

TEST_F(RaggedErrors, OffsetsOfTheOneCallForm) {
  const std::vector<int64_t> q = {0, 3, 7};
  EXPECT_THAT(Attention(tensors_, options_), IsInvalid({"q_offsets"}));
  tensors_.q_offsets = {q.data(), 3};
  EXPECT_THAT(Attention(tensors_, options_), IsInvalid({"k_offsets", "0", "3"}));
  EXPECT_EQ(out_, Repeat(kUntouched, 2 * 7 * 4));
}

TEST_F(RaggedErrors, BatchAxisIsOne) {
  tensors_.q.sizes[0] = 2;
  tensors_.q.strides[0] = 0;
  ExpectRefused({0, 3, 7}, {0, 2, 5}, {"q", "2", "1"});
}

TEST_F(RaggedErrors, OptionsThatExcludeRagged) {
  for (bool AttentionOptions::*const option :
       {&AttentionOptions::mask, &AttentionOptions::bias, &AttentionOptions::kv_len,
        &AttentionOptions::weights}) {
    options_ = {};
    options_.ragged = true;
    options_.*option = true;
    const char* name = option == &AttentionOptions::mask     ? "mask"
                       : option == &AttentionOptions::bias   ? "bias"
                       : option == &AttentionOptions::kv_len ? "kv_len"
                                                             : "weights";
    EXPECT_THAT(
        PlanAttention({.queries = 7, .keys = 5, .dim = 4, .value_dim = 4}, options_).status(),
        IsInvalid({"ragged", name}));
  }
}

TEST(AttentionPlanErrors, WindowSides) {
  const AttentionShape shape = {.queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  AttentionOptions options;
  for (const int64_t bad : {int64_t{-2}, int64_t{-3}, std::numeric_limits<int64_t>::min()}) {
    options.window = {bad, 0};
    EXPECT_THAT(PlanAttention(shape, options).status(),
                IsInvalid({"window", "left", std::to_string(bad)}));
    options.window = {0, bad};
    EXPECT_THAT(PlanAttention(shape, options).status(),
                IsInvalid({"window", "right", std::to_string(bad)}));
    options.window = AttentionWindow::Radius(bad);
    EXPECT_THAT(PlanAttention(shape, options).status(), IsInvalid({"window", std::to_string(bad)}));
  }
}

}  // namespace
}  // namespace lanewise::testing
