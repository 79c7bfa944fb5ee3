// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Rank-4 arrays of any element type in guarded memory, with free strides and with padding that
// shows whether it was touched.

#ifndef LANEWISE_TESTS_SUPPORT_ARRAY_H_
#define LANEWISE_TESTS_SUPPORT_ARRAY_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "lanewise/tensor.h"
#include "src/core/element_bytes.h"
#include "tests/support/guard.h"

namespace lanewise::testing {

// Number of elements.
constexpr int64_t Count(const Sizes& sizes) noexcept {
  return sizes[0] * sizes[1] * sizes[2] * sizes[3];
}

// Strides from sizes; lanewise::DenseStrides is one of these.
using StrideRule = Sizes (*)(const Sizes& sizes);

// Odd gaps after each row, head and batch item.
constexpr Sizes PaddedStrides(const Sizes& sizes) noexcept {
  const int64_t row = sizes[3] + 3;
  const int64_t head = sizes[2] * row + 5;
  return {sizes[1] * head + 7, head, row, 1};
}
// [batch, queries or keys, heads, dim] in memory.
constexpr Sizes PackedStrides(const Sizes& sizes) noexcept {
  return {sizes[2] * sizes[1] * sizes[3], sizes[3], sizes[1] * sizes[3], 1};
}
// All heads, or all batch items, are the same memory.
constexpr Sizes SharedHeadStrides(const Sizes& sizes) noexcept {
  return {sizes[2] * sizes[3], 0, sizes[3], 1};
}
constexpr Sizes SharedBatchStrides(const Sizes& sizes) noexcept {
  return {0, sizes[2] * sizes[3], sizes[3], 1};
}

// All rows of a head are the same memory.
constexpr Sizes SharedRowStrides(const Sizes& sizes) noexcept {
  return {sizes[1] * sizes[3], sizes[3], 0, 1};
}

// What a float holds until something is written: a NaN that arithmetic does not produce. An f16 or
// bf16 element holds another one, which reads as this float. A byte, of a mask, holds something
// that a mask does not: it reads as true, but is never written as such.
inline constexpr uint32_t kUnwrittenBits = 0x7FC5A5A5U;
inline constexpr uint16_t kUnwrittenHalf = 0x7FE5U;
inline bool IsUnwritten(float value) { return std::bit_cast<uint32_t>(value) == kUnwrittenBits; }
inline constexpr uint8_t kUnwrittenByte = 0xA5;
inline bool IsUnwritten(uint8_t value) { return value == kUnwrittenByte; }

struct Placement {
  GuardSide guard = GuardSide::kAfter;
  size_t lead = 0;  // elements in front of the first one
};

// T is float for elements of f32, f16 or bf16, or uint8_t for those of kBool.
template <typename T>
class BasicArray {
 public:
  static constexpr DataType kDefaultType =
      std::is_same_v<T, uint8_t> ? DataType::kBool : DataType::kF32;

  // Elements and padding are unwritten.
  BasicArray(const Sizes& sizes, StrideRule strides, const Placement& placement,
             DataType type = kDefaultType);

  // Row-major logical values, rounded to nearest even. With a stride of 0 the last of the values
  // that share an element stays.
  void Set(const std::vector<T>& values);
  // Widened.
  std::vector<T> Values() const;

  Tensor view() noexcept { return {memory_.data() + Offset(lead_), type_, sizes_, strides_}; }
  ConstTensor view() const noexcept {
    return {memory_.data() + Offset(lead_), type_, sizes_, strides_};
  }

  // Is everything between the elements still unwritten?
  bool IsPaddingIntact() const;

 private:
  // In memory_, of the element with this number.
  size_t Offset(size_t element) const noexcept {
    return element * static_cast<size_t>(core::ElementBytes(type_));
  }
  size_t ElementCount() const noexcept { return memory_.size() / Offset(1); }
  T Read(size_t element) const;
  void Write(size_t element, T value);

  // Calls visit(element in memory_, row-major index) for each element.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    size_t index = 0;
    for (int64_t a = 0; a < sizes_[0]; ++a) {
      for (int64_t b = 0; b < sizes_[1]; ++b) {
        for (int64_t c = 0; c < sizes_[2]; ++c) {
          const int64_t row = a * strides_[0] + b * strides_[1] + c * strides_[2];
          for (int64_t d = 0; d < sizes_[3]; ++d) {
            visit(lead_ + static_cast<size_t>(row + d), index++);
          }
        }
      }
    }
  }

  Sizes sizes_;
  Sizes strides_;
  DataType type_;
  size_t lead_;
  GuardedArray<std::byte> memory_;
};

using Array = BasicArray<float>;
using MaskArray = BasicArray<uint8_t>;

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_ARRAY_H_
