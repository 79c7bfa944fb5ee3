// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The harness with timers that only pretend to take time.

#include "tune/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lanewise::tune {
namespace {

struct Call {
  size_t timer;
  int64_t repeats;
};

// Timers whose calls take given seconds, and a log of how they were called.
class FakeTimers {
 public:
  explicit FakeTimers(std::vector<double> seconds_per_call) {
    for (size_t i = 0; i < seconds_per_call.size(); ++i) {
      timers_.push_back([this, i, seconds = seconds_per_call[i]](int64_t repeats) {
        calls_.push_back({i, repeats});
        return seconds * static_cast<double>(repeats);
      });
    }
  }
  FakeTimers(const FakeTimers&) = delete;
  FakeTimers& operator=(const FakeTimers&) = delete;

  const std::vector<Timer>& timers() const { return timers_; }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  std::vector<Timer> timers_;
  std::vector<Call> calls_;
};

TEST(MeasureTest, RoundsInterleave) {
  FakeTimers fake({0.010, 0.020, 0.005});
  MeasureOptions options;
  options.seconds = 0;
  options.min_rounds = 4;
  const auto measured = MeasureInterleaved(fake.timers(), options);

  ASSERT_EQ(measured.size(), 3U);
  for (const Measurement& m : measured) EXPECT_EQ(m.samples.size(), 4U);
  // Warmth and one calibrating call for each, then the rounds.
  ASSERT_EQ(fake.calls().size(), 3U * 2 + 3 * 4);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(fake.calls()[i].timer, i / 2) << i;
  for (size_t i = 6; i < fake.calls().size(); ++i) EXPECT_EQ(fake.calls()[i].timer, i % 3) << i;
}

TEST(MeasureTest, ShortCallsAreRepeatedUntilASampleIsLongEnough) {
  FakeTimers fake({1e-6, 0.5e-3, 3e-3});
  MeasureOptions options;
  options.seconds = 0;
  options.sample_seconds = 2e-3;
  options.min_rounds = 3;
  const auto measured = MeasureInterleaved(fake.timers(), options);

  EXPECT_GE(measured[0].repeats, 2000);
  EXPECT_LE(measured[0].repeats, 3000);
  EXPECT_GE(measured[1].repeats, 4);
  EXPECT_LE(measured[1].repeats, 6);
  EXPECT_EQ(measured[2].repeats, 1);
  for (const Call& call : std::vector<Call>(fake.calls().end() - 9, fake.calls().end())) {
    EXPECT_EQ(call.repeats, measured[call.timer].repeats);
  }
  // Results are for one call.
  EXPECT_DOUBLE_EQ(measured[0].best, 1e-6);
  EXPECT_DOUBLE_EQ(measured[1].best, 0.5e-3);
  EXPECT_DOUBLE_EQ(measured[2].best, 3e-3);
}

TEST(MeasureTest, FirstCallDoesNotDecideTheRepeats) {
  int64_t count = 0;
  const std::vector<Timer> timers = {
      [&](int64_t repeats) { return ++count == 1 ? 1.0 : 1e-4 * static_cast<double>(repeats); }};
  MeasureOptions options;
  options.seconds = 0;
  EXPECT_GE(MeasureInterleaved(timers, options)[0].repeats, 20);
}

TEST(MeasureTest, StopsWhenTheTimeIsSpent) {
  FakeTimers fake({0.010, 0.030});
  MeasureOptions options;
  options.seconds = 1.0;
  const auto measured = MeasureInterleaved(fake.timers(), options);
  // Two calls of each before the rounds of 0.04 s: 0.08 + 23 * 0.04 = 1.0, give or take a round.
  EXPECT_GE(measured[0].samples.size(), 23U);
  EXPECT_LE(measured[0].samples.size(), 24U);
  EXPECT_EQ(measured[0].samples.size(), measured[1].samples.size());
}

TEST(MeasureTest, MinimumRoundsComeBeforeTheTime) {
  FakeTimers fake({2.0});
  MeasureOptions options;
  options.seconds = 1.0;
  options.min_rounds = 5;
  EXPECT_EQ(MeasureInterleaved(fake.timers(), options)[0].samples.size(), 5U);
}

TEST(MeasureTest, TimersThatTakeNoTimeEnd) {
  FakeTimers fake({0.0});
  MeasureOptions options;
  options.max_rounds = 7;
  const auto measured = MeasureInterleaved(fake.timers(), options);
  EXPECT_EQ(measured[0].samples.size(), 7U);
  EXPECT_EQ(measured[0].best, 0.0);
  EXPECT_EQ(measured[0].spread(), 0.0);
}

TEST(MeasureTest, NoTimers) { EXPECT_TRUE(MeasureInterleaved({}, {}).empty()); }

TEST(MeasureTest, BestMedianSpread) {
  Measurement odd;
  odd.samples = {5.0, 2.0, 3.0};
  Summarize(odd);
  EXPECT_EQ(odd.best, 2.0);
  EXPECT_EQ(odd.median, 3.0);
  EXPECT_DOUBLE_EQ(odd.spread(), 0.5);
  EXPECT_EQ(odd.samples, (std::vector<double>{5.0, 2.0, 3.0})) << "samples stay in round order";

  Measurement even;
  even.samples = {8.0, 4.0, 6.0, 5.0};
  Summarize(even);
  EXPECT_EQ(even.best, 4.0);
  EXPECT_EQ(even.median, 5.5);
  EXPECT_DOUBLE_EQ(even.spread(), 0.375);

  Measurement one;
  one.samples = {1.5};
  Summarize(one);
  EXPECT_EQ(one.median, 1.5);
  EXPECT_EQ(one.spread(), 0.0);
}

TEST(MeasureTest, SamplesFollowTheRounds) {
  double next = 1.0;
  const std::vector<Timer> timers = {[&](int64_t) { return next++; }};
  MeasureOptions options;
  options.seconds = 0;
  options.min_rounds = 3;
  const auto measured = MeasureInterleaved(timers, options);
  EXPECT_EQ(measured[0].samples, (std::vector<double>{3.0, 4.0, 5.0}));
}

TEST(TimedTest, CallsTheWorkThatOften) {
  int calls = 0;
  const Timer timer = Timed([&] { ++calls; });
  EXPECT_GE(timer(3), 0.0);
  EXPECT_EQ(calls, 3);
}

TEST(TimedTest, ClockDoesNotRunBackwards) {
  double last = MonotonicSeconds();
  for (int i = 0; i < 1000; ++i) {
    const double now = MonotonicSeconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace lanewise::tune
