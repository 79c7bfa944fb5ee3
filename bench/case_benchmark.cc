// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The cases of `lanewise bench` as a Google Benchmark program, for its filters, repetitions and
// output formats. Times are wall clock; LANEWISE_THREADS and LANEWISE_TARGET apply.

#include <benchmark/benchmark.h>

#include <memory>

#include "bench/case.h"
#include "bench/cases.h"

namespace lanewise::bench {
namespace {

void RunCaseBenchmark(benchmark::State& state, const Case& benchmark_case) {
  const Result<std::unique_ptr<PreparedCase>> made = benchmark_case.prepare(DefaultRuntime(), {});
  if (!made.ok()) {
    state.SkipWithError(made.status().message().c_str());
    return;
  }
  PreparedCase& prepared = **made;
  for ([[maybe_unused]] const auto _ : state) {
    if (const Status status = prepared.Run(); !status.ok()) {
      state.SkipWithError(status.message().c_str());
      break;
    }
  }
  const auto calls = static_cast<double>(state.iterations());
  state.counters["FLOP/s"] = benchmark::Counter(
      calls * prepared.flops(), benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
  if (const std::optional<double> bytes = prepared.bytes()) {
    state.counters["B/s"] = benchmark::Counter(calls * *bytes, benchmark::Counter::kIsRate,
                                               benchmark::Counter::kIs1000);
  }
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) {
  for (const lanewise::bench::Case& benchmark_case : lanewise::bench::AllCases()) {
    benchmark::RegisterBenchmark(
        benchmark_case.name.c_str(),
        [&](benchmark::State& state) { lanewise::bench::RunCaseBenchmark(state, benchmark_case); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
