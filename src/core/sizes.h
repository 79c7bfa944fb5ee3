// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sizes that cannot overflow unnoticed.

#ifndef LANEWISE_SRC_CORE_SIZES_H_
#define LANEWISE_SRC_CORE_SIZES_H_

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace lanewise::core {

// The product of non-negative factors, or nothing if it does not fit in 63 bits.
constexpr std::optional<int64_t> CheckedProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

// The sum of non-negative terms, likewise.
constexpr std::optional<int64_t> CheckedSum(std::initializer_list<int64_t> terms) {
  int64_t sum = 0;
  for (const int64_t term : terms) {
    if (__builtin_add_overflow(sum, term, &sum)) return std::nullopt;
  }
  return sum;
}

// a + b, or the end of the 64-bit range that it would cross.
constexpr int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

constexpr int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

constexpr int64_t RoundUp(int64_t a, int64_t multiple) { return DivideUp(a, multiple) * multiple; }

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_SIZES_H_
