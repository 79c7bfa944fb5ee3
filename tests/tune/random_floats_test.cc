// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Random arrays: range, repeatability, alignment, errors.

#include "tune/random_floats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace lanewise::tune {
namespace {

std::vector<float> Values(const FloatArray& array) {
  return {array.data(), array.data() + array.size()};
}

TEST(RandomFloatsTest, UniformInMinusOneToOne) {
  const Result<FloatArray> array = RandomFloats(100000, 1);
  ASSERT_TRUE(array.ok());
  ASSERT_EQ(array->size(), 100000U);
  double sum = 0;
  double squares = 0;
  for (const float value : Values(*array)) {
    ASSERT_GE(value, -1.0F);
    ASSERT_LT(value, 1.0F);
    sum += value;
    squares += double{value} * value;
  }
  // Mean 0 with deviation 1/sqrt(3 n) = 0.0018; mean square 1/3 with deviation 0.00094.
  EXPECT_NEAR(sum / 1e5, 0.0, 0.01);
  EXPECT_NEAR(squares / 1e5, 1.0 / 3.0, 0.005);
}

TEST(RandomFloatsTest, SeedDecides) {
  const std::vector<float> a = Values(*RandomFloats(100, 7));
  EXPECT_EQ(Values(*RandomFloats(100, 7)), a);
  EXPECT_NE(Values(*RandomFloats(100, 8)), a);
}

TEST(FloatArrayTest, IsAligned) {
  for (const int64_t count : {0, 1, 31, 32, 33, 1000}) {
    const Result<FloatArray> array = FloatArray::Allocate(count);
    ASSERT_TRUE(array.ok()) << count;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % 128, 0U) << count;
    EXPECT_EQ(array->size_bytes(), static_cast<size_t>(count) * 4);
  }
}

TEST(FloatArrayTest, ImpossibleSizesAreErrors) {
  EXPECT_EQ(FloatArray::Allocate(-1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FloatArray::Allocate(std::numeric_limits<int64_t>::max()).status().code(),
            StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace lanewise::tune
