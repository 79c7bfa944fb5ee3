// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/attention_cases.h"
#include "bench/case.h"
#include "bench/cases.h"
#include "bench/run_case.h"
#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "src/machine/cpus.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/plan_json.h"
#include "tools/shape_flags.h"
#include "tune/measure.h"

namespace lanewise::tools {
namespace {

// An hour; longer rounds say nothing more.
constexpr int kMostSeconds = 3600;

class OverrideFlags {
 public:
  void AddTo(CLI::App& app) {
    AddId(app, "--variant", overrides_.variant,
          "lanes or few; blocks, panels, rows or dots (default: the plan's)");
    AddId(app, "--tile", overrides_.tile, "Register tile, e.g. 8x2v (default: the plan's)");
    AddInt(app, "--kv-block", kv_block_, "Keys a softmax step (default: the plan's)", {1});
    AddInt(app, "--q-groups", q_groups_, "Lane groups a query tile (default: the plan's)", {1});
    AddInt(app, "--grain", grain_, "Query tiles a thread takes at a time (default: the plan's)",
           {1});
    AddInt(app, "--row-block", row_block_, "Rows a block of A (default: the plan's)", {1});
    AddInt(app, "--depth-block", depth_block_, "Steps a block of A and B (default: the plan's)",
           {1});
    AddInt(app, "--column-block", column_block_, "Columns a block of B (default: the plan's)", {1});
  }

  bench::Overrides overrides() const {
    bench::Overrides overrides = overrides_;
    overrides.kv_block = kv_block_.value_or(0);
    overrides.q_groups = q_groups_.value_or(0);
    overrides.grain = grain_.value_or(0);
    overrides.row_block = row_block_.value_or(0);
    overrides.depth_block = depth_block_.value_or(0);
    overrides.column_block = column_block_.value_or(0);
    return overrides;
  }

 private:
  bench::Overrides overrides_;
  std::optional<int64_t> kv_block_, q_groups_, grain_, row_block_, depth_block_, column_block_;
};

struct BenchFlags {
  std::vector<std::string> cases;
  ShapeFlags shape;
  OptionFlags options;
  ArrayFlags arrays;
  RuntimeFlags runtime;
  OverrideFlags overrides;
  std::optional<float> seconds;
  bool json = false;
};

struct Report {
  std::string cpu;
  std::string target;
  int threads = 0;
  double fma_peak_gflops = 0;  // the best of all cases, which all of them are compared with
  std::vector<bench::CaseResult> results;
};

// The cases that the command line asks for. All errors are errors of usage.
Result<std::vector<bench::Case>> ChooseCases(const BenchFlags& flags) {
  if (!flags.shape.given() && !flags.options.given() && !flags.arrays.given()) {
    return bench::FindCases(flags.cases);
  }
  if (!flags.cases.empty()) {
    const Result<std::vector<bench::Case>> known = bench::FindCases(flags.cases);
    if (!known.ok()) return known;
    return Status::InvalidArgument("case \"" + flags.cases.front() +
                                   "\" has its own shape; expected no flags for shape and options");
  }
  const Result<AttentionShape> shape = flags.shape.shape(flags.options);
  if (!shape.ok()) return shape.status();
  AttentionOptions options = flags.options.options();
  flags.arrays.ApplyTo(options);
  return std::vector<bench::Case>{
      bench::ToCase(bench::CustomCase(*shape, options,
                                      {.kv_len = flags.options.kv_len(),
                                       .q_offsets = flags.options.q_offsets(),
                                       .k_offsets = flags.options.k_offsets()}))};
}

Result<Report> Measure(const CLI::App& command, const std::vector<bench::Case>& cases,
                       const BenchFlags& flags) {
  const Runtime runtime = flags.runtime.runtime();
  const bench::Overrides overrides = flags.overrides.overrides();
  tune::MeasureOptions measure;
  if (flags.seconds) {
    measure.seconds = *flags.seconds;
    // As many rounds as fit.
    measure.max_rounds =
        std::max(measure.max_rounds, static_cast<int>(measure.seconds / measure.sample_seconds));
  }

  Report report;
  report.cpu = machine::CpuName();
  report.threads = runtime.threads;
  const auto error = [&](const bench::Case& benchmark, const Status& status) {
    return Status(status.code(), benchmark.name + ": " + NamingFlag(command, status.message()));
  };
  // What is wrong shows before anything is timed.
  for (const bench::Case& benchmark : cases) {
    if (Status s = benchmark.check(runtime, overrides); !s.ok()) return error(benchmark, s);
  }
  for (const bench::Case& benchmark : cases) {
    Result<bench::CaseResult> result = bench::RunCase(benchmark, runtime, overrides, measure);
    if (!result.ok()) return error(benchmark, result.status());
    report.target = result->plan.target;
    report.fma_peak_gflops = std::max(report.fma_peak_gflops, result->fma_peak_gflops);
    report.results.push_back(std::move(*result));
  }
  return report;
}

double PeakFraction(const Report& report, const bench::CaseResult& result) {
  return result.gflops / report.fma_peak_gflops;
}

// Of what memory does for work of that kind.
std::optional<double> MemoryFraction(const bench::CaseResult& result, bench::MemoryWork work) {
  if (!result.gbps || !result.memory_gbps || result.memory_work != work) return std::nullopt;
  return *result.gbps / *result.memory_gbps;
}

nlohmann::ordered_json NumberOrNull(std::optional<double> number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

nlohmann::ordered_json ToJson(const Report& report) {
  using enum bench::MemoryWork;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const bench::CaseResult& result : report.results) {
    results.push_back({{"case", result.name},
                       {"plan", PlanJson(result.plan)},
                       {"ms", result.seconds * 1e3},
                       {"gflops", result.gflops},
                       {"peak_fraction", PeakFraction(report, result)},
                       {"gbps", NumberOrNull(result.gbps)},
                       {"read_fraction", NumberOrNull(MemoryFraction(result, kRead))},
                       {"memcpy_fraction", NumberOrNull(MemoryFraction(result, kCopy))},
                       {"tanh_fraction", NumberOrNull(result.tanh_fraction)},
                       {"spread", result.spread}});
  }
  return {{"machine",
           {{"cpu", report.cpu}, {"target", report.target}, {"targets", AvailableTargets()}}},
          {"threads", report.threads},
          {"fma_peak_gflops", report.fma_peak_gflops},
          {"results", results}};
}

// The first numbers of a plan: "512x4" is kv_block x q_groups, "228x256x512" row_block x
// depth_block x column_block.
std::string BlocksCell(const bench::PlanSummary& plan) {
  std::string cell;
  for (const auto& [name, value] : plan.numbers) {
    if (name == "grain") continue;
    cell += fmt::format("{}{}", cell.empty() ? "" : "x", value);
  }
  return cell;
}

// `number` times `factor` to one decimal, or a dash.
std::string Cell(std::optional<double> number, double factor = 1.0) {
  return number ? fmt::format("{:.1f}", *number * factor) : std::string("-");
}

std::string ToText(const Report& report) {
  std::string text =
      fmt::format("{}, {}, {} thread{}, FMA peak {:.1f} GFLOP/s\n\n", report.cpu, report.target,
                  report.threads, report.threads == 1 ? "" : "s", report.fma_peak_gflops);
  size_t name_width = 4;
  size_t variant_width = 7;
  for (const bench::CaseResult& result : report.results) {
    name_width = std::max(name_width, result.name.size());
    variant_width = std::max(variant_width, result.plan.variant.size());
  }
  text += fmt::format("{:<{}}  {:>{}} {:>6} {:>12} {:>10} {:>8} {:>6} {:>6} {:>6} {:>6} {:>8}\n",
                      "case", name_width, "variant", variant_width, "tile", "blocks", "ms",
                      "GFLOP/s", "peak %", "GB/s", "mem %", "tanh %", "spread %");
  for (const bench::CaseResult& result : report.results) {
    text += fmt::format(
        "{:<{}}  {:>{}} {:>6} {:>12} {:>10.3f} {:>8.1f} {:>6.1f} {:>6} {:>6} {:>6} {:>8.1f}\n",
        result.name, name_width, result.plan.variant, variant_width, result.plan.tile,
        BlocksCell(result.plan), result.seconds * 1e3, result.gflops,
        PeakFraction(report, result) * 100, Cell(result.gbps),
        Cell(MemoryFraction(result, result.memory_work), 100), Cell(result.tanh_fraction, 100),
        result.spread * 100);
  }
  return text;
}

int Bench(const CLI::App& command, const BenchFlags& flags) {
  if (flags.seconds && !(*flags.seconds > 0 && *flags.seconds <= kMostSeconds)) {
    return FailUsage(fmt::format("--seconds: found {}, expected more than 0 and at most {}",
                                 *flags.seconds, kMostSeconds));
  }
  const Result<std::vector<bench::Case>> cases = ChooseCases(flags);
  if (!cases.ok()) return FailUsage(cases.status().message());
  const Result<Report> report = Measure(command, *cases, flags);
  // All that a plan can find wrong stands on the command line.
  if (report.status().code() == StatusCode::kInvalidArgument) {
    return FailUsage(report.status().message());
  }
  if (!report.ok()) return Fail(report.status());
  if (flags.json) {
    PrintJson(ToJson(*report));
  } else {
    fmt::print("{}", ToText(*report));
  }
  return kExitOk;
}

}  // namespace

void AddBenchCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "bench", "Time named cases, or a shape from flags, against the FMA peak measured alongside");
  const auto flags = std::make_shared<BenchFlags>();
  std::string names;
  for (const bench::Case& known : bench::AllCases()) {
    names += (names.empty() ? "" : ", ") + known.name;
  }
  command->add_option("CASE", flags->cases, "Cases (default: all): " + names)->type_name("");
  flags->shape.AddTo(*command);
  flags->options.AddTo(*command);
  flags->arrays.AddTo(*command);
  ExcludeFromRagged(*command);
  flags->runtime.AddTo(*command);
  flags->overrides.AddTo(*command);
  AddFloat(*command, "--seconds", flags->seconds,
           "Time to spend on a case, at most 3600 (default: 1.5)");
  AddJson(*command, flags->json);
  command->callback([command, flags, &exit_code] { exit_code = Bench(*command, *flags); });
}

}  // namespace lanewise::tools
