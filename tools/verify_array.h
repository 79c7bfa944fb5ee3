// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The arrays of a case of `lanewise verify`.

#ifndef LANEWISE_TOOLS_VERIFY_ARRAY_H_
#define LANEWISE_TOOLS_VERIFY_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanewise/tensor.h"
#include "tools/verify_cases.h"

namespace lanewise::tools {

// The strides of an array of `sizes`.
Sizes StridesOf(const Sizes& sizes, Layout layout);

// Calls visit(offset) for each element of a view.
template <typename Visit>
void ForEachOffset(const Sizes& sizes, const Sizes& strides, const Visit& visit) {
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) {
        for (int64_t d = 0; d < sizes[3]; ++d) {
          visit(static_cast<size_t>(a * strides[0] + b * strides[1] + c * strides[2] + d));
        }
      }
    }
  }
}

// Memory for one array of f32, f16 or bf16; what the view does not cover holds a mark, which is a
// NaN. Inputs are made as f32 numbers and then rounded.
class VerifyArray {
 public:
  VerifyArray(const Sizes& sizes, Layout layout, DataType type = DataType::kF32);

  Tensor view() noexcept;
  ConstTensor view() const noexcept;

  // The numbers, and an element of them. They are what the view shows if the type is f32, and else
  // after the next Round().
  Tensor floats() noexcept { return {floats_.data(), sizes_, strides_}; }
  float& At(int64_t a, int64_t b, int64_t c, int64_t d) noexcept;

  void Round();

  // Marks all of it again.
  void Clear();
  // Whether all that the view does not cover still holds the mark.
  bool GapsIntact() const;

 private:
  Sizes sizes_;
  Sizes strides_;
  DataType type_;
  std::vector<float> floats_;
  std::vector<uint16_t> halves_;  // the same elements, rounded; empty for f32
  std::vector<bool> covered_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_VERIFY_ARRAY_H_
