// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A case with everything that a call needs: plan, arrays of random numbers, workspace.

#ifndef LANEWISE_BENCH_PREPARED_CASE_H_
#define LANEWISE_BENCH_PREPARED_CASE_H_

#include <utility>  // move

#include "bench/cases.h"
#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "src/attention/overrides.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

// The arrays of one call, dense, in private memory; inputs uniform in [-1, 1) from fixed seeds.
class CaseArrays {
 public:
  // Errors: kUnsupported for element types other than f32, kOutOfMemory.
  static Result<CaseArrays> Make(const Case& benchmark);

  // Views of the arrays; valid as long as this object.
  const AttentionTensors& tensors() const noexcept { return tensors_; }

 private:
  tune::FloatArray q_, k_, v_, out_, lse_;
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
