// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products as a case.

#ifndef LANEWISE_BENCH_GEMM_CASES_H_
#define LANEWISE_BENCH_GEMM_CASES_H_

#include <memory>    // unique_ptr
#include <optional>  // bytes
#include <string>    // names
#include <utility>   // move
#include <vector>    // lists of cases

#include "bench/case.h"
#include "lanewise/gemm.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

struct GemmCase {
  std::string name;
  GemmShape shape;
  GemmOptions options;
};

// Those of the table, in its order.
std::vector<GemmCase> GemmCases();

Case ToCase(GemmCase benchmark);

// Dense arrays, uniform in [-1, 1) from fixed seeds. A packed B is packed beforehand.
class PreparedGemm : public PreparedCase {
 public:
  // Errors: those of PlanGemmWith and PackB; kOutOfMemory; kInvalidArgument for an override that
  // products do not have.
  static Status Check(const GemmCase& benchmark, const Runtime& runtime,
                      const Overrides& overrides);
  static Result<std::unique_ptr<PreparedCase>> Make(const GemmCase& benchmark,
                                                    const Runtime& runtime,
                                                    const Overrides& overrides);

  Status Run() noexcept override { return plan_.Run(tensors_, workspace_); }
  PlanSummary Explain() const override { return Summarize(plan_.Explain()); }
  double flops() const override;

  // Of one row: B.
  std::optional<double> bytes() const override;
  std::vector<tune::Yardstick> MemoryYardsticks(int64_t target,
                                                tune::ThreadTeam& team) const override;

  const GemmTensors& tensors() const noexcept { return tensors_; }

 private:
  static Result<GemmPlan> Plan(const GemmCase& benchmark, const Runtime& runtime,
                               const Overrides& overrides);

  PreparedGemm(GemmCase benchmark, GemmPlan plan)
      : benchmark_(std::move(benchmark)),
        plan_(std::move(plan)),
        workspace_(plan_.workspace_bytes()) {}

  Status MakeArrays(const Runtime& runtime);
  bool IsOneRow() const;

  GemmCase benchmark_;
  GemmPlan plan_;
  Workspace workspace_;
  std::vector<tune::FloatArray> memory_;
  PackedMatrix packed_;
  ConstTensor b_;  // the array, whether it was packed or not
  GemmTensors tensors_;
};

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_GEMM_CASES_H_
