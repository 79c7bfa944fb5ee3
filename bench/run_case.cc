// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One case, measured.

#include "bench/run_case.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/machine/targets.h"
#include "tune/thread_team.h"
#include "tune/yardsticks.h"

namespace lanewise::bench {
namespace {

// Work per second in units of 1e9.
double GigaRate(double work, double seconds) { return seconds > 0 ? work / seconds / 1e9 : 0.0; }

}  // namespace

Result<CaseResult> RunCase(const Case& benchmark, const Runtime& runtime,
                           const Overrides& overrides, const tune::MeasureOptions& measure) {
  if (runtime.threads < 1) {
    return Status::InvalidArgument("threads: got " + std::to_string(runtime.threads) +
                                   ", expected at least 1");
  }
  const Result<std::unique_ptr<PreparedCase>> made = benchmark.prepare(runtime, overrides);
  if (!made.ok()) return made.status();
  PreparedCase& prepared = **made;
  if (Status status = prepared.Run(); !status.ok()) return status;

  CaseResult result;
  result.name = benchmark.name;
  result.plan = prepared.Explain();
  const Result<int64_t> target = machine::FindTarget(result.plan.target);
  if (!target.ok()) return target.status();

  tune::ThreadTeam team(runtime.threads);
  std::vector<tune::Yardstick> yardsticks = {tune::FmaPeak(*target, team)};
  for (tune::Yardstick& memory : prepared.MemoryYardsticks(*target, team)) {
    yardsticks.push_back(std::move(memory));
  }

  const size_t memory_end = yardsticks.size();
  if (prepared.tanhs() > 0) yardsticks.push_back(tune::TanhCalls(*target, team));

  Status failure;
  std::vector<tune::Timer> timers = {tune::Timed([&] {
    if (Status status = prepared.Run(); !status.ok()) failure = status;
  })};
  for (const tune::Yardstick& yardstick : yardsticks) timers.push_back(yardstick.timer);
  const std::vector<tune::Measurement> measured = tune::MeasureInterleaved(timers, measure);
  if (!failure.ok()) return failure;

  result.seconds = measured[0].best;
  result.spread = measured[0].spread();
  result.gflops = GigaRate(prepared.flops(), result.seconds);
  result.fma_peak_gflops = GigaRate(yardsticks[0].work, measured[1].best);
  if (const std::optional<double> bytes = prepared.bytes()) {
    result.gbps = GigaRate(*bytes, result.seconds);
    double memory_gbps = 0;
    for (size_t i = 1; i < memory_end; ++i) {
      memory_gbps = std::max(memory_gbps, GigaRate(yardsticks[i].work, measured[i + 1].best));
    }
    result.memory_gbps = memory_gbps;
    result.memory_work = prepared.memory_work();
  }
  if (prepared.tanhs() > 0) {
    const double alone = prepared.tanhs() / yardsticks.back().work * measured.back().best;
    result.tanh_fraction = alone / result.seconds;
  }
  return result;
}

}  // namespace lanewise::bench
