// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The timing harness. Whatever is to be compared (candidates of the tuner, a case and its
// yardsticks) is timed in interleaved rounds, so that a change of clock frequency or a noisy
// neighbour meets all of it alike.

#ifndef LANEWISE_TUNE_MEASURE_H_
#define LANEWISE_TUNE_MEASURE_H_

#include <cstdint>     // int64_t
#include <functional>  // Timer
#include <span>        // MeasureInterleaved
#include <vector>      // samples

namespace lanewise::tune {

// Does its work `repeats` (at least 1) times and returns the seconds that took, all together.
using Timer = std::function<double(int64_t repeats)>;

// Seconds of a monotonic clock, from an arbitrary start.
double MonotonicSeconds() noexcept;

// A timer of `work` on the calling thread, which may use others.
Timer Timed(std::function<void()> work);

struct MeasureOptions {
  // Timed seconds to spend, over all timers, warm-up included. The last round is finished, and
  // `min_rounds` come first.
  double seconds = 1.5;
  // Calls shorter than this are repeated within a sample, so that reading the clock and waking
  // threads stay below a per cent.
  double sample_seconds = 2e-3;
  int min_rounds = 5;
  int max_rounds = 1000;
};

// What one timer took.
struct Measurement {
  std::vector<double> samples;  // seconds a call, one for each round
  int64_t repeats = 1;          // calls in a sample
  double best = 0;              // smallest sample: what the machine can do when left alone
  double median = 0;

  // How far typical rounds are from the best one: (median - best) / best.
  double spread() const noexcept { return best > 0 ? (median - best) / best : 0.0; }
};

// Fills in `best` and `median` from `samples`, of which there is at least one.
void Summarize(Measurement& measurement);

// Each timer is first called once for warmth, then until a sample is long enough. After that every
// round takes one sample of each timer, in the order given. One measurement for each timer.
std::vector<Measurement> MeasureInterleaved(std::span<const Timer> timers,
                                            const MeasureOptions& options);

}  // namespace lanewise::tune

#endif  // LANEWISE_TUNE_MEASURE_H_
