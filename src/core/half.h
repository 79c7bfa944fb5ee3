// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The two 16-bit element types, as bits. They are storage only: arithmetic is f32.

#ifndef LANEWISE_SRC_CORE_HALF_H_
#define LANEWISE_SRC_CORE_HALF_H_

#include <cstdint>

namespace lanewise::core {

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
struct F16 {
  uint16_t bits;
};

// The upper half of an f32: 1 sign, 8 exponent and 7 fraction bits.
struct BF16 {
  uint16_t bits;
};

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_HALF_H_
