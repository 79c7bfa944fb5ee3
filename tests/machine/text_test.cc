// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Parsing of what /proc and /sys hold.

#include "src/machine/text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>  // mkfifo

#include <limits>

#include "tests/machine/temp_tree.h"

namespace lanewise::machine {
namespace {

TEST(TextTest, Trim) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(TextTest, TakeUntil) {
  std::string_view rest = "a::b";
  EXPECT_EQ(TakeUntil(':', &rest), "a");
  EXPECT_EQ(TakeUntil(':', &rest), "");
  EXPECT_EQ(TakeUntil(':', &rest), "b");
  EXPECT_EQ(rest, "");
  EXPECT_EQ(TakeUntil(':', &rest), "");
}

TEST(TextTest, ListContainsWholeItemsOnly) {
  EXPECT_TRUE(ListContains("rw,cpu,cpuacct", "cpu"));
  EXPECT_FALSE(ListContains("cpuset,cpuacct", "cpu"));
  EXPECT_FALSE(ListContains("", "cpu"));
}

TEST(TextTest, ParseInteger) {
  EXPECT_EQ(ParseInteger("64\n"), 64);
  EXPECT_EQ(ParseInteger("-1"), -1);
  EXPECT_EQ(ParseInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* text : {"", " ", "max", "1.5", "64K", "0x10", "1 2", "+1", "--1", "1e3",
                           "9223372036854775808", "99999999999999999999999"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
}

TEST(TextTest, ParseBytes) {
  EXPECT_EQ(ParseBytes("48K\n"), 48 << 10);
  EXPECT_EQ(ParseBytes("2048K"), 2 << 20);
  EXPECT_EQ(ParseBytes("32m"), 32 << 20);
  EXPECT_EQ(ParseBytes("1G"), 1 << 30);
  EXPECT_EQ(ParseBytes("32768"), 32768);
  EXPECT_EQ(ParseBytes("0K"), 0);
  for (const char* text : {"", "K", "-1K", "48KB", "48 KiB", "1.5M", "9223372036854775807K",
                           "99999999999999999999K", "K48"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
}

TEST(TextTest, CountCpuList) {
  EXPECT_EQ(CountCpuList("0\n"), 1);
  EXPECT_EQ(CountCpuList("0-3,8,10-11"), 7);
  EXPECT_EQ(CountCpuList("1024-2047"), 1024);
  for (const char* text : {"", "a", "3-1", "-1", "3-", "0-99999999999", "0-1048575,0", "0,,1",
                           "0-9223372036854775807"}) {
    EXPECT_EQ(CountCpuList(text), 0) << text;
  }
}

TEST(TextTest, ReadFileIsBounded) {
  const TempTree tree;
  tree.Write("big", std::string(100000, 'x'));
  tree.Write("zeros", std::string_view("a\0b", 3));
  EXPECT_EQ(ReadFile(tree.Path("big"), 10), "xxxxxxxxxx");
  EXPECT_EQ(ReadFile(tree.Path("big"), 1 << 20).size(), 100000U);
  EXPECT_EQ(ReadFile(tree.Path("zeros"), 100).size(), 3U);
  EXPECT_EQ(ReadFile(tree.Path("big"), 0), "");
}

TEST(TextTest, WhatIsNoReadableFileIsEmpty) {
  const TempTree tree;
  ASSERT_EQ(mkfifo(tree.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(tree.Path("absent"), 100), "");
  EXPECT_EQ(ReadFile(tree.root(), 100), "");
  EXPECT_EQ(ReadFile(tree.Path("pipe"), 100), "") << "must not block either";
  EXPECT_EQ(ReadFile("", 100), "");
  EXPECT_EQ(ReadFile(std::string(100000, 'p'), 100), "");
}

}  // namespace
}  // namespace lanewise::machine
