// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The yardstick loops do the work they claim, on every target: the value of each chain shows how
// often it was updated, and the sums show that every word was read once.

#include "src/kernels/peaks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "src/machine/targets.h"

namespace lanewise::kernels {
namespace {

class PeaksTest : public testing::TestWithParam<std::string> {
 protected:
  PeakKernels Kernels() const { return PeakKernelsFor(*machine::FindTarget(GetParam())); }
};

TEST_P(PeaksTest, EveryChainMakesEveryStep) {
  const PeakKernels kernels = Kernels();
  ASSERT_GE(kernels.lanes, 1U);
  ASSERT_GE(kernels.chains, 12U);
  EXPECT_EQ(kernels.flops(), 2.0 * static_cast<double>(kernels.lanes * kernels.chains));

  // Odd and even counts differ by nearly 1 - 2x in each lane, so one step more or less in one chain
  // shows. The chains' values swing between about x and 1 - x.
  const size_t count = kernels.lanes * kernels.chains;
  for (const int64_t iterations : {0, 1, 2, 3, 100, 10001}) {
    double expected = 0;
    for (size_t i = 0; i < count; ++i) {
      double x = PeakStart(i);
      for (int64_t step = 0; step < iterations; ++step) x = x * kPeakFactor + 1.0;
      expected += x;
    }
    // Each step rounds once or twice (values below 1, eps 2^-24), as do the sums at the end; factor
    // near -1 carries the errors on.
    const double eps = 0x1p-24;
    const double tolerance = static_cast<double>(count) * eps *
                             (2.0 * static_cast<double>(iterations) + static_cast<double>(count));
    EXPECT_NEAR(kernels.multiply_add(iterations), expected, tolerance)
        << GetParam() << ", " << iterations << " iterations";
  }
}

TEST_P(PeaksTest, ValuesStayOrdinary) {
  const float sum = Kernels().multiply_add(1000000);
  EXPECT_TRUE(std::isfinite(sum)) << GetParam();
}

TEST_P(PeaksTest, TanhOfEveryLane) {
  const PeakKernels kernels = Kernels();
  double sum = 0;
  for (size_t i = 0; i < kTanhVectors * kernels.lanes; ++i) {
    sum += std::tanh(static_cast<double>(TanhStart(i)));
  }
  EXPECT_EQ(kernels.tanhs(), static_cast<double>(kTanhVectors * kernels.lanes));
  for (const int64_t iterations : {0, 1, 2, 7}) {
    EXPECT_NEAR(kernels.tanh(iterations), static_cast<double>(iterations) * sum, 1e-3)
        << GetParam() << ", " << iterations << " iterations";
  }
}

TEST_P(PeaksTest, SumsReadEveryWordOnce) {
  const PeakKernels kernels = Kernels();
  const size_t turn = 8 * kernels.lanes;
  for (size_t stream = 0; stream < kReadStreams.size(); ++stream) {
    for (const size_t count : {size_t{0}, size_t{1}, turn - 1, turn, turn + 1, 4 * turn - 1,
                               4 * turn, 9 * turn + 5, size_t{1000}}) {
      // Offset by one word: no alignment is promised.
      std::vector<uint32_t> words(count + 2, 0xDEADBEEF);
      uint32_t expected = 0;
      for (size_t i = 0; i < count; ++i) {
        words[i + 1] = static_cast<uint32_t>(i * 2654435761U + 12345U);
        expected += words[i + 1];
      }
      EXPECT_EQ(kernels.sum[stream](words.data() + 1, count), expected)
          << GetParam() << ", " << kReadStreams[stream] << " streams, " << count << " words";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PeaksTest, testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
