// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every item once, by workers that are never in two places at a time.

#include "src/parallel/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "tests/support/concurrency.h"

namespace lanewise::parallel {
namespace {

// How often each item was done, and whether a worker was busy twice.
class Log {
 public:
  Log(int64_t count, int workers)
      : done_(new std::atomic<int>[static_cast<size_t>(count)]()),
        busy_(new std::atomic<bool>[static_cast<size_t>(workers)]()),
        count_(count),
        workers_(workers) {}

  void Do(int worker, int64_t begin, int64_t end) {
    if (worker < 0 || worker >= workers_ || begin < 0 || end > count_ || begin >= end) {
      ++wrong_;
      return;
    }
    if (busy_[static_cast<size_t>(worker)].exchange(true)) ++wrong_;
    for (int64_t i = begin; i < end; ++i) ++done_[static_cast<size_t>(i)];
    busy_[static_cast<size_t>(worker)] = false;
  }

  bool AllOnce() const {
    for (int64_t i = 0; i < count_; ++i) {
      if (done_[static_cast<size_t>(i)] != 1) return false;
    }
    return wrong_ == 0;
  }

 private:
  std::unique_ptr<std::atomic<int>[]> done_;
  std::unique_ptr<std::atomic<bool>[]> busy_;
  int64_t count_;
  int workers_;
  std::atomic<int> wrong_{0};
};

bool RunsAllOnce(const Team& team, int64_t count, int64_t grain) {
  Log log(count, team.workers());
  const auto body = [&](int worker, int64_t begin, int64_t end) {
    if (end - begin > grain || (end - begin < grain && end != count)) begin = -1;
    log.Do(worker, begin, end);
  };
  team.Run(count, grain, RangeBody(body));
  return log.AllOnce();
}

TEST(Team, DoesEveryItemOnce) {
  for (const int threads : {0, 1, 2, 3, 64}) {
    const Team team(threads);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      for (const int64_t grain : {1, 3, 1000, 5000}) {
        EXPECT_TRUE(RunsAllOnce(team, count, grain))
            << threads << " threads, " << count << " items by " << grain;
      }
    }
  }
}

TEST(Team, HasAsManyWorkersAsAskedFor) {
  EXPECT_EQ(Team(1).workers(), 1);
  EXPECT_EQ(Team(5).workers(), 5);
  EXPECT_GE(Team(0).workers(), 1);
}

TEST(Team, OfOneStaysOnTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  const auto body = [&](int worker, int64_t, int64_t) {
    EXPECT_EQ(worker, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  };
  Team(1).Run(100, 1, RangeBody(body));
}

// Each run has workers of its own, whether teams or runs of one team go on at the same time. Not
// for the thread sanitizer: it cannot see how oneTBB hands work over (tests/support/concurrency.h).
TEST(Team, RunsAtTheSameTime) {
  const Team shared(2);
  const auto run = [&](size_t caller) {
    const Team own(2 + static_cast<int>(caller % 3));
    return RunsAllOnce(shared, 97, 5) && RunsAllOnce(own, 97, 5);
  };
  EXPECT_EQ(testing::FailuresAtOnce(6, 50, run), 0);
}

}  // namespace
}  // namespace lanewise::parallel
