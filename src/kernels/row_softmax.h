// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp of rows, columns across lanes. This header is the contract between the
// loop over rows (src/softmax) and the kernels. Of each row, over the columns j that take part:
//
//   s_j = scale * in_j        shift = max_j s_j        sum = Σ_j exp(s_j - shift)
//   out_j = exp(s_j - shift) / sum                      lse = shift + ln sum
//
// A column that does not take part has no influence, whatever it holds, and its out is exactly 0. A
// row of which no s_j is above -inf gives 0 everywhere and -inf. NaN, or an s_j of +inf, gives NaN
// in all columns that take part, and in lse.
//
// The order of additions depends on the number of columns and the entry alone.

#ifndef LANEWISE_SRC_KERNELS_ROW_SOFTMAX_H_
#define LANEWISE_SRC_KERNELS_ROW_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

#include "lanewise/tensor.h"

namespace lanewise::kernels {

// Strides count elements of the array they belong to. Nothing outside the rows is read or written;
// no alignment beyond the element's is needed. `out` may be `in`, if types and strides agree; other
// rows must not meet.
struct RowSoftmaxArgs {
  const void* in;  // [row_count, columns]
  int64_t in_stride;
  const uint8_t* mask;  // [row_count, columns], 0 = does not take part; null: all do
  int64_t mask_stride;
  bool mask_repeats;  // [row_count, 1]: all columns of a row, or none
  void* out;          // [row_count, columns], or [row_count, 1] f32 for log-sum-exp
  int64_t out_stride;
  size_t row_count;
  size_t columns;
  float scale;
};

using RowSoftmax = void (*)(const RowSoftmaxArgs&);

// The kernels of one target for one pair of types.
struct RowSoftmaxKernels {
  // For rows that stay in a cache: exp once, kept in `out` until the sum is known. Null where `out`
  // cannot keep it, being f16 or bf16.
  RowSoftmax resident;
  // For any row: maximum and sum in one pass, block by block, and exp again when `out` is written.
  RowSoftmax streamed;
  RowSoftmax log_sum_exp;
};

// `target` is one of the HWY_* bits; types are f32, f16 or bf16. log_sum_exp ignores `out_type`.
RowSoftmaxKernels RowSoftmaxKernelsFor(int64_t target, DataType in_type, DataType out_type);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_ROW_SOFTMAX_H_
