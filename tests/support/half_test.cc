// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The definition of f16 and bf16 against numbers known otherwise.

#include "tests/support/half.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Half, KnownNumbers) {
  const struct {
    DataType type;
    uint16_t bits;
    double value;
  } known[] = {{DataType::kF16, 0x3C00, 1.0},         {DataType::kF16, 0xC000, -2.0},
               {DataType::kF16, 0x3555, 0x1.554p-2},  {DataType::kF16, 0x7BFF, 65504.0},
               {DataType::kF16, 0x0400, 0x1p-14},     {DataType::kF16, 0x03FF, 0x1.FF8p-15},
               {DataType::kF16, 0x8001, -0x1p-24},    {DataType::kF16, 0x7C00, kInfinity},
               {DataType::kBF16, 0x3F80, 1.0},        {DataType::kBF16, 0xC040, -3.0},
               {DataType::kBF16, 0x7F7F, 0x1.FEp127}, {DataType::kBF16, 0x0080, 0x1p-126},
               {DataType::kBF16, 0x0001, 0x1p-133},   {DataType::kBF16, 0xFF80, -kInfinity}};
  for (const auto& number : known) {
    EXPECT_EQ(FromHalf(number.type, number.bits), number.value) << std::hex << number.bits;
    EXPECT_EQ(ToHalf(number.type, number.value), number.bits) << number.value;
  }
}

TEST(Half, EveryNumberComesBack) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    for (uint32_t i = 0; i < 0x10000; ++i) {
      const uint16_t bits = static_cast<uint16_t>(i);
      const double value = FromHalf(type, bits);
      if (std::isnan(value)) {
        EXPECT_EQ(ToHalf(type, value), std::signbit(value) ? 0xFFFF : 0x7FFF);
      } else {
        EXPECT_EQ(ToHalf(type, value), bits) << DataTypeName(type) << " " << value;
      }
    }
  }
}

TEST(Half, TiesGoToEven) {
  EXPECT_EQ(ToHalf(DataType::kF16, 2049), ToHalf(DataType::kF16, 2048));
  EXPECT_EQ(ToHalf(DataType::kF16, 2051), ToHalf(DataType::kF16, 2052));
  EXPECT_EQ(ToHalf(DataType::kF16, 0x1p-25), 0);
  EXPECT_EQ(ToHalf(DataType::kF16, std::nextafter(0x1p-25, 1)), 1);
  EXPECT_EQ(ToHalf(DataType::kF16, 65519.99), 0x7BFF);
  EXPECT_EQ(ToHalf(DataType::kF16, 65520), 0x7C00);
  EXPECT_EQ(ToHalf(DataType::kBF16, 1.00390625), 0x3F80);
  EXPECT_EQ(ToHalf(DataType::kBF16, 1.01171875), 0x3F82);
  EXPECT_EQ(ToHalf(DataType::kBF16, 1e39), 0x7F80);
}

// The bits of an f32 decide as well, in another way.
TEST(Half, BF16IsTheUpperPartOfAFloat) {
  for (uint32_t i = 0; i < 20000; ++i) {
    const uint32_t bits = GenBits(7, i);
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    const uint32_t rounded = (bits + 0x7FFFU + (bits >> 16) % 2) >> 16;
    EXPECT_EQ(ToHalf(DataType::kBF16, double{value}), rounded) << value;
  }
}

}  // namespace
}  // namespace lanewise::testing
