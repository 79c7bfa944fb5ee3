// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The comparisons themselves: what is wrong has to be found, and reported so that it can be
// reproduced.

#include "tests/support/attention_case.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tests/support/gen.h"
#include "tests/support/half.h"
#include "tests/support/mentions.h"
#include "tests/support/patterns.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

AttentionCase SmallCase() {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 1, .queries = 3, .keys = 4, .dim = 5, .value_dim = 6};
  c.options.lse = true;
  return c;
}

// A run as right as floats can be.
AttentionRun RightRun(const Expectation& expected) {
  AttentionRun run;
  for (const double value : expected.value.out) run.out.push_back(static_cast<float>(value));
  for (const double value : expected.value.lse) run.lse.push_back(static_cast<float>(value));
  for (const double value : expected.value.weights) {
    run.weights.push_back(static_cast<float>(value));
  }
  return run;
}

TEST(PreparedCase, AcceptsWhatIsRight) {
  const PreparedCase prepared(SmallCase());
  const Expectation expected = prepared.FromReference();
  EXPECT_TRUE(prepared.Agrees(RightRun(expected), expected));
}

TEST(PreparedCase, FindsEveryWrongElement) {
  const PreparedCase prepared(SmallCase());
  const Expectation expected = prepared.FromReference();
  const AttentionRun right = RightRun(expected);
  for (const float wrong : {1e-4F, kNan, std::numeric_limits<float>::infinity()}) {
    for (size_t i = 0; i < right.out.size(); ++i) {
      AttentionRun run = right;
      run.out[i] += wrong;
      EXPECT_FALSE(prepared.Agrees(run, expected)) << i;
    }
    for (size_t i = 0; i < right.lse.size(); ++i) {
      AttentionRun run = right;
      run.lse[i] += wrong;
      EXPECT_FALSE(prepared.Agrees(run, expected)) << i;
    }
    for (size_t i = 0; i < right.weights.size(); ++i) {
      AttentionRun run = right;
      run.weights[i] += wrong;
      EXPECT_FALSE(prepared.Agrees(run, expected)) << i;
    }
  }
  AttentionRun shorter = right;
  shorter.out.pop_back();
  EXPECT_FALSE(prepared.Agrees(shorter, expected));
}

TEST(PreparedCase, ReportsWhereAndHow) {
  const PreparedCase prepared(SmallCase());
  const Expectation expected = prepared.FromReference();
  AttentionRun run = RightRun(expected);
  run.out[(1 * 3 + 2) * 6 + 5] = 77.0F;
  run.plan.target = "AVX9";
  run.plan.tile = "8x9v";
  const std::string message = prepared.Agrees(run, expected).message();
  for (const char* part : {"[0, 1, 2, 5]", "77", "AVX9", "8x9v", "[1, 2, 3, 5]", "[1, 1, 4, 6]"}) {
    EXPECT_TRUE(message.find(part) != std::string::npos) << part << " in: " << message;
  }
}

TEST(PreparedCase, InputsAreRoundedAndOutJudgedByItsType) {
  AttentionCase c = SmallCase();
  c.shape.q_type = c.shape.v_type = DataType::kF16;
  c.shape.k_type = c.shape.out_type = DataType::kBF16;
  EXPECT_TRUE(c.ToString().find("types f16 bf16 f16 bf16") != std::string::npos) << c.ToString();
  const PreparedCase prepared(c);
  EXPECT_EQ(prepared.inputs().q.type, DataType::kF16);
  EXPECT_EQ(prepared.inputs().k.type, DataType::kBF16);
  EXPECT_EQ(prepared.inputs().v.type, DataType::kF16);
  const Expectation expected = prepared.FromReference();

  // The same numbers as f32.
  AttentionCase widened = SmallCase();
  widened.q = Gen(1, Count(c.q_sizes()));
  widened.k = Gen(2, Count(c.k_sizes()));
  widened.v = Gen(3, Count(c.v_sizes()));
  for (float& value : widened.q) value = Rounded(DataType::kF16, value);
  for (float& value : widened.k) value = Rounded(DataType::kBF16, value);
  for (float& value : widened.v) value = Rounded(DataType::kF16, value);
  EXPECT_EQ(PreparedCase(widened).FromReference().value.out, expected.value.out);

  AttentionRun run = RightRun(expected);
  for (float& value : run.out) value = Rounded(DataType::kBF16, value);
  EXPECT_TRUE(prepared.Agrees(run, expected));
  EXPECT_FALSE(PreparedCase(widened).Agrees(run, PreparedCase(widened).FromReference()));
  run.out[3] += std::ldexp(1.0F, std::ilogb(run.out[3]) - 7);
  EXPECT_FALSE(prepared.Agrees(run, expected));
}

TEST(PreparedCase, TypesInOneGo) {
  AttentionCase c = SmallCase();
  EXPECT_EQ(c.ToString().find("types"), std::string::npos) << c.ToString();
  c.SetTypes(DataType::kBF16);
  EXPECT_TRUE(c.ToString().find("types bf16 bf16 bf16 bf16") != std::string::npos) << c.ToString();
}

TEST(PreparedCase, NanIsRightOnlyWhereItBelongs) {
  AttentionCase c = SmallCase();
  c.v = Gen(3, Count(c.v_sizes()));
  c.v[2] = kNan;
  const PreparedCase prepared(c);
  const Expectation expected = prepared.FromReference();
  AttentionRun run = RightRun(expected);
  EXPECT_TRUE(std::isnan(run.out[2]));
  EXPECT_TRUE(prepared.Agrees(run, expected));
  run.out[2] = 0.0F;
  EXPECT_FALSE(prepared.Agrees(run, expected));
}

TEST(PreparedCase, HoldsEveryInput) {
  AttentionCase c = SmallCase();
  c.pair_strides = PaddedStrides;
  c.SetMask({1, 1, 3, 4}, UniformMask(12, true));
  c.SetBias({1, 2, 1, 4}, Ramp(0, 1, 8));
  c.SetAlibiSlopes({0.5F, 0.25F});
  c.SetSinks({1, 2});
  c.SetKvLen({3});
  const PreparedCase prepared(c);
  const AttentionTensors& inputs = prepared.inputs();
  EXPECT_EQ(inputs.mask.sizes, (Sizes{1, 1, 3, 4}));
  EXPECT_EQ(inputs.mask.type, DataType::kBool);
  EXPECT_EQ(inputs.bias.sizes, (Sizes{1, 2, 1, 4}));
  EXPECT_EQ(static_cast<const float*>(inputs.bias.data)[inputs.bias.strides[1] + 3], 7.0F);
  EXPECT_EQ(inputs.alibi_slopes.size, 2);
  EXPECT_EQ(inputs.sinks.data[1], 2.0F);
  EXPECT_EQ(inputs.kv_len.data[0], 3);
  EXPECT_EQ(inputs.q_offsets.data, nullptr);
  for (const char* part :
       {"mask [1, 1, 3, 4]", "bias [1, 2, 1, 4]", "alibi_slopes", "sinks", "kv_len [3]"}) {
    EXPECT_TRUE(c.ToString().find(part) != std::string::npos) << part << " in " << c.ToString();
  }
}

TEST(PreparedCase, RaggedArraysHaveOneItem) {
  AttentionCase c = SmallCase();
  c.SetSequences({2, 0, 1}, {1, 2, 0});
  EXPECT_EQ(c.shape.batch, 3);
  EXPECT_EQ(c.q_sizes(), (Sizes{1, 2, 3, 5}));
  EXPECT_EQ(c.k_sizes(), (Sizes{1, 1, 3, 5}));
  const PreparedCase prepared(c);
  EXPECT_EQ(prepared.inputs().q_offsets.size, 4);
  EXPECT_EQ(prepared.inputs().q_offsets.data[3], 3);
  EXPECT_EQ(prepared.inputs().k_offsets.data[2], 3);
}

TEST(SameBits, ComparesWhatBothRunsHave) {
  AttentionRun a;
  a.out = {1};
  AttentionRun b = a;
  b.lse = {2};
  b.weights = {3};
  EXPECT_TRUE(SameBits(a, b));
  a.weights = {4};
  EXPECT_FALSE(SameBits(a, b));
  a.weights = {3};
  a.lse = {3};
  EXPECT_FALSE(SameBits(a, b));
  a.out.clear();
  EXPECT_FALSE(SameBits(a, b));
}

TEST(SameBits, TellsZerosAndNanApart) {
  EXPECT_TRUE(SameBits({kNan, 1.0F}, {kNan, 1.0F}));
  EXPECT_FALSE(SameBits({0.0F}, {-0.0F}));
  EXPECT_FALSE(SameBits({kNan}, {std::bit_cast<float>(0x7FC00001U)}));
  EXPECT_FALSE(SameBits({1.0F}, {1.0F, 1.0F}));
  EXPECT_FALSE(SameBits({1.0F}, {std::nextafter(1.0F, 2.0F)}));
}

TEST(Array, KeepsValuesUnderAllStrides) {
  const Sizes sizes = {2, 3, 4, 5};
  const std::vector<float> values = Gen(1, Count(sizes));
  for (const StrideRule rule : {DenseStrides, PaddedStrides, PackedStrides}) {
    Array array(sizes, rule, {.guard = GuardSide::kBefore, .lead = 3});
    array.Set(values);
    EXPECT_EQ(array.Values(), values);
    EXPECT_TRUE(array.IsPaddingIntact());
  }
}

TEST(Array, SharedHeadsAreOne) {
  Array array({1, 3, 2, 2}, SharedHeadStrides, {});
  array.Set(Ramp(0, 1, 12));
  EXPECT_EQ(array.Values(), (std::vector<float>{8, 9, 10, 11, 8, 9, 10, 11, 8, 9, 10, 11}));
}

TEST(Array, NoticesAWriteBetweenItsElements) {
  Array array({1, 1, 3, 4}, PaddedStrides, {});
  array.Set(Ramp(0, 1, 12));
  float* first = static_cast<float*>(array.view().data);
  first[4] = 0.0F;
  EXPECT_FALSE(array.IsPaddingIntact());
}

TEST(Array, MasksAreBytes) {
  MaskArray array({1, 1, 2, 3}, PaddedStrides, {.guard = GuardSide::kBefore, .lead = 1});
  array.Set({1, 0, 2, 0, 255, 0});
  EXPECT_EQ(array.Values(), (std::vector<uint8_t>{1, 0, 2, 0, 255, 0}));
  EXPECT_EQ(array.view().type, DataType::kBool);
  EXPECT_TRUE(array.IsPaddingIntact());
}

TEST(Array, HalvesAreRoundedAndWidened) {
  const std::vector<float> values = {1.0F + 0x1p-11F, 1.0F + 0x1p-8F, 65520.0F, -0x1p-25F, 1, kNan};
  const auto stored = [&](DataType type) {
    Array array({1, 1, 2, 3}, PaddedStrides, {.guard = GuardSide::kBefore, .lead = 1}, type);
    array.Set(values);
    EXPECT_EQ(array.view().type, type);
    EXPECT_TRUE(array.IsPaddingIntact());
    return array.Values();
  };
  const std::vector<float> f16 = stored(DataType::kF16);
  const std::vector<float> bf16 = stored(DataType::kBF16);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(f16[i], Rounded(DataType::kF16, values[i])) << i;
    EXPECT_EQ(bf16[i], Rounded(DataType::kBF16, values[i])) << i;
  }
  EXPECT_EQ(f16[0], 1.0F);
  EXPECT_EQ(f16[1], 1.0F + 0x1p-8F);
  EXPECT_EQ(bf16[1], 1.0F);
  EXPECT_EQ(f16[2], std::numeric_limits<float>::infinity());
  EXPECT_EQ(bf16[2], 65536.0F);
  EXPECT_TRUE(std::isnan(f16[5]) && !IsUnwritten(f16[5]));
  EXPECT_TRUE(std::isnan(bf16[5]) && !IsUnwritten(bf16[5]));
}

TEST(Array, HalvesShowWhatWasNotWritten) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    Array array({1, 1, 3, 4}, PaddedStrides, {.lead = 1}, type);
    for (const float value : array.Values()) EXPECT_TRUE(IsUnwritten(value));
    array.Set(Ramp(0, 1, 12));
    for (const float value : array.Values()) EXPECT_FALSE(IsUnwritten(value));
    EXPECT_TRUE(array.IsPaddingIntact());
    static_cast<uint16_t*>(array.view().data)[4] = 0;
    EXPECT_FALSE(array.IsPaddingIntact()) << DataTypeName(type);
  }
}

TEST(Mentions, WholeWordsOnly) {
  EXPECT_TRUE(ContainsWord("k: sizes are [1, 22], expected -3", "k"));
  EXPECT_TRUE(ContainsWord("k: sizes are [1, 22], expected -3", "22"));
  EXPECT_TRUE(ContainsWord("k: sizes are [1, 22], expected -3", "-3"));
  EXPECT_FALSE(ContainsWord("k: sizes are [1, 22], expected -3", "2"));
  EXPECT_FALSE(ContainsWord("kv_heads of the keys", "k"));
  EXPECT_FALSE(ContainsWord("", "k"));
}

TEST(PublicTolerance, ByTypeAndLargestValue) {
  EXPECT_DOUBLE_EQ(PublicTolerance(DataType::kF32, 0.5), 1e-5);
  EXPECT_DOUBLE_EQ(PublicTolerance(DataType::kF32, 40), 4e-4);
  EXPECT_DOUBLE_EQ(PublicTolerance(DataType::kF16, 2), 0x1p-8);
  EXPECT_DOUBLE_EQ(PublicTolerance(DataType::kBF16, 1), 0x1p-6);
  EXPECT_DOUBLE_EQ(T32({1, -7, kNan}), 7e-5);
}

}  // namespace
}  // namespace lanewise::testing
