// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The one place where the arrays of a call are checked against what a plan expects.

#ifndef LANEWISE_SRC_CORE_TENSOR_CHECK_H_
#define LANEWISE_SRC_CORE_TENSOR_CHECK_H_

#include <string>
#include <string_view>

#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise::core {

// "[2, 8, 100, 64]"
std::string SizesText(const Sizes& sizes);

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

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_TENSOR_CHECK_H_
