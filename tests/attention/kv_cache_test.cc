// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// AppendKv and RewindKv: which token lies where, in every layout, and what stays untouched.

#include "lanewise/kv_cache.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/kv_history.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF16, DataType::kBF16};

// One head, one column: a token is a number, and so is a slot.
struct SmallCache {
  explicit SmallCache(int64_t slots) : k(Repeat(-1, slots)), v(Repeat(-1, slots)) {
    cache.k = Tensor(k.data(), {1, 1, slots, 1});
    cache.v = Tensor(v.data(), {1, 1, slots, 1});
    cache.length = &length;
    cache.batch = 1;
  }
  SmallCache(const SmallCache&) = delete;
  SmallCache& operator=(const SmallCache&) = delete;

  Status Append(const std::vector<float>& tokens) {
    std::vector<float> values(tokens);
    for (float& value : values) value += 100;
    const Sizes sizes = {1, 1, static_cast<int64_t>(tokens.size()), 1};
    return AppendKv(cache, ConstTensor(tokens.data(), sizes), ConstTensor(values.data(), sizes));
  }

  std::vector<float> k;
  std::vector<float> v;
  int64_t length = 0;
  int64_t oldest = 0;
  KvCache cache;
};

TEST(KvCache, BlockByHand) {
  SmallCache c(6);
  ASSERT_TRUE(c.Append({0, 1, 2}).ok());
  ASSERT_TRUE(c.Append({3}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{0, 1, 2, 3, -1, -1}));
  EXPECT_EQ(c.v, (std::vector<float>{100, 101, 102, 103, -1, -1}));
  EXPECT_EQ(c.length, 4);
  EXPECT_EQ(c.cache.KvLen(0), 4);
  EXPECT_EQ(c.cache.KvFirst(0), 0);
  ASSERT_TRUE(RewindKv(c.cache, 0, 2).ok());
  EXPECT_EQ(c.length, 2);
  ASSERT_TRUE(c.Append({12, 13, 14, 15}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{0, 1, 12, 13, 14, 15}));
  EXPECT_EQ(c.length, 6);
}

TEST(KvCache, RingByHand) {
  SmallCache c(4);
  c.cache.oldest = &c.oldest;
  ASSERT_TRUE(c.Append({0, 1, 2}).ok());
  EXPECT_EQ(c.cache.KvLen(0), 3);
  EXPECT_EQ(c.cache.KvFirst(0), 0);
  ASSERT_TRUE(c.Append({3, 4, 5}).ok());  // wraps
  EXPECT_EQ(c.k, (std::vector<float>{4, 5, 2, 3}));
  EXPECT_EQ(c.v, (std::vector<float>{104, 105, 102, 103}));
  EXPECT_EQ(c.length, 6);
  EXPECT_EQ(c.oldest, 2);
  EXPECT_EQ(c.cache.KvLen(0), 4);
  EXPECT_EQ(c.cache.KvFirst(0), 2);
  ASSERT_TRUE(RewindKv(c.cache, 0, 5).ok());
  EXPECT_EQ(c.cache.KvLen(0), 3);
  EXPECT_EQ(c.cache.KvFirst(0), 2);
  ASSERT_TRUE(c.Append({15}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{4, 15, 2, 3}));
  EXPECT_EQ(c.oldest, 2);
  // More than there are slots: the last ones, each in its own slot.
  ASSERT_TRUE(c.Append({6, 7, 8, 9, 10, 11, 12, 13, 14}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{12, 13, 14, 11}));
  EXPECT_EQ(c.v, (std::vector<float>{112, 113, 114, 111}));
  EXPECT_EQ(c.length, 15);
  EXPECT_EQ(c.oldest, 11);
  EXPECT_EQ(c.cache.KvFirst(0), 3);
}

TEST(KvCache, PagesByHand) {
  SmallCache c(8);  // four pages of two rows, of which the item has three
  c.cache.k.sizes = c.cache.v.sizes = {4, 1, 2, 1};
  c.cache.k.strides = c.cache.v.strides = {2, 2, 1, 1};
  const int32_t ids[] = {3, 0, 2};
  c.cache.page_table = {ids, 1, 3};
  EXPECT_EQ(c.cache.slots(), 6);
  ASSERT_TRUE(c.Append({0, 1, 2}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{2, -1, -1, -1, -1, -1, 0, 1}));
  ASSERT_TRUE(c.Append({3, 4}).ok());
  EXPECT_EQ(c.k, (std::vector<float>{2, 3, -1, -1, 4, -1, 0, 1}));
  EXPECT_EQ(c.v, (std::vector<float>{102, 103, -1, -1, 104, -1, 100, 101}));
}

// Appends and takes back at random, and holds each step to the record.
class RandomSteps {
 public:
  RandomSteps(const KvCase& c, uint32_t seed) : case_(c), seed_(seed), history_(c) {}

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed_) + ", step " + std::to_string(step));
      if (Draw(3) == 0) {
        Rewind();
      } else {
        Append();
      }
      ASSERT_TRUE(history_.IsRight());
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  int64_t Draw(int64_t below) {
    return static_cast<int64_t>(GenBits(seed_, draws_++) % static_cast<uint64_t>(below));
  }

  void Rewind() {
    const int64_t item = Draw(case_.batch);
    const int64_t length = history_.length(item);
    int64_t back = Draw(4);
    if (Draw(4) == 0) back = Draw(length + 1);
    if (Draw(20) == 0) back = length;
    const std::vector<int64_t> before = history_.Contents();
    const bool possible = history_.CanRewind(item, length - back);
    EXPECT_EQ(history_.Rewind(item, length - back).ok(), possible)
        << "item " << item << ": " << back << " back from " << length << "\n"
        << case_.ToString();
    if (!possible) {
      EXPECT_EQ(history_.Contents(), before) << case_.ToString();
    }
  }

  void Append() {
    const bool ragged = Draw(2) == 0;
    std::vector<int64_t> counts(static_cast<size_t>(case_.batch));
    bool fits = true;
    for (size_t b = 0; b < counts.size(); ++b) {
      const int64_t count = Draw(30) == 0 ? Draw(3 * case_.slots) : Draw(4);
      counts[b] = ragged || b == 0 ? count : counts[0];
      const int64_t length = history_.length(static_cast<int64_t>(b));
      fits = fits && (case_.ring || length + counts[b] <= case_.slots);
    }
    const std::vector<int64_t> before = history_.Contents();
    const Status status = ragged ? history_.Append(counts) : history_.Append(counts[0]);
    EXPECT_EQ(status.ok(), fits) << status.message() << "\n" << case_.ToString();
    if (!fits) {
      EXPECT_EQ(history_.Contents(), before) << case_.ToString();
    }
  }

  KvCase case_;
  uint32_t seed_;
  uint32_t draws_ = 0;
  KvHistory history_;
};

TEST(KvCache, HoldsTheHistoryInAnyLayout) {
  uint32_t seed = 100;
  for (const StrideRule strides : {DenseStrides, PaddedStrides, PackedStrides}) {
    for (const bool ring : {false, true}) {
      for (const int64_t page_size : {0, 1, 3, 12}) {
        KvCase c;
        c.batch = 3;
        c.kv_heads = 2;
        c.slots = 12;
        c.page_size = page_size;
        c.dim = 5;
        c.value_dim = 3;
        c.ring = ring;
        c.strides = strides;
        c.new_strides = seed % 2 == 0 ? PackedStrides : PaddedStrides;
        c.guard = seed % 3 == 0 ? GuardSide::kBefore : GuardSide::kAfter;
        if (ring && seed % 2 == 0) c.window_left = 6;
        RandomSteps(c, seed++).Run(150);
      }
    }
  }
}

TEST(KvCache, HoldsTheHistoryOfEveryMixOfTypes) {
  uint32_t seed = 200;
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      KvCase c;
      c.batch = 2;
      c.kv_heads = 2;
      c.slots = 10;
      c.page_size = seed % 2 == 0 ? 0 : 5;
      c.dim = 37;  // whole vectors and a rest on every target
      c.value_dim = 19;
      c.ring = true;
      c.new_k_type = from;
      c.k_type = to;
      c.new_v_type = to;  // the mixes of v are those of k the other way round
      c.v_type = from;
      c.strides = c.new_strides = PaddedStrides;
      RandomSteps(c, seed++).Run(40);
    }
  }
}

TEST(SlowKvCache, HoldsLongHistories) {
  for (uint32_t seed = 300; seed < 312; ++seed) {
    KvCase c;
    c.batch = 1 + seed % 3;
    c.slots = seed % 4 < 2 ? 16 : 7;
    c.page_size = c.slots == 7 ? 0 : 4;
    c.dim = 3;
    c.value_dim = 2;
    c.ring = seed % 2 == 0;
    if (c.ring && seed % 3 == 0) c.window_left = static_cast<int64_t>(seed % 7);
    RandomSteps(c, seed).Run(3000);
  }
}

TEST(KvCache, EqualTypesCopyBits) {
  uint16_t tokens[2] = {0x7D01, 0x8001};  // a signalling NaN, a subnormal
  uint32_t values[2] = {0x7F800001, 0x80000001};
  uint16_t k[2] = {};
  uint32_t v[2] = {};
  int64_t length = 0;
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    KvCache cache;
    cache.k = Tensor(k, type, {1, 1, 2, 1});
    cache.v = Tensor(v, DataType::kF32, {1, 1, 2, 1});
    cache.length = &length;
    cache.batch = 1;
    length = 0;
    const Status status = AppendKv(cache, ConstTensor(tokens, type, {1, 1, 2, 1}),
                                   ConstTensor(values, DataType::kF32, {1, 1, 2, 1}));
    ASSERT_TRUE(status.ok()) << status.message();
    for (const size_t i : {0U, 1U}) {
      EXPECT_EQ(k[i], tokens[i]) << DataTypeName(type);
      EXPECT_EQ(v[i], values[i]);
      k[i] = 0;
      v[i] = 0;
    }
  }
}

// Keys and values of a page beside each other: [pages, 2, kv_heads, page_size, dim].
TEST(KvCache, KeysAndValuesInOnePool) {
  constexpr int64_t kDim = 2;
  const Sizes sizes = {3, 2, 4, kDim};
  const Sizes strides = {2 * 2 * 4 * kDim, 4 * kDim, kDim, 1};
  std::vector<float> pool = Repeat(-1, 3 * strides[0]);
  const int32_t ids[] = {2, 0};
  int64_t length = 0;
  KvCache cache;
  cache.k = Tensor(pool.data(), sizes, strides);
  cache.v = Tensor(pool.data() + strides[0] / 2, sizes, strides);
  cache.length = &length;
  cache.batch = 1;
  cache.page_table = {ids, 1, 2};
  const std::vector<float> k = Ramp(0, 1, 2 * 6 * kDim);
  const std::vector<float> v = Ramp(1000, 1, 2 * 6 * kDim);
  const Status status = AppendKv(cache, ConstTensor(k.data(), {1, 2, 6, kDim}),
                                 ConstTensor(v.data(), {1, 2, 6, kDim}));
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> want = Repeat(-1, 3 * strides[0]);
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t head = 0; head < 2; ++head) {
      for (int64_t p = 0; p < 6; ++p) {
        for (int64_t d = 0; d < kDim; ++d) {
          const int64_t at = (((ids[p / 4] * 2 + half) * 2 + head) * 4 + p % 4) * kDim + d;
          want[static_cast<size_t>(at)] =
              static_cast<float>(1000 * half + (head * 6 + p) * kDim + d);
        }
      }
    }
  }
  EXPECT_EQ(pool, want);
}

// Of each item the last rows; what lies before them may be anything.
TEST(KvCache, TokensAreTheLastRows) {
  const float nan = std::bit_cast<float>(0x7FC00000);
  const std::vector<float> rows = {0, 1, 2, nan, nan, nan, nan, nan, 20};
  const int64_t tokens[] = {3, 0, 1};
  std::vector<float> memory = Repeat(-1, 12);
  std::vector<float> values = Repeat(-1, 12);
  int64_t length[] = {0, 4, 2};
  KvCache cache;
  cache.k = Tensor(memory.data(), {3, 1, 4, 1});
  cache.v = Tensor(values.data(), {3, 1, 4, 1});
  cache.length = length;
  cache.batch = 3;
  const ConstTensor appended(rows.data(), {3, 1, 3, 1});
  const Status status = AppendKv(cache, appended, appended, {tokens, 3});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(memory, (std::vector<float>{0, 1, 2, -1, -1, -1, -1, -1, -1, -1, 20, -1}));
  EXPECT_EQ(values, memory);
  EXPECT_EQ((std::vector<int64_t>{length, length + 3}), (std::vector<int64_t>{3, 4, 3}));
}

// An id is looked at when its page is written to.
TEST(KvCache, IdsOfOtherPagesAreNotRead) {
  SmallCache c(8);
  c.cache.k.sizes = c.cache.v.sizes = {4, 1, 2, 1};
  c.cache.k.strides = c.cache.v.strides = {2, 2, 1, 1};
  int32_t ids[] = {1, -1, 99};
  c.cache.page_table = {ids, 1, 3};
  ASSERT_TRUE(c.Append({0, 1}).ok());
  EXPECT_THAT(c.Append({2}), IsInvalid({"page_table", "page", "-1", "position", "2", "0", "3"}));
  ids[0] = 77;
  ids[1] = 2;
  ASSERT_TRUE(c.Append({2, 3}).ok());
  EXPECT_THAT(c.Append({4}), IsInvalid({"page_table", "99", "position", "4"}));
  EXPECT_EQ(c.k, (std::vector<float>{-1, -1, 0, 1, 2, 3, -1, -1}));
  EXPECT_EQ(c.length, 4);
}

// A ring with slots to spare can go back as far as the window stays whole.
TEST(KvCache, WindowOfARingLeavesRoomToRewind) {
  SmallCache c(8);
  c.cache.oldest = &c.oldest;
  c.cache.window_left = 3;
  ASSERT_TRUE(c.Append(Ramp(0, 1, 20)).ok());  // holds 12 to 19
  EXPECT_THAT(RewindKv(c.cache, 0, 14), IsInvalid({"length", "14", "0", "15", "20", "11", "12"}));
  EXPECT_EQ(c.length, 20);
  ASSERT_TRUE(RewindKv(c.cache, 0, 15).ok());
  EXPECT_EQ(c.length, 15);
  EXPECT_EQ(c.oldest, 12);
  EXPECT_EQ(c.cache.KvLen(0), 3);
  ASSERT_TRUE(RewindKv(c.cache, 0, 15).ok());
  ASSERT_TRUE(RewindKv(c.cache, 0, 0).ok());
  EXPECT_EQ(c.length, 0);
  EXPECT_EQ(c.oldest, 0);
  // Emptied by hand at a later position.
  c.length = c.oldest = 9;
  EXPECT_TRUE(RewindKv(c.cache, 0, 9).ok());
  EXPECT_EQ(c.oldest, 9);
}

TEST(KvCache, ZeroSizes) {
  KvCache cache;
  const ConstTensor none(static_cast<const float*>(nullptr), {0, 0, 0, 0});
  EXPECT_TRUE(AppendKv(cache, none, none).ok());  // no batch items

  int64_t length = 5;
  cache.length = &length;
  cache.batch = 1;
  cache.k = Tensor(static_cast<float*>(nullptr), {1, 0, 8, 4});  // no heads
  cache.v = Tensor(static_cast<float*>(nullptr), {1, 0, 8, 2});
  EXPECT_TRUE(AppendKv(cache, ConstTensor(static_cast<const float*>(nullptr), {1, 0, 3, 4}),
                       ConstTensor(static_cast<const float*>(nullptr), {1, 0, 3, 2}))
                  .ok());
  EXPECT_EQ(length, 8);

  SmallCache c(4);  // no tokens
  EXPECT_TRUE(c.Append({}).ok());
  EXPECT_EQ(c.length, 0);
  c.cache.v.sizes[3] = 0;  // no columns of v
  const float key = 7;
  EXPECT_TRUE(AppendKv(c.cache, ConstTensor(&key, {1, 1, 1, 1}),
                       ConstTensor(static_cast<const float*>(nullptr), {1, 1, 1, 0}))
                  .ok());
  EXPECT_EQ(c.length, 1);
  EXPECT_EQ(c.k, (std::vector<float>{7, -1, -1, -1}));
  EXPECT_EQ(c.v, Repeat(-1, 4));
  // No slots.
  c.cache.k.sizes[2] = c.cache.v.sizes[2] = 0;
  c.length = 0;
  EXPECT_TRUE(AppendKv(c.cache, ConstTensor(&key, {1, 1, 0, 1}),
                       ConstTensor(static_cast<const float*>(nullptr), {1, 1, 0, 0}))
                  .ok());
  EXPECT_THAT(AppendKv(c.cache, ConstTensor(&key, {1, 1, 1, 1}),
                       ConstTensor(static_cast<const float*>(nullptr), {1, 1, 1, 0})),
              IsInvalid({"k", "1", "capacity", "0"}));
}

}  // namespace
}  // namespace lanewise::testing
