// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Measures a case together with its yardsticks.

#ifndef LANEWISE_BENCH_RUN_CASE_H_
#define LANEWISE_BENCH_RUN_CASE_H_

#include <optional>
#include <string>

#include "bench/cases.h"
#include "lanewise/runtime.h"
#include "src/attention/overrides.h"
#include "tune/measure.h"

namespace lanewise::bench {

struct CaseResult {
  std::string name;
  PlanExplanation plan;
  double seconds = 0;          // a call, best round
  double gflops = 0;           // useful GFLOP/s of the best round, see work.h
  double spread = 0;           // (median - best) / best over the rounds
  double fma_peak_gflops = 0;  // best round of the peak loop, on as many threads as the plan has
  std::optional<double> gbps;  // decode only: bytes of K and V in GB/s
  std::optional<double> read_gbps;  // decode only: the best plain sum over the same arrays
};

// Times calls of `benchmark`, the FMA peak and, for decode, plain sums over K and V, all in the
// same interleaved rounds. `runtime.threads` must be at least 1: the yardsticks use as many.
// Errors: those of PreparedCase::Make and AttentionPlan::Run; kInvalidArgument for 0 threads.
Result<CaseResult> RunCase(const Case& benchmark, const Runtime& runtime,
                           const attention::PlanOverrides& overrides,
                           const tune::MeasureOptions& measure);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_RUN_CASE_H_
