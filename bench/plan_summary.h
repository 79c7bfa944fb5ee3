// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What plans of every kind say about themselves, in one form.

#ifndef LANEWISE_BENCH_PLAN_SUMMARY_H_
#define LANEWISE_BENCH_PLAN_SUMMARY_H_

#include <cstdint>  // int64_t
#include <string>
#include <utility>  // pair
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/gemm.h"
#include "lanewise/layers.h"

namespace lanewise::bench {

struct PlanSummary {
  std::string variant;
  std::string tile;
  std::vector<std::pair<std::string, int64_t>> numbers;  // parameters of this kind of plan
  std::string target;
  int threads = 0;
  int64_t workspace_bytes = 0;
  std::vector<std::pair<std::string, std::string>> sources;  // parameter, where it came from
  std::vector<std::string> reasons;

  // 0 if this kind of plan has no such number.
  int64_t Number(const std::string& name) const;
};

PlanSummary Summarize(const PlanExplanation& plan);
PlanSummary Summarize(const GemmExplanation& plan);
// Variant, tile and numbers are those of its attention.
PlanSummary Summarize(const MultiHeadExplanation& plan);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_PLAN_SUMMARY_H_
