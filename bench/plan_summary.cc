// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/plan_summary.h"

namespace lanewise::bench {
namespace {

// What all explanations have.
template <typename Explanation>
PlanSummary SummarizeCommon(const Explanation& plan) {
  PlanSummary summary;
  summary.variant = plan.variant;
  summary.tile = plan.tile;
  summary.target = plan.target;
  summary.threads = plan.threads;
  summary.workspace_bytes = plan.workspace_bytes;
  for (const auto& source : plan.sources) {
    summary.sources.emplace_back(source.parameter, source.source);
  }
  summary.reasons = plan.reasons;
  return summary;
}

}  // namespace

int64_t PlanSummary::Number(const std::string& name) const {
  for (const auto& [known, value] : numbers) {
    if (known == name) return value;
  }
  return 0;
}

PlanSummary Summarize(const PlanExplanation& plan) {
  PlanSummary summary = SummarizeCommon(plan);
  summary.numbers = {
      {"kv_block", plan.kv_block}, {"q_groups", plan.q_groups}, {"grain", plan.grain}};
  return summary;
}

PlanSummary Summarize(const GemmExplanation& plan) {
  PlanSummary summary = SummarizeCommon(plan);
  summary.numbers = {{"row_block", plan.row_block},
                     {"depth_block", plan.depth_block},
                     {"column_block", plan.column_block}};
  return summary;
}

PlanSummary Summarize(const MultiHeadExplanation& plan) {
  PlanSummary summary = Summarize(plan.attention);
  summary.workspace_bytes = plan.workspace_bytes;
  return summary;
}

}  // namespace lanewise::bench
