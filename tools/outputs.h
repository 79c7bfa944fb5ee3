// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The output files of `lanewise run`: all of them appear, or none.

#ifndef LANEWISE_TOOLS_OUTPUTS_H_
#define LANEWISE_TOOLS_OUTPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/status.h"
#include "tools/input_arrays.h"
#include "tools/npy.h"
#include "tools/pending_file.h"

namespace lanewise::tools {

struct OutputPaths {
  std::string out;
  std::optional<std::string> lse, weights;
};

// That no two flags name the same file. kInvalidArgument.
Status CheckDistinct(const OutputPaths& paths);

// A result on its way to a file.
struct Output {
  const char* flag;
  PendingFile file;
  npy::Array array;
};

class Outputs {
 public:
  // Arrays of zeros of the plan's types, and their files opened, so that a bad path shows before
  // anything is computed. Errors: kInvalidArgument for a file that cannot be created, kOutOfMemory.
  static Result<Outputs> Create(const OutputPaths& paths, const InputArrays& inputs);

  // Puts views of the arrays into `tensors`, for a call with the sizes of `shape`.
  void AddTo(const AttentionShape& shape, AttentionTensors& tensors);

  // Writes the contents of all files; those of bf16 as f32, which NumPy has. The arrays are gone
  // afterwards.
  Status Write();

  // Gives all files their names, or none.
  Status Commit();

 private:
  std::vector<Output*> All();

  explicit Outputs(Output out) : out_(std::move(out)) {}

  Output out_;
  std::optional<Output> lse_, weights_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_OUTPUTS_H_
