// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/flags.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace lanewise::tools {
namespace {

TEST(ParseIntList, TakesDecimalNumbersBetweenCommas) {
  EXPECT_EQ(ParseIntList("5,-3,12"), (std::vector<int64_t>{5, -3, 12}));
  EXPECT_EQ(ParseIntList("7"), (std::vector<int64_t>{7}));
  EXPECT_EQ(ParseIntList("010"), (std::vector<int64_t>{10}));
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1 ,2", "x", "1.5", "0x10", "+-1", "+",
                           "9223372036854775808"}) {
    EXPECT_FALSE(ParseIntList(text)) << text;
  }
}

}  // namespace
}  // namespace lanewise::tools
