// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Views of arrays that the caller owns.

#ifndef LANEWISE_TENSOR_H_
#define LANEWISE_TENSOR_H_

#include <array>        // sizes, strides
#include <cstdint>      // int64_t
#include <string_view>  // DataTypeName
#include <type_traits>  // enable_if_t

#include "lanewise/export.h"

namespace lanewise {

// Element types. `kBool` is one byte an element, 0 = false, anything else = true.
enum class DataType : int32_t { kF32 = 0, kF16 = 1, kBF16 = 2, kBool = 3 };

// "f32", "f16", "bf16", "bool".
LANEWISE_EXPORT std::string_view DataTypeName(DataType type) noexcept;

// Sizes of a rank-4 array, outermost first, e.g. {batch, heads, queries, dim}.
using Sizes = std::array<int64_t, 4>;

// The strides, in elements, of an array without padding: {s1*s2*s3, s2*s3, s3, 1}.
constexpr Sizes DenseStrides(const Sizes& sizes) noexcept {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

// A non-owning rank-4 view: element (a, b, c, d) lies at
// `data + a * strides[0] + b * strides[1] + c * strides[2] + d`.
//
//   float* q = ...;                                              // dense [2, 8, 100, 64]
//   lanewise::Tensor view(q, {2, 8, 100, 64});
//   // Packed [batch, queries, heads, dim]: same sizes, other strides.
//   lanewise::Tensor packed(q, {2, 8, 100, 64}, {100 * 8 * 64, 64, 8 * 64, 1});
//
// Sizes and strides count elements. The last stride must be 1. A stride of 0 broadcasts (inputs
// only). `data` needs the alignment of one element, no more, and may be null when any size is 0.
// Inputs are `ConstTensor`; a `Tensor` converts to one.
template <typename Void>
struct BasicTensor {
  template <typename Float>
  using EnableIfFloat = std::enable_if_t<std::is_same_v<std::remove_const_t<Float>, float>>;

  BasicTensor() = default;
  BasicTensor(Void* data_in, DataType type_in, const Sizes& sizes_in,
              const Sizes& strides_in) noexcept
      : data(data_in), type(type_in), sizes(sizes_in), strides(strides_in) {}
  BasicTensor(Void* data_in, DataType type_in, const Sizes& sizes_in) noexcept
      : BasicTensor(data_in, type_in, sizes_in, DenseStrides(sizes_in)) {}

  // f32 views, dense or strided.
  template <typename Float, typename = EnableIfFloat<Float>>
  BasicTensor(Float* data_in, const Sizes& sizes_in) noexcept
      : BasicTensor(data_in, DataType::kF32, sizes_in) {}
  template <typename Float, typename = EnableIfFloat<Float>>
  BasicTensor(Float* data_in, const Sizes& sizes_in, const Sizes& strides_in) noexcept
      : BasicTensor(data_in, DataType::kF32, sizes_in, strides_in) {}

  // Writable views convert to read-only ones.
  operator BasicTensor<const void>() const noexcept { return {data, type, sizes, strides}; }

  Void* data = nullptr;
  DataType type = DataType::kF32;
  Sizes sizes = {0, 0, 0, 0};
  Sizes strides = {0, 0, 0, 1};
};

using Tensor = BasicTensor<void>;
using ConstTensor = BasicTensor<const void>;

// A read-only one-dimensional array.
template <typename T>
struct ArrayView {
  const T* data = nullptr;
  int64_t size = 0;
};

}  // namespace lanewise

#endif  // LANEWISE_TENSOR_H_
