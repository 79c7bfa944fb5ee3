// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Random values by coordinates.

#ifndef LANEWISE_TESTS_FUZZ_COORDINATES_H_
#define LANEWISE_TESTS_FUZZ_COORDINATES_H_

#include <cstddef>
#include <cstdint>

#include "lanewise/tensor.h"
#include "tests/support/gen.h"

namespace lanewise::testing {

// Separate streams of values.
enum class Purpose : uint32_t { kQ, kK, kV, kMask, kBias, kSinks, kPoison, kCount };

// The values of one purpose, by coordinates below 4, 64, 4096 and 4096.
class Field {
 public:
  Field(uint32_t seed, Purpose purpose)
      : seed_(seed * static_cast<uint32_t>(Purpose::kCount) + static_cast<uint32_t>(purpose)) {}

  uint32_t Bits(const Sizes& at) const { return GenBits(seed_, Index(at)); }
  // In [-1, 1).
  float Value(const Sizes& at) const { return GenValue(seed_, Index(at)); }

 private:
  static uint32_t Index(const Sizes& at) {
    return static_cast<uint32_t>(((at[0] * 64 + at[1]) * 4096 + at[2]) * 4096 + at[3]);
  }

  uint32_t seed_;
};

// Calls visit(coordinates) in row-major order.
template <typename Visit>
void ForEach(const Sizes& sizes, const Visit& visit) {
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t i = 0; i < sizes[2]; ++i) {
        for (int64_t d = 0; d < sizes[3]; ++d) visit(Sizes{a, b, i, d});
      }
    }
  }
}

// The row-major position of coordinates.
inline size_t Offset(const Sizes& sizes, const Sizes& at) {
  return static_cast<size_t>(((at[0] * sizes[1] + at[1]) * sizes[2] + at[2]) * sizes[3] + at[3]);
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_COORDINATES_H_
