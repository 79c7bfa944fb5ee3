// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp of rows against the reference: sizes around lanes, types, masks, strides,
// threads.

#include "lanewise/softmax.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/profile/defaults.h"
#include "tests/softmax/softmax_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF16, DataType::kBF16};

SoftmaxCase RowsOf(int64_t rows, int64_t columns, float spread = 8) {
  SoftmaxCase c;
  c.sizes = {1, 1, rows, columns};
  c.in = Gen(static_cast<uint32_t>(columns), rows * columns, spread);
  return c;
}

TEST(Softmax, SizesAroundLanesAndVectorsInStep) {
  for (int64_t columns = 0; columns <= 70; ++columns) ExpectMatchesReference(RowsOf(3, columns));
  for (const int64_t columns : {127, 128, 129, 255, 256, 257, 1000}) {
    ExpectMatchesReference(RowsOf(2, columns));
  }
}

TEST(Softmax, EveryPairOfTypes) {
  for (const DataType in_type : kTypes) {
    for (const DataType out_type : kTypes) {
      for (const int64_t columns : {1, 7, 16, 33, 100}) {
        SoftmaxCase c = RowsOf(3, columns);
        c.in_type = in_type;
        c.out_type = out_type;
        ExpectMatchesReference(c);
      }
    }
  }
}

TEST(Softmax, SmallResultsInHalfTypes) {
  SoftmaxCase c = RowsOf(2, 50, 40);  // down to e^-80, subnormal and zero as f16
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    c.out_type = type;
    ExpectMatchesReference(c);
  }
}

TEST(Softmax, ScalesOfEitherSignAndZero) {
  for (const float scale : {0.125F, 3.0F, -2.0F, 0.0F, -0.0F, 1e-30F}) {
    SoftmaxCase c = RowsOf(3, 37);
    c.scale = scale;
    ExpectMatchesReference(c);
  }
}

TEST(Softmax, LargeLogits) {
  SoftmaxCase c = RowsOf(3, 37, 1e4F);
  ExpectMatchesReference(c);
  c.in = Gen(5, 3 * 37, 1e30F);
  ExpectMatchesReference(c);
}

// Scores whose rounding is more than exp bears, beside their maximum.
TEST(Softmax, HugeLogitsOfAnyScale) {
  for (const float size : {1e10F, 3e12F, 1e30F, 3.4e38F}) {
    for (const float scale : {1.0F, 0.9F, 0.7F, 0.3F, 1e-3F, 1e-38F, 1e-42F, -0.7F}) {
      SoftmaxCase equal = RowsOf(2, 37);
      equal.scale = scale;
      for (float& x : equal.in) x = size;
      ExpectMatchesReference(equal);
      for (float& x : equal.in) x = -size;
      ExpectMatchesReference(equal);
      equal.in = Gen(5, 2 * 37, size);
      ExpectMatchesReference(equal);
    }
  }
}

// A row of the lowest number, as masks by bias leave them.
TEST(Softmax, EqualLowestLogitsWeighTheSame) {
  SoftmaxCase c = RowsOf(1, 8);
  c.scale = 0.7F;
  for (float& x : c.in) x = std::numeric_limits<float>::lowest();
  std::vector<float> out(8);
  SoftmaxOptions options;
  options.scale = c.scale;
  const Sizes sizes = {1, 1, 1, 8};
  ASSERT_TRUE(Softmax(ConstTensor(c.in.data(), sizes), Tensor(out.data(), sizes), options).ok());
  for (const float x : out) EXPECT_EQ(x, 0.125F);
}

TEST(Softmax, MasksThatBroadcastAlongAnyAxis) {
  for (int axes = 0; axes < 16; ++axes) {
    SoftmaxCase c;
    c.sizes = {2, 3, 4, 21};
    c.in = Gen(7, Count(c.sizes), 4);
    for (size_t axis = 0; axis < 4; ++axis) {
      c.mask_sizes[axis] = (axes >> axis) % 2 == 0 ? c.sizes[axis] : 1;
    }
    c.mask = RandomMask(static_cast<uint32_t>(axes), Count(c.mask_sizes), 50);
    SCOPED_TRACE(axes);
    ExpectMatchesReference(c);
  }
}

TEST(Softmax, MasksOfEverySizeAndType) {
  for (const DataType in_type : kTypes) {
    for (int64_t columns = 1; columns <= 70; columns += in_type == DataType::kF32 ? 1 : 11) {
      SoftmaxCase c = RowsOf(3, columns);
      c.in_type = in_type;
      c.mask_sizes = c.sizes;
      c.mask = RandomMask(static_cast<uint32_t>(columns), Count(c.sizes), 60);
      ExpectMatchesReference(c);
    }
  }
}

TEST(Softmax, AnyStrides) {
  for (const StrideRule in_strides : {DenseStrides, PaddedStrides, PackedStrides}) {
    for (const StrideRule out_strides : {DenseStrides, PaddedStrides, PackedStrides}) {
      SoftmaxCase c;
      c.sizes = {2, 3, 5, 19};
      c.in = Gen(11, Count(c.sizes), 4);
      c.in_strides = in_strides;
      c.out_strides = out_strides;
      ExpectMatchesReference(c);
    }
  }
}

TEST(Softmax, InputsThatBroadcast) {
  for (const StrideRule strides : {SharedRowStrides, SharedHeadStrides, SharedBatchStrides}) {
    SoftmaxCase c;
    c.sizes = {2, 3, 5, 19};
    c.in = Gen(12, Count(c.sizes), 4);
    c.in_strides = strides;
    PreparedSoftmax prepared(c);
    const auto expected = prepared.Expected();
    ASSERT_TRUE(prepared.RunSoftmax(OneThread()).ok());
    ExpectNear(prepared.out(), expected.out, expected.out_tolerance, "shared");
  }
}

TEST(Softmax, RowsBelongToTheInnermostAxesThatLieEvenly) {
  for (const Sizes& sizes : {Sizes{6, 1, 1, 9}, Sizes{1, 6, 1, 9}, Sizes{2, 1, 3, 9}}) {
    SoftmaxCase c;
    c.sizes = sizes;
    c.in = Gen(13, Count(c.sizes), 4);
    ExpectMatchesReference(c);
  }
}

TEST(Softmax, RowsLongerThanCaches) {
  for (const int64_t columns : {profile::kResidentColumns, profile::kResidentColumns + 1}) {
    PreparedSoftmax prepared(RowsOf(1, columns));
    const auto expected = prepared.Expected();
    ASSERT_TRUE(prepared.RunInPlace(OneThread()).ok());
    ExpectNear(prepared.in(), expected.out, expected.out_tolerance, "in place");
  }
}

TEST(Softmax, WeightsSumToOne) {
  SoftmaxCase c = RowsOf(5, 777);
  PreparedSoftmax prepared(c);
  ASSERT_TRUE(prepared.RunSoftmax(OneThread()).ok());
  const std::vector<float> out = prepared.out().Values();
  for (size_t row = 0; row < 5; ++row) {
    double sum = 0;
    for (size_t j = 0; j < 777; ++j) sum += double{out[row * 777 + j]};
    EXPECT_NEAR(sum, 1, 777 * 0x1p-24);
  }
}

// With threads the bits are those of one thread.
void ExpectSameBitsOnThreads(const SoftmaxCase& c) {
  const auto bits = [&](int threads) {
    PreparedSoftmax prepared(c);
    Runtime runtime = OneThread();
    runtime.threads = threads;
    EXPECT_TRUE(prepared.RunSoftmax(runtime).ok());
    EXPECT_TRUE(prepared.RunLogSumExp(runtime).ok());
    std::vector<uint32_t> result;
    for (const float v : prepared.out().Values()) result.push_back(std::bit_cast<uint32_t>(v));
    for (const float v : prepared.lse().Values()) result.push_back(std::bit_cast<uint32_t>(v));
    return result;
  };
  const std::vector<uint32_t> expected = bits(1);
  for (const int threads : {0, 2, 3, 7}) EXPECT_EQ(bits(threads), expected) << threads;
}

TEST(Softmax, ThreadsDoNotChangeBits) {
  SoftmaxCase c;
  c.sizes = {3, 5, 7, 401};  // above the size that one thread does alone
  c.in = Gen(17, Count(c.sizes), 6);
  c.in_strides = PaddedStrides;
  ExpectSameBitsOnThreads(c);
  c.mask_sizes = {1, 5, 1, 401};
  c.mask = RandomMask(3, Count(c.mask_sizes), 50);
  ExpectSameBitsOnThreads(c);
}

TEST(Softmax, ARowDoesNotDependOnTheOthers) {
  const SoftmaxCase all = RowsOf(9, 133);
  PreparedSoftmax prepared(all);
  ASSERT_TRUE(prepared.RunSoftmax(OneThread()).ok());
  const std::vector<float> out = prepared.out().Values();
  for (size_t row = 0; row < 9; ++row) {
    SoftmaxCase one = RowsOf(1, 133);
    one.in.assign(all.in.begin() + static_cast<int64_t>(row * 133),
                  all.in.begin() + static_cast<int64_t>((row + 1) * 133));
    PreparedSoftmax alone(one);
    ASSERT_TRUE(alone.RunSoftmax(OneThread()).ok());
    const std::vector<float> expected = alone.out().Values();
    for (size_t j = 0; j < 133; ++j) ASSERT_EQ(out[row * 133 + j], expected[j]) << row << ", " << j;
  }
}

}  // namespace
}  // namespace lanewise::testing
