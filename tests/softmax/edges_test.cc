// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Empty rows, NaN, infinities and what does not take part, on every target, and on rows short and
// long enough for partial vectors, single ones and several in step.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/softmax/softmax_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kColumns[] = {1, 3, 8, 13, 16, 29, 67};

SoftmaxCase Row(const std::vector<float>& in) {
  SoftmaxCase c;
  c.sizes = {1, 1, 1, static_cast<int64_t>(in.size())};
  c.in = in;
  return c;
}

// Of every kind of output.
void ForEachOut(SoftmaxCase c, void (*expect)(const SoftmaxCase&)) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    c.out_type = type;
    expect(c);
  }
}

void ExpectZeros(const SoftmaxCase& c) {
  for (const std::string& target : TestedTargets()) {
    PreparedSoftmax prepared(c);
    ASSERT_TRUE(prepared.RunSoftmax(OneThread(target)).ok());
    ASSERT_TRUE(prepared.RunLogSumExp(OneThread(target)).ok());
    for (const float v : prepared.out().Values()) {
      EXPECT_EQ(v, 0) << target;
      EXPECT_FALSE(std::signbit(v)) << target;
    }
    for (const float v : prepared.lse().Values()) EXPECT_EQ(v, -kInf) << target;
  }
}

void ExpectNans(const SoftmaxCase& c) {
  for (const std::string& target : TestedTargets()) {
    PreparedSoftmax prepared(c);
    ASSERT_TRUE(prepared.RunSoftmax(OneThread(target)).ok());
    ASSERT_TRUE(prepared.RunLogSumExp(OneThread(target)).ok());
    for (const float v : prepared.out().Values()) {
      EXPECT_TRUE(std::isnan(v) && !IsUnwritten(v)) << target;
    }
    for (const float v : prepared.lse().Values()) {
      EXPECT_TRUE(std::isnan(v) && !IsUnwritten(v)) << target;
    }
  }
}

TEST(SoftmaxEdges, RowsOfMinusInfinityGiveZero) {
  for (const int64_t columns : kColumns) {
    SoftmaxCase c = Row(std::vector<float>(static_cast<size_t>(columns), -kInf));
    ForEachOut(c, ExpectZeros);
    c.scale = -1;
    c.in.assign(c.in.size(), kInf);
    ForEachOut(c, ExpectZeros);
  }
}

TEST(SoftmaxEdges, RowsThatAreAllMaskedGiveZeroWhateverTheyHold) {
  for (const int64_t columns : kColumns) {
    for (const float value : {1.0F, kNan, kInf, -kInf}) {
      SoftmaxCase c = Row(std::vector<float>(static_cast<size_t>(columns), value));
      c.mask_sizes = c.sizes;
      c.mask = UniformMask(columns, false);
      ForEachOut(c, ExpectZeros);
      c.mask_sizes = {1, 1, 1, 1};
      c.mask = {0};
      ForEachOut(c, ExpectZeros);
    }
  }
}

TEST(SoftmaxEdges, NanAndInfinityGiveNanInTheirRowAlone) {
  for (const int64_t columns : kColumns) {
    for (int64_t at = 0; at < columns; ++at) {
      for (const float value : {kNan, kInf}) {
        SoftmaxCase c;
        c.sizes = {1, 1, 3, columns};
        c.in = Gen(3, 3 * columns);
        c.in[static_cast<size_t>(columns + at)] = value;
        ExpectMatchesReference(c);  // the reference has NaN in the middle row
        SoftmaxCase middle =
            Row(std::vector<float>(c.in.begin() + columns, c.in.begin() + 2 * columns));
        ExpectNans(middle);
      }
    }
  }
}

// The product overflows, although a fused multiply-subtract would not see it, nor a power of two.
TEST(SoftmaxEdges, AScoreThatOverflowsGivesNan) {
  for (const int64_t columns : kColumns) {
    SoftmaxCase c = Row(std::vector<float>(static_cast<size_t>(columns), 3e38F));
    for (const float scale : {2.0F, 1.9F, 1.2F}) {
      c.scale = scale;
      ForEachOut(c, ExpectNans);
    }
  }
}

TEST(SoftmaxEdges, MaskedColumnsHaveNoInfluenceWhateverTheyHold) {
  for (const int64_t columns : {2, 9, 16, 29, 67}) {
    for (const float value : {kNan, kInf, -kInf, 3e38F}) {
      SoftmaxCase c;
      c.sizes = {1, 1, 2, columns};
      c.in = Gen(9, 2 * columns, 3);
      c.mask_sizes = c.sizes;
      c.mask = RandomMask(4, 2 * columns, 50);
      PreparedSoftmax plain(c);
      for (size_t i = 0; i < c.in.size(); ++i) {
        if (c.mask[i] == 0) c.in[i] = value;
      }
      PreparedSoftmax hidden(c);
      for (PreparedSoftmax* prepared : {&plain, &hidden}) {
        ASSERT_TRUE(prepared->RunSoftmax(OneThread()).ok());
        ASSERT_TRUE(prepared->RunLogSumExp(OneThread()).ok());
      }
      EXPECT_EQ(plain.out().Values(), hidden.out().Values());
      EXPECT_EQ(plain.lse().Values(), hidden.lse().Values());
      ExpectMatchesReference(c);
    }
  }
}

TEST(SoftmaxEdges, MaskedColumnsOfARowWithNanAreZero) {
  SoftmaxCase c = Row(Gen(2, 29));
  c.in[5] = kNan;
  c.mask_sizes = c.sizes;
  c.mask = UniformMask(29, true);
  for (const size_t hidden : {0U, 4U, 17U, 28U}) c.mask[hidden] = 0;
  ForEachOut(c, ExpectMatchesReference);
}

TEST(SoftmaxEdges, MinusInfinityAmongOthersHasWeightZero) {
  for (const int64_t columns : {2, 9, 16, 29, 67}) {
    SoftmaxCase c = Row(Gen(1, columns));
    for (size_t i = 0; i < c.in.size(); i += 3) c.in[i] = -kInf;
    ForEachOut(c, ExpectMatchesReference);
  }
}

TEST(SoftmaxEdges, RowsWithoutColumns) {
  SoftmaxCase c;
  c.sizes = {1, 2, 3, 0};
  ExpectZeros(c);
}

TEST(SoftmaxEdges, NoRows) {
  for (const Sizes& sizes : {Sizes{0, 2, 3, 4}, Sizes{2, 0, 3, 4}, Sizes{2, 3, 0, 4}}) {
    const Tensor none(static_cast<float*>(nullptr), sizes);
    EXPECT_TRUE(Softmax(none, none).ok());
    const Tensor lse(static_cast<float*>(nullptr), {sizes[0], sizes[1], sizes[2], 1});
    EXPECT_TRUE(LogSumExp(none, lse).ok());
  }
}

TEST(SoftmaxEdges, C071LogSumExpIsNatural) {
  const SoftmaxCase zeros = Row({0, 0, 0, 0});
  const SoftmaxCase one = Row({2.5F});
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    for (const std::string& target : TestedTargets()) {
      SoftmaxCase c = zeros;
      c.in_type = type;
      PreparedSoftmax four(c);
      ASSERT_TRUE(four.RunLogSumExp(OneThread(target)).ok());
      EXPECT_NEAR(four.lse().Values()[0], 1.38629436, 1e-6) << target;
      c = one;
      c.in_type = type;
      PreparedSoftmax single(c);
      ASSERT_TRUE(single.RunLogSumExp(OneThread(target)).ok());
      EXPECT_EQ(single.lse().Values()[0], 2.5F) << target;
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
