// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of row softmax, and how it is prepared.

#include "bench/softmax_cases.h"

#include "bench/random_elements.h"
#include "src/machine/targets.h"
#include "src/profile/defaults.h"

namespace lanewise::bench {

std::vector<SoftmaxCase> SoftmaxCases() { return {{"softmax_rows", 2048, 2048}}; }

Case ToCase(SoftmaxCase benchmark) { return CaseOf<PreparedSoftmax>(std::move(benchmark)); }

Status PreparedSoftmax::Check(const SoftmaxCase& /*benchmark*/, const Runtime& /*runtime*/,
                              const Overrides& overrides) {
  return RefuseOverrides(overrides, "row softmax");
}

Result<std::unique_ptr<PreparedCase>> PreparedSoftmax::Make(const SoftmaxCase& benchmark,
                                                            const Runtime& runtime,
                                                            const Overrides& overrides) {
  if (Status s = Check(benchmark, runtime, overrides); !s.ok()) return s;
  const Sizes sizes = {1, 1, benchmark.rows, benchmark.columns};
  Tensor rows;
  Result<tune::FloatArray> memory = RandomTensor(DataType::kF32, sizes, 1, rows);
  if (!memory.ok()) return memory.status();
  Tensor other;
  Result<tune::FloatArray> copy = RandomTensor(DataType::kF32, sizes, 2, other);
  if (!copy.ok()) return copy.status();
  return std::unique_ptr<PreparedCase>(
      new PreparedSoftmax(std::move(*memory), std::move(*copy), rows, runtime));
}

PlanSummary PreparedSoftmax::Explain() const {
  PlanSummary summary;
  summary.variant = rows_.sizes[3] <= profile::kResidentColumns ? "resident" : "streamed";
  if (const Result<int64_t> target = machine::FindTarget(runtime_.target); target.ok()) {
    summary.target = machine::TargetName(*target);
  }
  summary.threads = runtime_.threads;
  return summary;
}

std::optional<double> PreparedSoftmax::bytes() const {
  return static_cast<double>(ReadAll(rows_).size_bytes);
}

std::vector<tune::Yardstick> PreparedSoftmax::MemoryYardsticks(int64_t /*target*/,
                                                               tune::ThreadTeam& team) const {
  return {tune::MemoryCopy(ReadAll(rows_), copy_.data(), team)};
}

}  // namespace lanewise::bench
