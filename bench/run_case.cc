// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One case, measured.

#include "bench/run_case.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/prepared_case.h"
#include "bench/work.h"
#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/machine/targets.h"
#include "tune/thread_team.h"
#include "tune/yardsticks.h"

namespace lanewise::bench {
namespace {

// Work per second in units of 1e9.
double GigaRate(double work, double seconds) { return seconds > 0 ? work / seconds / 1e9 : 0.0; }

// The bytes of an array of CaseArrays, in whole words.
tune::ReadArray ReadAll(const ConstTensor& tensor) {
  constexpr int64_t kWordBytes = 4;
  int64_t bytes = core::ElementBytes(tensor.type);
  for (const int64_t size : tensor.sizes) bytes *= size;
  return {tensor.data, static_cast<size_t>(core::RoundUp(bytes, kWordBytes))};
}

}  // namespace

Result<CaseResult> RunCase(const Case& benchmark, const Runtime& runtime,
                           const attention::PlanOverrides& overrides,
                           const tune::MeasureOptions& measure) {
  if (runtime.threads < 1) {
    return Status::InvalidArgument("threads: got " + std::to_string(runtime.threads) +
                                   ", expected at least 1");
  }
  Result<PreparedCase> prepared = PreparedCase::Make(benchmark, runtime, overrides);
  if (!prepared.ok()) return prepared.status();
  if (Status status = prepared->Run(); !status.ok()) return status;

  CaseResult result;
  result.name = benchmark.name;
  result.plan = prepared->plan().Explain();
  const Result<int64_t> target = machine::FindTarget(result.plan.target);
  if (!target.ok()) return target.status();

  tune::ThreadTeam team(runtime.threads);
  const bool decode = IsDecode(benchmark.shape);
  std::vector<tune::Yardstick> yardsticks = {tune::FmaPeak(*target, team)};
  if (decode) {
    const AttentionTensors& tensors = prepared->tensors();
    for (tune::Yardstick& sum :
         tune::ReadSums(*target, {ReadAll(tensors.k), ReadAll(tensors.v)}, team)) {
      yardsticks.push_back(std::move(sum));
    }
  }

  Status failure;
  std::vector<tune::Timer> timers = {tune::Timed([&] {
    if (Status status = prepared->Run(); !status.ok()) failure = status;
  })};
  for (const tune::Yardstick& yardstick : yardsticks) timers.push_back(yardstick.timer);
  const std::vector<tune::Measurement> measured = tune::MeasureInterleaved(timers, measure);
  if (!failure.ok()) return failure;

  result.seconds = measured[0].best;
  result.spread = measured[0].spread();
  result.gflops = GigaRate(Flops(benchmark), result.seconds);
  result.fma_peak_gflops = GigaRate(yardsticks[0].work, measured[1].best);
  if (decode) {
    result.gbps = GigaRate(DecodeBytes(benchmark), result.seconds);
    double read_gbps = 0;
    for (size_t i = 1; i < yardsticks.size(); ++i) {
      read_gbps = std::max(read_gbps, GigaRate(yardsticks[i].work, measured[i + 1].best));
    }
    result.read_gbps = read_gbps;
  }
  return result;
}

}  // namespace lanewise::bench
