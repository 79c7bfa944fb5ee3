// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention with everything that a call needs: plan, arrays of random numbers, workspace.

#ifndef LANEWISE_BENCH_PREPARED_ATTENTION_H_
#define LANEWISE_BENCH_PREPARED_ATTENTION_H_

#include <cstdint>   // int64_t, uint8_t
#include <memory>    // unique_ptr
#include <optional>  // bytes
#include <utility>   // move
#include <vector>

#include "bench/attention_cases.h"
#include "bench/case.h"
#include "bench/work.h"
#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

// The arrays of one call, dense, in private memory: all that its options ask for. Inputs are
// uniform in [-1, 1) from fixed seeds and rounded to their types, but for the mask, which is true
// everywhere, and the slopes, 2^(-8 (h + 1) / heads) as Press et al. have them. Mask and bias are
// [1, 1, queries, keys]. The memory of each array is a multiple of 4 bytes.
class CaseArrays {
 public:
  // Errors: kUnsupported for q, k, v or out of bool and for rings and pages, kOutOfMemory.
  static Result<CaseArrays> Make(const AttentionCase& benchmark);

  // Views of the arrays; valid as long as this object.
  const AttentionTensors& tensors() const noexcept { return tensors_; }

 private:
  // Sets `tensor` to an array of random numbers.
  template <typename AnyTensor>
  Status AddRandom(DataType type, const Sizes& sizes, uint64_t seed, AnyTensor& tensor);
  Status AddMask(const Sizes& sizes);
  Status AddSlopes(int64_t heads);
  Status AddSinks(int64_t heads);
  Status AddParameters(const AttentionShape& shape, const AttentionOptions& options);
  Status AddAll(const AttentionCase& benchmark);

  std::vector<tune::FloatArray> floats_;
  std::vector<uint8_t> mask_;
  AttentionLengths lengths_;
  AttentionTensors tensors_;
};

class PreparedAttention : public PreparedCase {
 public:
  // Errors: those of PlanAttentionWith and CaseArrays::Make; kInvalidArgument for an override that
  // attention does not have.
  static Status Check(const AttentionCase& benchmark, const Runtime& runtime,
                      const Overrides& overrides);
  static Result<std::unique_ptr<PreparedCase>> Make(const AttentionCase& benchmark,
                                                    const Runtime& runtime,
                                                    const Overrides& overrides);

  Status Run() noexcept override { return plan_.Run(arrays_.tensors(), workspace_); }
  PlanSummary Explain() const override { return Summarize(plan_.Explain()); }
  double flops() const override { return Flops(benchmark_); }

  double tanhs() const override { return Tanhs(benchmark_); }

  // Of decode steps: K and V.
  std::optional<double> bytes() const override;
  std::vector<tune::Yardstick> MemoryYardsticks(int64_t target,
                                                tune::ThreadTeam& team) const override;

  const AttentionTensors& tensors() const noexcept { return arrays_.tensors(); }

 private:
  static Result<AttentionPlan> Plan(const AttentionCase& benchmark, const Runtime& runtime,
                                    const Overrides& overrides);

  PreparedAttention(AttentionCase benchmark, AttentionPlan plan, CaseArrays arrays,
                    Workspace workspace)
      : benchmark_(std::move(benchmark)),
        plan_(std::move(plan)),
        arrays_(std::move(arrays)),
        workspace_(std::move(workspace)) {}

  AttentionCase benchmark_;
  AttentionPlan plan_;
  CaseArrays arrays_;
  Workspace workspace_;
};

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_PREPARED_ATTENTION_H_
