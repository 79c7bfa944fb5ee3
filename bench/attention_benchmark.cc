// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The cases of `lanewise bench` as a Google Benchmark program, for its filters, repetitions and
// output formats. Times are wall clock; LANEWISE_THREADS and LANEWISE_TARGET apply.

#include <benchmark/benchmark.h>

#include "bench/cases.h"
#include "bench/prepared_case.h"
#include "bench/work.h"

namespace lanewise::bench {
namespace {

void RunAttention(benchmark::State& state, const Case& attention_case) {
  Result<PreparedCase> prepared = PreparedCase::Make(attention_case, DefaultRuntime(), {});
  if (!prepared.ok()) {
    state.SkipWithError(prepared.status().message().c_str());
    return;
  }
  for ([[maybe_unused]] const auto _ : state) {
    if (const Status status = prepared->Run(); !status.ok()) {
      state.SkipWithError(status.message().c_str());
      break;
    }
  }
  const auto calls = static_cast<double>(state.iterations());
  state.counters["FLOP/s"] = benchmark::Counter(
      calls * Flops(attention_case), benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
  if (IsDecode(attention_case.shape)) {
    state.counters["B/s"] =
        benchmark::Counter(calls * DecodeBytes(attention_case), benchmark::Counter::kIsRate,
                           benchmark::Counter::kIs1000);
  }
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) {
  for (const lanewise::bench::Case& attention_case : lanewise::bench::AllCases()) {
    benchmark::RegisterBenchmark(
        attention_case.name.c_str(),
        [&](benchmark::State& state) { lanewise::bench::RunAttention(state, attention_case); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
