// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Errors of AppendKv and RewindKv: what they say, and that nothing was written.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lanewise/kv_cache.h"
#include "tests/support/attention_case.h"
#include "tests/support/mentions.h"
#include "tests/support/process.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Two items, three heads, five slots; two tokens to append. Each test breaks something.
class KvCacheErrors : public ::testing::Test {
 protected:
  KvCacheErrors() {
    cache_.k = Tensor(k_.data(), {2, 3, 5, 4});
    cache_.v = Tensor(v_.data(), {2, 3, 5, 7});
    cache_.length = length_;
    cache_.batch = 2;
  }

  void MakeRing() { cache_.oldest = oldest_; }
  // Three pages of two slots for each item, in a pool of six.
  void MakePaged() {
    cache_.k.sizes = {6, 3, 2, 4};
    cache_.v.sizes = {6, 3, 2, 7};
    cache_.k.strides = DenseStrides(cache_.k.sizes);
    cache_.v.strides = DenseStrides(cache_.v.sizes);
    cache_.page_table = {ids_, 2, 3};
  }

  void ExpectNothingWritten() {
    EXPECT_EQ(k_, Repeat(-1, 144));
    EXPECT_EQ(v_, Repeat(-1, 252));
    EXPECT_EQ(new_k_, Repeat(7, 48));
    EXPECT_EQ(new_v_, Repeat(7, 84));
  }

  // Of both functions, about the cache itself.
  void ExpectBadCache(const std::vector<std::string>& words) {
    const std::vector<int64_t> lengths(length_, length_ + 2);
    EXPECT_THAT(RewindKv(cache_, 0, 0), IsInvalid(words));
    EXPECT_THAT(AppendKv(cache_, appended_k_, appended_v_), IsInvalid(words));
    EXPECT_EQ(std::vector<int64_t>(length_, length_ + 2), lengths);
    ExpectNothingWritten();
  }
  void ExpectBadAppend(const std::vector<std::string>& words) {
    EXPECT_TRUE(RewindKv(cache_, 0, length_[0]).ok());
    const std::vector<int64_t> lengths(length_, length_ + 2);
    EXPECT_THAT(AppendKv(cache_, appended_k_, appended_v_, tokens_), IsInvalid(words));
    EXPECT_EQ(std::vector<int64_t>(length_, length_ + 2), lengths);
    ExpectNothingWritten();
  }

  std::vector<float> k_ = Repeat(-1, 144);
  std::vector<float> v_ = Repeat(-1, 252);
  int64_t length_[2] = {1, 2};
  int64_t oldest_[2] = {0, 0};
  int32_t ids_[6] = {5, 1, 3, 0, 2, 4};
  KvCache cache_;
  std::vector<float> new_k_ = Repeat(7, 48);
  std::vector<float> new_v_ = Repeat(7, 84);
  ConstTensor appended_k_ = ConstTensor(new_k_.data(), {2, 3, 2, 4});
  ConstTensor appended_v_ = ConstTensor(new_v_.data(), {2, 3, 2, 7});
  ArrayView<int64_t> tokens_ = {};
};

TEST_F(KvCacheErrors, TypesOfTheCache) {
  cache_.k.type = DataType::kBool;
  ExpectBadCache({"cache.k", "bool", "f32", "f16", "bf16"});
  cache_.k.type = DataType::kF32;
  cache_.v.type = static_cast<DataType>(9);
  ExpectBadCache({"cache.v", "unknown"});
}

TEST_F(KvCacheErrors, SizesOfTheCache) {
  cache_.v.sizes[2] = 4;
  ExpectBadCache({"cache.v", "[2, 3, 4, 7]", "[2, 3, 5, 7]"});
  cache_.v.sizes = {2, 1, 5, 7};
  ExpectBadCache({"cache.v", "[2, 1, 5, 7]", "[2, 3, 5, 7]"});
  cache_.v.sizes = {2, 3, 5, 7};
  cache_.k.sizes[2] = -5;
  ExpectBadCache({"cache.k", "-5", "0"});
  cache_.k.sizes[2] = 5;
  cache_.batch = 3;
  ExpectBadCache({"cache.batch", "3", "2", "cache.k"});
  cache_.batch = -1;
  ExpectBadCache({"cache.batch", "-1", "2"});
}

TEST_F(KvCacheErrors, MemoryOfTheCache) {
  cache_.v.data = nullptr;
  ExpectBadCache({"cache.v", "null"});
  cache_.v.data = v_.data();
  cache_.k.strides[1] = 0;
  ExpectBadCache({"cache.k", "strides", "0"});
  cache_.k.strides = {60, 20, 4, 2};
  ExpectBadCache({"cache.k", "stride", "2", "1"});
  cache_.k.strides = {kMax / 2, 20, 4, 1};
  ExpectBadCache({"cache.k", "64"});
  cache_.k.strides = {60, 20, 4, 1};
  cache_.length = nullptr;
  ExpectBadCache({"cache.length", "null", "2"});
  cache_.length = reinterpret_cast<int64_t*>(k_.data() + 4);
  length_[0] = 1;
  std::fill_n(cache_.length, 2, 0);
  EXPECT_THAT(RewindKv(cache_, 0, 0), IsInvalid({"cache.k", "cache.length", "memory"}));
  std::fill_n(k_.begin() + 4, 4, -1.0F);
  cache_.length = length_;
  cache_.oldest = length_;
  ExpectBadCache({"cache.length", "cache.oldest", "memory"});
}

TEST_F(KvCacheErrors, Lengths) {
  for (const int64_t wrong : {int64_t{-1}, int64_t{6}, kMax}) {
    length_[1] = wrong;
    ExpectBadCache({"cache.length", std::to_string(wrong), "batch item 1", "5"});
  }
  MakeRing();
  length_[1] = -1;
  ExpectBadCache({"cache.length", "-1", "batch item 1", "0"});
  length_[1] = 9;
  for (const int64_t wrong : {3, 10, -1}) {
    oldest_[1] = wrong;
    ExpectBadCache({"cache.oldest", std::to_string(wrong), "batch item 1", "4", "9", "5"});
  }
}

TEST_F(KvCacheErrors, WindowOfARing) {
  cache_.window_left = 3;
  ExpectBadCache({"cache.window_left", "3", "oldest", "-1"});
  MakeRing();
  for (const int64_t wrong : {5, -2}) {
    cache_.window_left = wrong;
    ExpectBadCache({"cache.window_left", std::to_string(wrong), "0", "4", "-1"});
  }
  cache_.window_left = kUnlimited;
  cache_.k = Tensor(k_.data(), {2, 3, 0, 4});
  cache_.v = Tensor(v_.data(), {2, 3, 0, 7});
  ExpectBadCache({"cache.k", "0", "ring"});
}

TEST_F(KvCacheErrors, PageTable) {
  MakePaged();
  cache_.page_table.ids = nullptr;
  ExpectBadCache({"cache.page_table", "null", "2", "3"});
  cache_.page_table = {ids_, 2, -3};
  ExpectBadCache({"cache.page_table", "-3", "1"});
  cache_.page_table = {ids_, 2, 0};
  ExpectBadCache({"cache.page_table", "0", "1"});
  cache_.page_table = {ids_, -2, 3};
  ExpectBadCache({"cache.page_table", "-2", "0"});
  cache_.page_table = {ids_, 2, kMax / 2 + 1};
  ExpectBadCache({"cache.page_table", std::to_string(kMax / 2 + 1), "64"});
  cache_.page_table = {ids_, 1, 3};
  ExpectBadCache({"cache.batch", "2", "1", "cache.page_table"});
  cache_.page_table = {reinterpret_cast<const int32_t*>(v_.data()) + 30, 2, 3};
  ExpectBadCache({"cache.v", "cache.page_table", "memory"});
}

// Item 1 is wrong, item 0 is not written either.
TEST_F(KvCacheErrors, PageIds) {
  MakePaged();
  for (const int32_t wrong : {-1, 6, std::numeric_limits<int32_t>::max()}) {
    ids_[4] = wrong;
    ExpectBadAppend(
        {"cache.page_table", std::to_string(wrong), "position 2", "batch item 1", "0", "5"});
  }
}

TEST_F(KvCacheErrors, AppendedArrays) {
  appended_v_.type = DataType::kBool;
  ExpectBadAppend({"v", "bool"});
  appended_v_.type = DataType::kF32;
  appended_k_.sizes[0] = 1;
  ExpectBadAppend({"k", "[1, 3, 2, 4]", "[2, 3, 2, 4]"});
  appended_k_.sizes = {2, 3, 2, 5};
  ExpectBadAppend({"k", "[2, 3, 2, 5]", "[2, 3, 2, 4]"});
  appended_k_.sizes = {2, 3, -2, 4};
  ExpectBadAppend({"k", "-2", "0"});
  appended_k_.sizes = {2, 3, 1, 4};
  ExpectBadAppend({"v", "[2, 3, 2, 7]", "[2, 3, 1, 7]"});
  appended_k_.sizes = {2, 3, 2, 4};
  appended_k_.data = nullptr;
  ExpectBadAppend({"k", "null"});
  appended_k_.data = new_k_.data();
  appended_v_.strides[3] = 2;
  ExpectBadAppend({"v", "stride", "2", "1"});
}

TEST_F(KvCacheErrors, AppendedMemoryOfTheCache) {
  appended_k_.data = k_.data() + 60;
  ExpectBadAppend({"cache.k", "memory", "k"});
  appended_k_.data = v_.data();
  ExpectBadAppend({"cache.v", "memory", "k"});
  appended_k_.data = new_k_.data();
  appended_v_.data = k_.data();
  ExpectBadAppend({"cache.k", "memory", "v"});
}

TEST_F(KvCacheErrors, Tokens) {
  const int64_t counts[2] = {1, 3};
  const int64_t negative[2] = {1, -1};
  tokens_ = {counts, 1};
  ExpectBadAppend({"tokens", "1", "2"});
  tokens_ = {nullptr, 2};
  ExpectBadAppend({"tokens", "null", "2"});
  tokens_ = {counts, 2};
  ExpectBadAppend({"tokens", "3", "batch item 1", "0", "2"});
  tokens_ = {negative, 2};
  ExpectBadAppend({"tokens", "-1", "batch item 1", "0", "2"});
  tokens_ = {length_, 2};
  ExpectBadAppend({"cache.length", "tokens", "memory"});
}

TEST_F(KvCacheErrors, Overflow) {
  length_[1] = 4;
  ExpectBadAppend({"k", "2", "batch item 1", "4", "6", "capacity", "5"});
  const int64_t counts[2] = {1, 2};
  tokens_ = {counts, 2};
  ExpectBadAppend({"tokens", "2", "batch item 1", "4", "6", "capacity", "5"});
  tokens_ = {};
  MakePaged();
  length_[1] = 5;
  ExpectBadAppend({"k", "2", "batch item 1", "5", "7", "capacity", "6"});
  // The positions of a ring come to an end as well.
  MakeRing();
  length_[1] = kMax - 1;
  oldest_[1] = kMax - 4;
  ExpectBadAppend({"k", "2", "batch item 1", std::to_string(kMax)});
}

TEST_F(KvCacheErrors, Rewind) {
  for (const int64_t wrong : {-1, 2}) {
    EXPECT_THAT(RewindKv(cache_, wrong, 0), IsInvalid({"batch_item", std::to_string(wrong), "2"}));
  }
  for (const int64_t wrong : {-1, 3}) {
    EXPECT_THAT(RewindKv(cache_, 1, wrong),
                IsInvalid({"length", std::to_string(wrong), "batch item 1", "0", "2"}));
  }
  MakeRing();
  length_[1] = 9;
  oldest_[1] = 4;
  EXPECT_THAT(RewindKv(cache_, 1, 7),
              IsInvalid({"length", "7", "batch item 1", "0", "8", "9", "3", "4"}));
  EXPECT_EQ(length_[0], 1);
  EXPECT_EQ(length_[1], 9);
  EXPECT_EQ(oldest_[1], 4);
  ExpectNothingWritten();
}

TEST_F(KvCacheErrors, TargetOfTheEnvironment) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (InFreshProcess()) {
    const Status status = AppendKv(cache_, appended_k_, appended_v_);
    if (!status.ok()) ExpectNothingWritten();
    return ReportToParent(status.ok() ? "appended" : status.message());
  }
  EXPECT_EQ(RunTestInFreshProcess({.environment = {{"LANEWISE_TARGET", ""}}}), "appended");
  EXPECT_THAT(RunTestInFreshProcess({.environment = {{"LANEWISE_TARGET", "AVX99"}}}),
              ::testing::HasSubstr("target \"AVX99\""));
}

}  // namespace
}  // namespace lanewise::testing
