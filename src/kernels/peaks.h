// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Yardsticks: the arithmetic and the reading that a core can do, one pair of loops for each target.
// Only measuring code calls them.

#ifndef LANEWISE_SRC_KERNELS_PEAKS_H_
#define LANEWISE_SRC_KERNELS_PEAKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanewise::kernels {

// How many places of an array a reading loop advances through at once: cores keep more lines in
// flight for several streams than for one, some up to four.
inline constexpr std::array<int, 3> kReadStreams = {1, 2, 4};

inline constexpr size_t kTanhVectors = 16;

struct PeakKernels {
  size_t lanes = 0;   // f32 lanes of a vector
  size_t chains = 0;  // independent vectors of the arithmetic loop

  // Runs x -> x * kPeakFactor + 1 on all lanes of all chains, `iterations` (>= 0) times, and
  // returns the sum of every lane. Lane l of chain c starts at PeakStart(c * lanes + l). All of it
  // in registers. A target without fused multiply-add multiplies, then adds.
  float (*multiply_add)(int64_t iterations) = nullptr;

  // The sum, modulo 2^32, of `count` words, read once; element i reads kReadStreams[i] streams.
  // Integers, so that no bit pattern of any element type costs extra time.
  std::array<uint32_t (*)(const uint32_t* words, size_t count), kReadStreams.size()> sum = {};

  // Evaluates tanh, as scores do, on the lanes of kTanhVectors vectors, which lie in the
  // first-level cache, `iterations` (>= 0) times, and returns the sum of all results. Element i is
  // TanhStart(i).
  float (*tanh)(int64_t iterations) = nullptr;

  // Numbers whose tanh one iteration takes.
  double tanhs() const { return static_cast<double>(lanes * kTanhVectors); }

  // Floating-point operations of one iteration: a multiply-add counts as two.
  double flops() const { return 2.0 * static_cast<double>(lanes * chains); }
};

// -(1 - 2^-24): values swing around 1/2 for millions of iterations without overflow or subnormals.
inline constexpr float kPeakFactor = -0x1.fffffep-1F;
constexpr float PeakStart(size_t i) { return 0.25F + static_cast<float>(i % 64) / 128.0F; }

// From -2 to 2.
constexpr float TanhStart(size_t i) { return static_cast<float>(i % 65) / 16.0F - 2.0F; }

// The loops of `target`, one HWY_* bit that this machine supports.
PeakKernels PeakKernelsFor(int64_t target);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_PEAKS_H_
