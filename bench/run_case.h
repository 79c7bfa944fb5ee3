// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Measures a case together with its yardsticks.

#ifndef LANEWISE_BENCH_RUN_CASE_H_
#define LANEWISE_BENCH_RUN_CASE_H_

#include <optional>
#include <string>

#include "bench/case.h"
#include "bench/plan_summary.h"
#include "lanewise/runtime.h"
#include "tune/measure.h"

namespace lanewise::bench {

struct CaseResult {
  std::string name;
  PlanSummary plan;
  double seconds = 0;          // a call, best round
  double gflops = 0;           // useful GFLOP/s of the best round
  double spread = 0;           // (median - best) / best over the rounds
  double fma_peak_gflops = 0;  // best round of the peak loop, on as many threads as the plan has
  // Where memory bounds the case: its bytes in GB/s, and those of the best memory yardstick.
  std::optional<double> gbps;
  std::optional<double> memory_gbps;
  MemoryWork memory_work = MemoryWork::kRead;
  // Where tanh bounds the case: the best time of its tanh calls alone, as a part of `seconds`.
  std::optional<double> tanh_fraction;
};

// Times calls of `benchmark`, the FMA peak and the case's memory and tanh yardsticks, all in the
// same interleaved rounds. `runtime.threads` must be at least 1: the yardsticks use as many.
// Errors: those of preparing and running the case; kInvalidArgument for 0 threads.
Result<CaseResult> RunCase(const Case& benchmark, const Runtime& runtime,
                           const Overrides& overrides, const tune::MeasureOptions& measure);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_RUN_CASE_H_
