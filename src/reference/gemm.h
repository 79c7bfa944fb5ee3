// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products by definition, and how far f32 arithmetic may be from it.

#ifndef LANEWISE_SRC_REFERENCE_GEMM_H_
#define LANEWISE_SRC_REFERENCE_GEMM_H_

#include <vector>

#include "lanewise/gemm.h"

namespace lanewise::reference {

struct GemmResult {
  std::vector<double> c;          // [batch, heads, rows, columns], dense
  std::vector<double> tolerance;  // for each element
};

// What lanewise/gemm.h documents. Reads a, b, bias, residual and, unless beta is 0, c of `tensors`;
// b is an array even with options.packed_b. The caller guarantees that everything fits. With
// u = 2^-24 and the depth n, an element may be off by
//
//   u * ((n + 4) * |alpha| Σ_s |a_s b_s| + 4 * (|beta c| + |bias| + |residual|))
//
// to first order, in whatever order the sum is taken, and by the rounding of a half type.
GemmResult Gemm(const GemmTensors& tensors, const GemmOptions& options);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_GEMM_H_
