// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A case of `lanewise verify` with its arrays, and how a run of it is judged.

#ifndef LANEWISE_TOOLS_PREPARED_VERIFY_CASE_H_
#define LANEWISE_TOOLS_PREPARED_VERIFY_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/attention.h"
#include "src/reference/tolerance.h"
#include "tools/verify_array.h"
#include "tools/verify_cases.h"

namespace lanewise::tools {

// A case with its inputs, the right results, and space for the results of a run.
class PreparedVerifyCase {
 public:
  explicit PreparedVerifyCase(VerifyCase description);

  const VerifyCase& description() const noexcept { return case_; }

  // Computes the case with `plan` and judges the results. `*ratio` is the largest
  // error / tolerance; the returned text says what is wrong, and is empty if nothing is.
  std::string Run(const AttentionPlan& plan, double* ratio);

  // Judges the results of another case with the same sizes as if they were this one's.
  std::string Judge(const PreparedVerifyCase& other, double* ratio) const;

 private:
  void FillInputs();
  void FillPairs();
  // Puts in what case_.content is about.
  void Poison();
  void PoisonUnseen();
  // The inputs as tensors.
  AttentionTensors Inputs() const;

  VerifyCase case_;
  VerifyArray q_, k_, v_, bias_, w_, wq_, wk_, w_out_, out_, lse_, weights_;
  std::vector<uint8_t> mask_;  // dense
  std::vector<float> slopes_, sinks_;
  reference::AttentionResult expected_;
  reference::AttentionTolerance tolerance_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_PREPARED_VERIFY_CASE_H_
