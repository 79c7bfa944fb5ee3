// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Yardstick loops on a team of threads.

#include "tune/yardsticks.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/peaks.h"

namespace lanewise::tune {
namespace {

// Tens of microseconds, so that a sample can be fitted to any length.
constexpr int64_t kPeakIterations = 5000;
constexpr int64_t kTanhIterations = 1000;

// Members share an array in units of this many words: whole cache lines of up to 256 bytes.
constexpr size_t kWordsPerUnit = 64;

struct Part {
  const uint32_t* words;
  size_t count;
};

// What `member` of `size` reads of `array`.
Part PartOf(const ReadArray& array, size_t member, size_t size) {
  const auto* words = static_cast<const uint32_t*>(array.data);
  const size_t count = array.size_bytes / sizeof(uint32_t);
  const size_t units = count / kWordsPerUnit;
  const size_t begin = units * member / size * kWordsPerUnit;
  const size_t end = member + 1 == size ? count : units * (member + 1) / size * kWordsPerUnit;
  return {words + begin, end - begin};
}

// A timer of `once(member)` on every member, until the last one is done.
template <typename Once>
Timer UntilTheLast(const Once& once, ThreadTeam& team) {
  return [once, &team](int64_t repeats) {
    const std::vector<double>& seconds = team.Run([&](int member) {
      for (int64_t i = 0; i < repeats; ++i) once(static_cast<size_t>(member));
    });
    return *std::max_element(seconds.begin(), seconds.end());
  };
}

// The time in which a team would do its work if every member went on at its own rate until all is
// done: the harmonic mean.
double SharedSeconds(const std::vector<double>& seconds) {
  double rates = 0;
  for (const double member : seconds) rates += 1.0 / member;
  return static_cast<double>(seconds.size()) / rates;
}

}  // namespace

Yardstick FmaPeak(int64_t target, ThreadTeam& team) {
  const kernels::PeakKernels kernels = kernels::PeakKernelsFor(target);
  const double flops = kernels.flops() * static_cast<double>(kPeakIterations) * team.size();
  return {[kernels, &team](int64_t repeats) {
            return SharedSeconds(
                team.Run([&](int) { kernels.multiply_add(repeats * kPeakIterations); }));
          },
          flops};
}

Yardstick TanhCalls(int64_t target, ThreadTeam& team) {
  const kernels::PeakKernels kernels = kernels::PeakKernelsFor(target);
  const double numbers = kernels.tanhs() * static_cast<double>(kTanhIterations) * team.size();
  return {[kernels, &team](int64_t repeats) {
            return SharedSeconds(team.Run([&](int) { kernels.tanh(repeats * kTanhIterations); }));
          },
          numbers};
}

std::vector<Yardstick> ReadSums(int64_t target, const std::vector<ReadArray>& arrays,
                                ThreadTeam& team) {
  double bytes = 0;
  for (const ReadArray& array : arrays) bytes += static_cast<double>(array.size_bytes);

  std::vector<Yardstick> yardsticks;
  for (const auto sum : kernels::PeakKernelsFor(target).sum) {
    const auto read_once = [sum, arrays, size = static_cast<size_t>(team.size())](size_t member) {
      for (const ReadArray& array : arrays) {
        const Part part = PartOf(array, member, size);
        sum(part.words, part.count);
      }
    };
    yardsticks.push_back({UntilTheLast(read_once, team), bytes});
  }
  return yardsticks;
}

Yardstick MemoryCopy(const ReadArray& from, void* to, ThreadTeam& team) {
  const auto copy_once = [from, to, size = static_cast<size_t>(team.size())](size_t member) {
    const Part part = PartOf(from, member, size);
    const size_t before = static_cast<size_t>(part.words - static_cast<const uint32_t*>(from.data));
    if (part.count > 0) {
      std::memcpy(static_cast<uint32_t*>(to) + before, part.words, part.count * sizeof(uint32_t));
    }
  };
  return {UntilTheLast(copy_once, team), static_cast<double>(from.size_bytes)};
}

}  // namespace lanewise::tune
