// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The one place where the arrays of a call are checked against what a plan expects.

#ifndef LANEWISE_SRC_CORE_TENSOR_CHECK_H_
#define LANEWISE_SRC_CORE_TENSOR_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise::core {

// "[2, 8, 100, 64]"
std::string SizesText(const Sizes& sizes);

// That a type is one of numbers: f32, f16 or bf16.
Status CheckNumberType(std::string_view name, DataType type);

// That no size is negative, and that their product counts f32 in bytes within 64 bits.
Status CheckSizes(std::string_view name, const Sizes& sizes);

// Type, sizes, pointer and strides of an input called `name` in messages.
Status CheckInput(std::string_view name, const ConstTensor& tensor, DataType type,
                  const Sizes& sizes);

// The same for an output, whose elements must not share memory: ordered by stride, every stride has
// to reach past the elements that the smaller ones span.
Status CheckOutput(std::string_view name, const Tensor& tensor, DataType type, const Sizes& sizes);

// That the memory between the first and the last element of an output does not meet that of another
// array of the call. Both have been checked.
Status CheckApart(std::string_view output_name, const Tensor& output, std::string_view other_name,
                  const ConstTensor& other);

// Length and pointer of a one-dimensional array.
Status CheckEntries(std::string_view name, const void* data, int64_t found, int64_t expected);
template <typename T>
Status CheckEntries(std::string_view name, const ArrayView<T>& array, int64_t expected) {
  return CheckEntries(name, array.data, array.size, expected);
}

// The bytes of an array, for CheckApart.
template <typename T>
Tensor BytesOf(T* data, int64_t size) {
  return Tensor(data, DataType::kBool, {1, 1, 1, size * static_cast<int64_t>(sizeof(T))});
}
template <typename T>
ConstTensor BytesOf(const ArrayView<T>& array) {
  const int64_t size = array.size * static_cast<int64_t>(sizeof(T));
  return ConstTensor(array.data, DataType::kBool, {1, 1, 1, size});
}

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_TENSOR_CHECK_H_
