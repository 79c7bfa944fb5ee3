// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The guards themselves: inside is usable, outside is not.

#include "tests/support/guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace lanewise::testing {
namespace {

// Does the kernel refuse to read one byte at `address`? (write() reports a bad address as an error,
// where a load would end the process.)
bool IsInaccessible(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool refused = write(ends[1], address, 1) < 0;
  close(ends[0]);
  close(ends[1]);
  return refused;
}

TEST(GuardedArray, EndsAtTheGuard) {
  for (const size_t count : {1U, 5U, 1023U, 1024U, 1025U}) {
    GuardedArray<float> array(count, GuardSide::kAfter);
    array[0] = 1.0F;
    array[count - 1] = 2.0F;
    EXPECT_FALSE(IsInaccessible(array.data() + count - 1)) << count;
    EXPECT_TRUE(IsInaccessible(array.data() + count)) << count;
  }
}

TEST(GuardedArray, BeginsAtTheGuard) {
  for (const size_t count : {1U, 5U, 1023U, 1024U, 1025U}) {
    GuardedArray<float> array(count, GuardSide::kBefore);
    array[0] = 1.0F;
    array[count - 1] = 2.0F;
    EXPECT_FALSE(IsInaccessible(array.data())) << count;
    EXPECT_TRUE(IsInaccessible(reinterpret_cast<const std::byte*>(array.data()) - 1)) << count;
  }
}

TEST(GuardedArray, EmptyArrayHasNoAccessibleByte) {
  GuardedArray<uint8_t> array(0);
  EXPECT_TRUE(IsInaccessible(array.data()));
  EXPECT_TRUE(IsInaccessible(array.data() - 1));
}

TEST(GuardedArray, IsZeroWhereAnotherOneWas) {
  for (const GuardSide side : {GuardSide::kBefore, GuardSide::kAfter}) {
    for (const size_t count : {3U, 1000U, 1024U, 5000U, 200'000U}) {
      {
        GuardedArray<uint32_t> before(count, side);
        for (size_t i = 0; i < count; ++i) before[i] = ~0U;
      }
      const GuardedArray<uint32_t> after(count + 1, side);
      for (size_t i = 0; i <= count; ++i) ASSERT_EQ(after[i], 0U) << i << " of " << count + 1;
    }
  }
}

TEST(GuardedArray, KeepsItsMemoryWhenMoved) {
  GuardedArray<float> from(3);
  from[2] = 7.0F;
  const float* data = from.data();
  const GuardedArray<float> to = std::move(from);
  const GuardedArray<float> other(3);
  EXPECT_EQ(to.data(), data);
  EXPECT_NE(other.data(), data);
  EXPECT_EQ(to[2], 7.0F);
}

}  // namespace
}  // namespace lanewise::testing
