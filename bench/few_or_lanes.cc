// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The two variants of attention over a grid of types, dims, keys and rows, both in the same
// interleaved rounds on one thread: few_or_lanes [TARGET [SECONDS]] prints the grid as CSV, with
// seconds for a cell (default 0.3). few_or_lanes.py draws it.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/attention_cases.h"
#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "src/machine/cpus.h"
#include "src/machine/targets.h"
#include "tune/measure.h"

namespace lanewise::bench {
namespace {

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
constexpr int64_t kDims[] = {64, 128};
constexpr int64_t kKeys[] = {64, 512, 4096};
constexpr int64_t kRows[] = {1, 2, 4, 6, 8, 12, 16, 20, 24, 32};
constexpr int64_t kKvHeads = 4;

struct Cell {
  DataType type;
  int64_t dim;
  int64_t keys;
  int64_t rows;  // heads a kv head, one query each
};

Status PrintCell(const Cell& cell, const Runtime& runtime, const tune::MeasureOptions& measure) {
  AttentionShape shape;
  shape.batch = 1;
  shape.heads = kKvHeads * cell.rows;
  shape.kv_heads = kKvHeads;
  shape.queries = 1;
  shape.keys = cell.keys;
  shape.dim = cell.dim;
  shape.value_dim = cell.dim;
  shape.k_type = cell.type;
  shape.v_type = cell.type;
  const Case benchmark = ToCase(CustomCase(shape, {}));
  std::vector<std::unique_ptr<PreparedCase>> prepared;
  for (const char* variant : {"", "few", "lanes"}) {
    Overrides overrides;
    overrides.variant = variant;
    auto made = benchmark.prepare(runtime, overrides);
    if (!made.ok()) return made.status();
    prepared.push_back(std::move(*made));
  }
  const std::string chosen = prepared[0]->Explain().variant;
  Status failure;
  std::vector<tune::Timer> timers;
  for (size_t i = 1; i < prepared.size(); ++i) {
    timers.push_back(tune::Timed([&failure, one = prepared[i].get()] {
      if (Status status = one->Run(); !status.ok()) failure = status;
    }));
  }
  const std::vector<tune::Measurement> measured = tune::MeasureInterleaved(timers, measure);
  if (!failure.ok()) return failure;
  fmt::print("{},{},{},{},{:.4f},{:.4f},{}\n", DataTypeName(cell.type), cell.dim, cell.keys,
             cell.rows, measured[0].median * 1e3, measured[1].median * 1e3, chosen);
  std::fflush(stdout);
  return {};
}

int Main(int argc, char** argv) {
  Runtime runtime = DefaultRuntime();
  runtime.threads = 1;
  if (argc > 1) runtime.target = argv[1];
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) {
    fmt::print(stderr, "{}\n", target.status().message());
    return 2;
  }
  tune::MeasureOptions measure;
  measure.seconds = 0.3;
  if (argc > 2) {
    const std::string_view text = argv[2];
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), measure.seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(measure.seconds > 0) ||
        !(measure.seconds <= 3600)) {
      fmt::print(stderr, "SECONDS: found {}, expected a number above 0, at most 3600\n", text);
      return 2;
    }
  }
  fmt::print(
      "# median ms of interleaved rounds, one thread, {} kv heads, 1 query of `rows` heads "
      "each, K and V of type; {}, {}\n",
      kKvHeads, machine::CpuName(), machine::TargetName(*target));
  fmt::print("type,dim,keys,rows,few_ms,lanes_ms,chosen\n");
  for (const DataType type : kTypes) {
    for (const int64_t dim : kDims) {
      for (const int64_t keys : kKeys) {
        for (const int64_t rows : kRows) {
          const Status status = PrintCell({type, dim, keys, rows}, runtime, measure);
          if (status.ok()) continue;
          fmt::print(stderr, "{}\n", status.message());
          return 1;
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) { return lanewise::bench::Main(argc, argv); }
