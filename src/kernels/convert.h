// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Rows of one element type as rows of another. Widening to f32 is exact, subnormals included;
// narrowing rounds to nearest, ties to even, and keeps subnormals. A value too large for f16
// becomes an infinity; NaN stays NaN. No floating-point mode matters or is changed.

#ifndef LANEWISE_SRC_KERNELS_CONVERT_H_
#define LANEWISE_SRC_KERNELS_CONVERT_H_

#include <cstddef>
#include <cstdint>

#include "lanewise/tensor.h"

namespace lanewise::kernels {

// Strides count elements of the array they belong to. Nothing outside the rows is read or written;
// no alignment beyond the element's is needed.
struct ConvertArgs {
  const void* from;  // [row_count, columns]
  int64_t from_stride;
  void* to;  // [row_count, columns]
  int64_t to_stride;
  size_t row_count;
  size_t columns;
};

using ConvertRows = void (*)(const ConvertArgs&);

// The function for `target` (one of the HWY_* bits), `from` and `to` each f32, f16 or bf16. Equal
// types copy bits. Between f16 and bf16 goes by way of f32.
ConvertRows ConvertRowsFor(int64_t target, DataType from, DataType to);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_CONVERT_H_
