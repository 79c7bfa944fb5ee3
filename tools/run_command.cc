// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Files -> plan -> run -> check -> files.

#include "tools/run_command.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/attention.h"
#include "src/reference/tolerance.h"
#include "tools/command.h"
#include "tools/input_arrays.h"
#include "tools/npy.h"
#include "tools/pending_file.h"
#include "tools/plan_json.h"
#include "tools/shape_flags.h"

namespace lanewise::tools {
namespace {

struct RunFlags {
  InputPaths inputs;
  std::string out;
  std::optional<std::string> lse;
  OptionFlags options;
  RuntimeFlags runtime;
  bool check = false;
  bool json = false;
};

// A result on its way to a file.
struct Output {
  PendingFile file;
  npy::Array array;
};

struct Outputs {
  Output out;
  std::optional<Output> lse;
};

// How the results compare with the definition.
struct CheckResult {
  reference::Comparison out;
  std::optional<reference::Comparison> lse;

  bool ok() const { return out.ok() && (!lse || lse->ok()); }
};

// Whether two names lead to the same file, existing or not.
bool SameFile(const std::string& a, const std::string& b) {
  const auto full = [](const std::string& path) {
    std::error_code error;
    // A relative path of which nothing exists would stay as it is.
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
    return error ? absolute : canonical;
  };
  return full(a) == full(b);
}

Result<Output> CreateOutput(const std::string& path, std::vector<int64_t> shape) {
  Result<PendingFile> file = PendingFile::Create(path);
  if (!file.ok()) return file.status();
  return Output{std::move(*file), npy::Array::Zeros(std::move(shape))};
}

// Opens the output files before anything is computed, so that a bad path costs no time.
Result<Outputs> CreateOutputs(const RunFlags& flags, const InputArrays& inputs) {
  Result<Output> out = CreateOutput(flags.out, inputs.OutShape());
  if (!out.ok()) return out.status();
  Outputs outputs{std::move(*out), std::nullopt};
  if (flags.lse) {
    Result<Output> lse = CreateOutput(*flags.lse, inputs.LseShape());
    if (!lse.ok()) return lse.status();
    outputs.lse = std::move(*lse);
  }
  return outputs;
}

// Writes all files under their names, or none.
Status WriteOutputs(Outputs& outputs) {
  std::vector<Output*> all = {&outputs.out};
  if (outputs.lse) all.push_back(&*outputs.lse);
  for (Output* output : all) {
    if (Status s = npy::WriteTo(output->file, output->array); !s.ok()) return s;
  }
  for (Output* output : all) {
    if (Status s = output->file.Commit(); !s.ok()) {
      for (Output* earlier : all) earlier->file.Revoke();
      return s;
    }
  }
  return {};
}

CheckResult Check(const AttentionTensors& tensors, const AttentionOptions& options) {
  const reference::AttentionResult expected = reference::Attention(tensors, options);
  const reference::AttentionTolerance tolerance = reference::Tolerance(tensors, options, expected);
  CheckResult result;
  result.out = reference::Compare(tensors.out, expected.out, tolerance.out);
  if (options.lse) result.lse = reference::Compare(tensors.lse, expected.lse, tolerance.lse);
  return result;
}

// The last `rank` of the four numbers of an index, without the last `drop`.
std::vector<int64_t> IndexInFile(const Sizes& index, size_t rank, size_t drop) {
  return {index.end() - static_cast<std::ptrdiff_t>(rank),
          index.end() - static_cast<std::ptrdiff_t>(drop)};
}

std::string CheckLine(const char* name, const reference::Comparison& comparison,
                      const std::vector<int64_t>& index) {
  if (comparison.count == 0) return fmt::format("{} has no elements", name);
  return fmt::format("{}: largest error {:.3g} at [{}], tolerance {:.3g}", name,
                     comparison.largest.error, fmt::join(index, ", "),
                     comparison.largest.tolerance);
}

std::string FailureLine(const char* name, const reference::Comparison& comparison,
                        const std::vector<int64_t>& index) {
  const reference::Comparison::Element& worst = comparison.worst;
  return fmt::format(
      "check failed: {} of {} elements of {} are beyond tolerance, the worst at [{}]: {:.9g}, "
      "expected {:.9g}, error {:.3g}, tolerance {:.3g}",
      comparison.failures, comparison.count, name, fmt::join(index, ", "), worst.actual,
      worst.expected, worst.error, worst.tolerance);
}

nlohmann::ordered_json ShapeJson(const AttentionShape& shape) {
  return {{"batch", shape.batch},         {"heads", shape.heads},
          {"kv_heads", shape.kv_heads},   {"queries", shape.queries},
          {"keys", shape.keys},           {"dim", shape.dim},
          {"value_dim", shape.value_dim}, {"type", DataTypeName(shape.q_type)}};
}

// What a run did, for both forms of the report.
struct RunReport {
  const RunFlags& flags;
  const InputArrays& inputs;
  PlanExplanation plan;
  double ms = 0;
  std::optional<CheckResult> check;
  bool written = false;
};

void PrintReportJson(const RunReport& report) {
  nlohmann::ordered_json json;
  json["shape"] = ShapeJson(report.inputs.shape);
  json["plan"] = PlanJson(report.plan);
  json["ms"] = report.ms;
  json["max_error"] = nullptr;
  json["tolerance"] = nullptr;
  if (report.check) {
    json["max_error"] = report.check->out.largest.error;
    json["tolerance"] = report.check->out.largest.tolerance;
    json["max_error_index"] = IndexInFile(report.check->out.largest.index, report.inputs.rank, 0);
    if (report.check->lse) {
      json["lse_max_error"] = report.check->lse->largest.error;
      json["lse_tolerance"] = report.check->lse->largest.tolerance;
    }
  }
  json["out"] = nullptr;
  json["lse"] = nullptr;
  if (report.written) {
    json["out"] = report.flags.out;
    if (report.flags.lse) json["lse"] = *report.flags.lse;
  }
  PrintJson(json);
}

void PrintReportText(const RunReport& report) {
  const InputArrays& inputs = report.inputs;
  fmt::print("shape  q {}, k {}, v {}\n", npy::ShapeString(inputs.q.shape),
             npy::ShapeString(inputs.k.shape), npy::ShapeString(inputs.v.shape));
  fmt::print("plan   {} {}, kv_block {}, {}, {} thread{}\n", report.plan.variant, report.plan.tile,
             report.plan.kv_block, report.plan.target, report.plan.threads,
             report.plan.threads == 1 ? "" : "s");
  fmt::print("time   {:.3f} ms\n", report.ms);
  if (report.check) {
    const CheckResult& check = *report.check;
    fmt::print("check  {}\n",
               CheckLine("out", check.out, IndexInFile(check.out.largest.index, inputs.rank, 0)));
    if (check.lse) {
      fmt::print("check  {}\n", CheckLine("lse", *check.lse,
                                          IndexInFile(check.lse->largest.index, inputs.rank, 1)));
    }
  }
  if (!report.written) return;
  fmt::print("wrote  {} {}\n", report.flags.out, npy::ShapeString(inputs.OutShape()));
  if (report.flags.lse) {
    fmt::print("wrote  {} {}\n", *report.flags.lse, npy::ShapeString(inputs.LseShape()));
  }
}

int Finish(const RunReport& report) {
  if (report.flags.json) {
    PrintReportJson(report);
  } else {
    PrintReportText(report);
  }
  if (!report.check || report.check->ok()) return kExitOk;
  const CheckResult& check = *report.check;
  const size_t rank = report.inputs.rank;
  return Fail(!check.out.ok()
                  ? FailureLine("out", check.out, IndexInFile(check.out.worst.index, rank, 0))
                  : FailureLine("lse", *check.lse, IndexInFile(check.lse->worst.index, rank, 1)));
}

int Run(const RunFlags& flags) {
  if (flags.lse && SameFile(flags.out, *flags.lse)) {
    return FailUsage(
        fmt::format("--lse: found the file of --out ({}), expected another one", flags.out));
  }
  const Result<InputArrays> inputs = ReadInputs(flags.inputs);
  if (!inputs.ok()) return Fail(inputs.status());
  AttentionOptions options = flags.options.options();
  options.lse = flags.lse.has_value();
  const Result<AttentionPlan> plan = PlanAttention(inputs->shape, options, flags.runtime.runtime());
  if (!plan.ok()) return Fail(plan.status());

  Result<Outputs> outputs = CreateOutputs(flags, *inputs);
  if (!outputs.ok()) return Fail(outputs.status());
  const AttentionShape& shape = inputs->shape;
  AttentionTensors tensors;
  tensors.q = InputView(inputs->q);
  tensors.k = InputView(inputs->k);
  tensors.v = InputView(inputs->v);
  tensors.out =
      OutputView(outputs->out.array, {shape.batch, shape.heads, shape.queries, shape.value_dim});
  if (outputs->lse) {
    tensors.lse = OutputView(outputs->lse->array, {shape.batch, shape.heads, shape.queries, 1});
  }
  Workspace workspace(plan->workspace_bytes());

  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  if (Status s = plan->Run(tensors, workspace); !s.ok()) return Fail(s);
  const std::chrono::duration<double, std::milli> time = Clock::now() - begin;

  RunReport report = {flags, *inputs, plan->Explain(), time.count(), std::nullopt, false};
  if (flags.check) report.check = Check(tensors, options);
  if (!report.check || report.check->ok()) {
    if (Status s = WriteOutputs(*outputs); !s.ok()) return Fail(s);
    report.written = true;
  }
  return Finish(report);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "run", "Attention on NumPy files: f32, rank 2 [n, d], 3 [heads, n, d] or 4 [batch, ...]");
  const auto flags = std::make_shared<RunFlags>();
  const auto add_path = [command](const char* flag, auto& path, const char* description) {
    return command->add_option(flag, path, description)->type_name("FILE");
  };
  add_path("--q", flags->inputs.q, "Queries [batch, heads, queries, dim]")->required();
  add_path("--k", flags->inputs.k, "Keys [batch, kv_heads, keys, dim]")->required();
  add_path("--v", flags->inputs.v, "Values [batch, kv_heads, keys, value_dim]")->required();
  add_path("--out", flags->out, "Output to write, in the rank of the inputs")->required();
  add_path("--lse", flags->lse, "Log-sum-exp to write, without the last axis");
  flags->options.AddTo(*command);
  flags->runtime.AddTo(*command);
  command->add_flag("--check", flags->check,
                    "Compare with the definition; fail beyond the tolerance of f32");
  AddJson(*command, flags->json);
  command->callback([flags, &exit_code] { exit_code = Run(*flags); });
}

}  // namespace lanewise::tools
