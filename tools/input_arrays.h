// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The input arrays of `lanewise run`: q, k and v of rank 2 [n, d], 3 [heads, n, d] or 4
// [batch, heads, n, d] as tensors of rank 4, and what may come beside them.

#ifndef LANEWISE_TOOLS_INPUT_ARRAYS_H_
#define LANEWISE_TOOLS_INPUT_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "tools/npy.h"
#include "tools/score_arrays.h"

namespace lanewise::tools {

struct InputPaths {
  std::string q, k, v;
  std::optional<std::string> mask, bias, alibi, sinks;
  ScorePaths score = {};
};

// What elements are rounded to on loading; absent: they stay what the file has.
struct InputTypes {
  std::optional<DataType> q, kv;
};

struct InputArrays {
  npy::Array q, k, v;
  std::optional<npy::Array> mask, bias, alibi, sinks;
  ScoreArrays score;
  size_t rank = 0;       // of q, k and v
  AttentionShape shape;  // sizes and types of the arrays; the output has the type of q

  // Shapes of the results, in the rank of q; lse has no last axis.
  std::vector<int64_t> OutShape() const;
  std::vector<int64_t> LseShape() const;
  std::vector<int64_t> WeightsShape() const;

  // Views of the arrays, as the inputs of a call.
  AttentionTensors Tensors() const;

  // Sets the options that ask for the arrays that are present.
  void ApplyTo(AttentionOptions& options) const noexcept;
};

// Reads the files, checks that their ranks, sizes and types fit together, and converts q, k and v
// to `types`. These are f32 or f16 in files, and
//
//   mask   bool  [queries, keys] or [batch, heads, queries, keys]; axes of size 1 broadcast
//   bias   f32   the same
//   alibi  f32   [heads]
//   sinks  f32   [heads]
//
// and the parameters of a score function, with which q and k may have different lengths.
// Whether the library can compute the sizes of q, k and v is for the plan to say. Messages name the
// flag and the file.
Result<InputArrays> ReadInputs(const InputPaths& paths, const InputTypes& types = {});

// A view of an array of rank 2 to 4; missing outer sizes are 1.
ConstTensor InputView(const npy::Array& array);

// A writable view of a result with `sizes`.
Tensor OutputView(npy::Array& array, const Sizes& sizes);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_INPUT_ARRAYS_H_
