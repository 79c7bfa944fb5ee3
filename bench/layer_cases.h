// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Multi-head attention layers as cases.

#ifndef LANEWISE_BENCH_LAYER_CASES_H_
#define LANEWISE_BENCH_LAYER_CASES_H_

#include <memory>   // unique_ptr
#include <string>   // names
#include <utility>  // move
#include <vector>   // lists of cases

#include "bench/case.h"
#include "lanewise/layers.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

// Self-attention, f32, with biases.
struct LayerCase {
  std::string name;
  MultiHeadShape shape;
  MultiHeadCall call;
};

// Those of the table, in its order.
std::vector<LayerCase> LayerCases();

Case ToCase(LayerCase benchmark);

// Dense rows, uniform in [-1, 1); weights are smaller by sqrt(d_model), so that projected rows, and
// with them scores, have the spread of those of a model. Weights are packed beforehand.
class PreparedLayer : public PreparedCase {
 public:
  // Errors: those of MakeMultiHeadAttention and its Plan; kOutOfMemory; kInvalidArgument for any
  // override.
  static Status Check(const LayerCase& benchmark, const Runtime& runtime,
                      const Overrides& overrides);
  static Result<std::unique_ptr<PreparedCase>> Make(const LayerCase& benchmark,
                                                    const Runtime& runtime,
                                                    const Overrides& overrides);

  Status Run() noexcept override { return plan_.Run(tensors_, workspace_); }
  PlanSummary Explain() const override { return Summarize(plan_.Explain()); }

  // The four products and attention, as counted in their own cases.
  double flops() const override;

  const MultiHeadTensors& tensors() const noexcept { return tensors_; }

 private:
  PreparedLayer(LayerCase benchmark, MultiHeadPlan plan)
      : benchmark_(std::move(benchmark)),
        plan_(std::move(plan)),
        workspace_(plan_.workspace_bytes()) {}

  LayerCase benchmark_;
  MultiHeadPlan plan_;
  Workspace workspace_;
  tune::FloatArray x_;
  tune::FloatArray out_;
  MultiHeadTensors tensors_;
};

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_LAYER_CASES_H_
