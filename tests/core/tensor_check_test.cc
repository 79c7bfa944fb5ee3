// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Which arrays a call accepts, apart from what it does with them.

#include "src/core/tensor_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise::core {
namespace {

constexpr DataType kF32 = DataType::kF32;
constexpr Sizes kSizes = {2, 3, 4, 5};
constexpr int64_t kCount = 120;

class TensorCheck : public ::testing::Test {
 protected:
  Tensor Output(const Sizes& sizes, const Sizes& strides) {
    return Tensor(floats_.data(), sizes, strides);
  }
  bool IsOutput(const Sizes& sizes, const Sizes& strides) {
    return CheckOutput("out", Output(sizes, strides), kF32, sizes).ok();
  }
  // Whether `count` floats from `first` on lie apart from the floats [40, 60).
  bool Apart(int64_t first, int64_t count) {
    const Tensor out(floats_.data() + 40, {1, 1, 4, 5});
    const ConstTensor other(floats_.data() + first, {1, 1, 1, count});
    return CheckApart("out", out, "q", other).ok();
  }

  std::vector<float> floats_ = std::vector<float>(kCount);
};

TEST_F(TensorCheck, SizesAreNotNegativeAndFit) {
  EXPECT_TRUE(CheckSizes("in", {0, 1, 2, 3}).ok());
  EXPECT_FALSE(CheckSizes("in", {1, 1, -1, 3}).ok());
  EXPECT_TRUE(CheckSizes("in", {1, 1, 1, INT64_MAX / 4}).ok());
  EXPECT_FALSE(CheckSizes("in", {1, 1, 1, INT64_MAX / 4 + 1}).ok());
  EXPECT_FALSE(CheckSizes("in", {1, 1, int64_t{1} << 32, int64_t{1} << 32}).ok());
}

TEST_F(TensorCheck, ElementsOfAnOutputDoNotCoincide) {
  EXPECT_TRUE(IsOutput(kSizes, {60, 20, 5, 1}));
  EXPECT_TRUE(IsOutput(kSizes, {20, 40, 5, 1}));      // any order of the axes
  EXPECT_TRUE(IsOutput({1, 1, 4, 5}, {0, 0, 5, 1}));  // strides of single elements mean nothing
  EXPECT_FALSE(IsOutput(kSizes, {60, 20, 4, 1}));
  EXPECT_FALSE(IsOutput(kSizes, {60, 20, 0, 1}));
  EXPECT_FALSE(IsOutput(kSizes, {60, 0, 5, 1}));
  EXPECT_FALSE(IsOutput(kSizes, {60, 60, 5, 1}));
  EXPECT_FALSE(IsOutput({1, 1, 4, 5}, {0, 0, 5, 2}));  // last stride
}

TEST_F(TensorCheck, RowsMayGoBackwards) {
  const Tensor back(floats_.data() + 115, kSizes, {-60, -20, -5, 1});
  EXPECT_TRUE(CheckOutput("out", back, kF32, kSizes).ok());
  // From the first float on.
  const ConstTensor first(floats_.data(), {1, 1, 1, 1});
  EXPECT_FALSE(CheckApart("out", back, "q", first).ok());
}

TEST_F(TensorCheck, ArraysLieApartToTheLastElement) {
  EXPECT_TRUE(Apart(0, 40));
  EXPECT_FALSE(Apart(0, 41));
  EXPECT_FALSE(Apart(45, 3));
  EXPECT_FALSE(Apart(59, 10));
  EXPECT_TRUE(Apart(60, 10));
  EXPECT_TRUE(Apart(50, 0));  // no elements
}

TEST_F(TensorCheck, BytesOfArrays) {
  const std::vector<int64_t> numbers(7);
  EXPECT_EQ(BytesOf(ArrayView<int64_t>{numbers.data(), 7}).sizes, (Sizes{1, 1, 1, 56}));
  EXPECT_EQ(BytesOf(floats_.data(), kCount).sizes, (Sizes{1, 1, 1, 480}));
}

TEST_F(TensorCheck, EntriesAreAsManyAsExpected) {
  const int64_t number = 3;
  EXPECT_TRUE(CheckEntries("kv_len", &number, 1, 1).ok());
  EXPECT_TRUE(CheckEntries("kv_len", nullptr, 0, 0).ok());
  EXPECT_FALSE(CheckEntries("kv_len", nullptr, 1, 1).ok());
  EXPECT_FALSE(CheckEntries("kv_len", &number, 1, 2).ok());
}

}  // namespace
}  // namespace lanewise::core
