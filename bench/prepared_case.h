// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A case with everything that a call needs: plan, arrays of random numbers, workspace.

#ifndef LANEWISE_BENCH_PREPARED_CASE_H_
#define LANEWISE_BENCH_PREPARED_CASE_H_

#include <cstdint>  // int64_t, uint8_t
#include <utility>  // move
#include <vector>

#include "bench/cases.h"
#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "src/attention/overrides.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

// The arrays of one call, dense, in private memory: all that its options ask for. Inputs are
// uniform in [-1, 1) from fixed seeds and rounded to their types, but for the mask, which is true
// everywhere, and the slopes, 2^(-8 (h + 1) / heads) as Press et al. have them. Mask and bias are
// [1, 1, queries, keys]. The memory of each array is a multiple of 4 bytes.
class CaseArrays {
 public:
  // Errors: kUnsupported for q, k, v or out of bool and for ragged, wrapped and paged batches,
  // kOutOfMemory.
  static Result<CaseArrays> Make(const Case& benchmark);

  // Views of the arrays; valid as long as this object.
  const AttentionTensors& tensors() const noexcept { return tensors_; }

 private:
  // Sets `tensor` to an array of random numbers.
  template <typename AnyTensor>
  Status AddRandom(DataType type, const Sizes& sizes, uint64_t seed, AnyTensor& tensor);
  Status AddMask(const Sizes& sizes);
  Status AddSlopes(int64_t heads);
  Status AddSinks(int64_t heads);
  Status AddAll(const Case& benchmark);

  std::vector<tune::FloatArray> floats_;
  std::vector<uint8_t> mask_;
  std::vector<int64_t> kv_len_;
  AttentionTensors tensors_;
};

class PreparedCase {
 public:
  // Errors: those of PlanAttentionWith and CaseArrays::Make.
  static Result<PreparedCase> Make(const Case& benchmark, const Runtime& runtime,
                                   const attention::PlanOverrides& overrides);

  // One call.
  Status Run() noexcept { return plan_.Run(arrays_.tensors(), workspace_); }

  const AttentionPlan& plan() const noexcept { return plan_; }
  const AttentionTensors& tensors() const noexcept { return arrays_.tensors(); }

 private:
  PreparedCase(AttentionPlan plan, CaseArrays arrays, Workspace workspace)
      : plan_(std::move(plan)), arrays_(std::move(arrays)), workspace_(std::move(workspace)) {}

  AttentionPlan plan_;
  CaseArrays arrays_;
  Workspace workspace_;
};

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_PREPARED_CASE_H_
