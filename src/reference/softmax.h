// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp of rows by definition, and how far f32 arithmetic may be from it.

#ifndef LANEWISE_SRC_REFERENCE_SOFTMAX_H_
#define LANEWISE_SRC_REFERENCE_SOFTMAX_H_

#include <vector>

#include "lanewise/softmax.h"

namespace lanewise::reference {

// What lanewise/softmax.h documents, with the bounds it states; dense.
struct SoftmaxResult {
  std::vector<double> out;            // [a, b, c, columns]
  std::vector<double> lse;            // [a, b, c]
  std::vector<double> out_tolerance;  // for an output of the type asked for
  std::vector<double> lse_tolerance;
};

// Columns that do not take part are left out by selection. The caller guarantees that everything
// fits.
SoftmaxResult Softmax(const ConstTensor& in, const SoftmaxOptions& options,
                      DataType out_type = DataType::kF32);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_SOFTMAX_H_
