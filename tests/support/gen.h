// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Reproducible test data: every value is a hash of its index and a seed, so a failing element can
// be recomputed anywhere.

#ifndef LANEWISE_TESTS_SUPPORT_GEN_H_
#define LANEWISE_TESTS_SUPPORT_GEN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanewise::testing {

// A hash of (seed, index), all 32 bits.
constexpr uint32_t GenBits(uint32_t seed, uint32_t index) noexcept {
  uint32_t x = index + seed * 0x9E3779B9U;
  x ^= x >> 16;
  x *= 0x7FEB352DU;
  x ^= x >> 15;
  x *= 0x846CA68BU;
  x ^= x >> 16;
  return x;
}

// A multiple of 2^-23 in [-1, 1).
constexpr float GenValue(uint32_t seed, uint32_t index) noexcept {
  return static_cast<float>(GenBits(seed, index) >> 8) / 8388608.0F - 1.0F;
}

// `count` values, indexed by the row-major position in the logical array.
inline std::vector<float> Gen(uint32_t seed, int64_t count, float factor = 1.0F) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = factor * GenValue(seed, static_cast<uint32_t>(i));
  }
  return values;
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_GEN_H_
