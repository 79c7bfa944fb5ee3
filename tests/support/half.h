// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// f16 and bf16 by definition: slow, and in no way like the library's conversions.

#ifndef LANEWISE_TESTS_SUPPORT_HALF_H_
#define LANEWISE_TESTS_SUPPORT_HALF_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "lanewise/tensor.h"

namespace lanewise::testing {

// One sign bit, then exponent bits, then fraction bits.
struct HalfFormat {
  int fraction_bits;
  int bias;  // of the exponent

  // The bits of infinity, sign aside. Smaller ones are finite numbers in rising order.
  constexpr uint32_t infinity() const { return uint32_t{0x7FFF} >> fraction_bits << fraction_bits; }
};

constexpr HalfFormat FormatOf(DataType type) {
  return type == DataType::kF16 ? HalfFormat{10, 15} : HalfFormat{7, 127};
}

// The number of these bits, without sign, as if the largest exponent were nothing special: that of
// infinity is the next power of two after the finite numbers.
inline double MagnitudeOf(const HalfFormat& format, uint32_t bits) {
  const int exponent = static_cast<int>(bits >> format.fraction_bits);
  const uint32_t leading = uint32_t{1} << format.fraction_bits;
  const uint32_t fraction = bits & (leading - 1);
  const int lowest = 1 - format.bias - format.fraction_bits;
  if (exponent == 0) return std::ldexp(fraction, lowest);
  return std::ldexp(leading + fraction, lowest + exponent - 1);
}

// `type` is f16 or bf16.
inline double FromHalf(DataType type, uint16_t bits) {
  const HalfFormat format = FormatOf(type);
  const uint32_t magnitude = bits & 0x7FFFU;
  double value = MagnitudeOf(format, magnitude);
  if (magnitude == format.infinity()) value = std::numeric_limits<double>::infinity();
  if (magnitude > format.infinity()) value = std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000U) != 0 ? -value : value;
}

// The nearest of the two neighbours, found by bisection; of two equally near ones the even one. NaN
// becomes the one without a zero bit, sign aside.
inline uint16_t ToHalf(DataType type, double value) {
  const HalfFormat format = FormatOf(type);
  const uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7FFF);
  const double magnitude = std::abs(value);
  uint32_t low = 0;
  uint32_t high = format.infinity();
  if (magnitude >= MagnitudeOf(format, high)) return static_cast<uint16_t>(sign | high);
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (MagnitudeOf(format, middle) <= magnitude ? low : high) = middle;
  }
  const double twice_midpoint = MagnitudeOf(format, low) + MagnitudeOf(format, high);
  const bool is_tie = 2 * magnitude == twice_midpoint;
  const bool takes_high = is_tie ? high % 2 == 0 : 2 * magnitude > twice_midpoint;
  return static_cast<uint16_t>(sign | (takes_high ? high : low));
}

// `value` as an element of `type`.
inline float Rounded(DataType type, float value) {
  return type == DataType::kF32
             ? value
             : static_cast<float>(FromHalf(type, ToHalf(type, static_cast<double>(value))));
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_HALF_H_
