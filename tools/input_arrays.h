// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The arrays of `lanewise run`: files of rank 2 [n, d], 3 [heads, n, d] or 4 [batch, heads, n, d]
// as tensors of rank 4.

#ifndef LANEWISE_TOOLS_INPUT_ARRAYS_H_
#define LANEWISE_TOOLS_INPUT_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "tools/npy.h"

namespace lanewise::tools {

struct InputPaths {
  std::string q, k, v;
};

struct InputArrays {
  npy::Array q, k, v;
  size_t rank = 0;       // of all three
  AttentionShape shape;  // sizes and types of the arrays; the output has the type of q

  // Shapes of the results, in the rank of the inputs; lse has no last axis.
  std::vector<int64_t> OutShape() const;
  std::vector<int64_t> LseShape() const;
};

// Reads the three files and checks that their ranks and sizes fit together. Whether the library can
// compute the types and sizes is for the plan to say. Messages name the file.
Result<InputArrays> ReadInputs(const InputPaths& paths);

// A view of an array of rank 2 to 4; missing outer sizes are 1. The array must be f32 to be read
// through a plan.
ConstTensor InputView(const npy::Array& array);

// A writable view of an f32 result with `sizes`.
Tensor OutputView(npy::Array& array, const Sizes& sizes);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_INPUT_ARRAYS_H_
