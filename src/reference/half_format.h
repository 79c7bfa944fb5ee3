// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How an f16 or bf16 result is rounded.

#ifndef LANEWISE_SRC_REFERENCE_HALF_FORMAT_H_
#define LANEWISE_SRC_REFERENCE_HALF_FORMAT_H_

#include <algorithm>
#include <cmath>

#include "lanewise/tensor.h"

namespace lanewise::reference {

struct HalfFormat {
  int fraction_bits;
  int lowest_exponent;  // of a normal number
  double end;           // the power of two after the largest number
};
inline constexpr HalfFormat kF16Format = {10, -14, 0x1p16};
inline constexpr HalfFormat kBF16Format = {7, -126, 0x1p128};

// Null for f32.
inline const HalfFormat* HalfFormatOf(DataType type) {
  if (type == DataType::kF16) return &kF16Format;
  return type == DataType::kBF16 ? &kBF16Format : nullptr;
}

// The largest error of storing a number up to `largest` as an element of `type`, beyond that of f32
// arithmetic.
inline double StoreError(DataType type, double largest) {
  const HalfFormat* format = HalfFormatOf(type);
  if (format == nullptr || !std::isfinite(largest)) return 0;
  const int exponent = largest == 0 ? format->lowest_exponent
                                    : std::max(std::ilogb(largest), format->lowest_exponent);
  return std::ldexp(0.5, exponent - format->fraction_bits);
}

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_HALF_FORMAT_H_
