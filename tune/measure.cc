// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Interleaved rounds and their summary.

#include "tune/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace lanewise::tune {
namespace {

// Ends the search for a sample length when a timer claims to take no time.
constexpr int64_t kMaxRepeats = int64_t{1} << 30;

// The repeats that make a sample of `timer` last `sample_seconds`; adds what finding them took to
// `spent`. Growth is limited because a short first figure says little about the true one.
int64_t FindRepeats(const Timer& timer, double sample_seconds, double& spent) {
  for (int64_t repeats = 1;;) {
    const double seconds = timer(repeats);
    spent += seconds;
    if (seconds >= sample_seconds || repeats >= kMaxRepeats) return repeats;
    const double missing = seconds > 0 ? 1.2 * sample_seconds / seconds : 10.0;
    const double next = std::ceil(static_cast<double>(repeats) * std::clamp(missing, 1.0, 10.0));
    repeats = std::clamp(static_cast<int64_t>(next), repeats + 1, kMaxRepeats);
  }
}

}  // namespace

double MonotonicSeconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Timer Timed(std::function<void()> work) {
  return [work = std::move(work)](int64_t repeats) {
    const double start = MonotonicSeconds();
    for (int64_t i = 0; i < repeats; ++i) work();
    return MonotonicSeconds() - start;
  };
}

void Summarize(Measurement& measurement) {
  std::vector<double> sorted = measurement.samples;
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  measurement.best = sorted.front();
  measurement.median =
      sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<Measurement> MeasureInterleaved(std::span<const Timer> timers,
                                            const MeasureOptions& options) {
  std::vector<Measurement> measurements(timers.size());
  double spent = 0;
  for (size_t i = 0; i < timers.size(); ++i) {
    spent += timers[i](1);
    measurements[i].repeats = FindRepeats(timers[i], options.sample_seconds, spent);
  }
  const int max_rounds = std::max(options.max_rounds, 1);
  for (int round = 0; round < max_rounds; ++round) {
    if (round >= std::max(options.min_rounds, 1) && spent >= options.seconds) break;
    for (size_t i = 0; i < timers.size(); ++i) {
      const double seconds = timers[i](measurements[i].repeats);
      spent += seconds;
      measurements[i].samples.push_back(seconds / static_cast<double>(measurements[i].repeats));
    }
  }
  for (Measurement& measurement : measurements) Summarize(measurement);
  return measurements;
}

}  // namespace lanewise::tune
