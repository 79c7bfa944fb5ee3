// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every member works once a call, on a thread of its own, at the same time.

#include "tune/thread_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace lanewise::tune {
namespace {

TEST(ThreadTeamTest, EveryMemberWorksOncePerCall) {
  for (const int size : {1, 2, 5}) {
    ThreadTeam team(size);
    ASSERT_EQ(team.size(), size);
    std::vector<int> calls(static_cast<size_t>(size), 0);
    for (int call = 0; call < 20; ++call) {
      const std::vector<double>& seconds =
          team.Run([&](int member) { ++calls[static_cast<size_t>(member)]; });
      ASSERT_EQ(seconds.size(), static_cast<size_t>(size));
      EXPECT_GE(*std::min_element(seconds.begin(), seconds.end()), 0.0);
    }
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(size), 20));
  }
}

TEST(ThreadTeamTest, MembersHaveTheirOwnThreads) {
  ThreadTeam team(4);
  std::vector<std::thread::id> first(4);
  std::vector<std::thread::id> second(4);
  team.Run([&](int member) { first[static_cast<size_t>(member)] = std::this_thread::get_id(); });
  team.Run([&](int member) { second[static_cast<size_t>(member)] = std::this_thread::get_id(); });
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), 4U);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0], std::this_thread::get_id());
}

// Would hang if one member could finish before another starts.
TEST(ThreadTeamTest, MembersWorkAtTheSameTime) {
  constexpr int kSize = 3;
  ThreadTeam team(kSize);
  std::atomic<int> arrived = 0;
  team.Run([&](int) {
    ++arrived;
    while (arrived < kSize) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, kSize);
}

TEST(ThreadTeamTest, SizeBelowOneIsTheCaller) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(-3).size(), 1);
}

// Counts the threads that have ended, of those that have held one.
std::atomic<int> ended = 0;
struct CountsAtEnd {
  ~CountsAtEnd() { ++ended; }
};

TEST(ThreadTeamTest, EndsItsThreads) {
  { ThreadTeam unused(3); }
  {
    ThreadTeam used(3);
    used.Run([](int member) {
      if (member > 0) static thread_local const CountsAtEnd counts;
    });
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace lanewise::tune
