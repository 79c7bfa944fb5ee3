// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The report of a run as JSON and as text.

#include "tools/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/reference/attention.h"
#include "tools/command.h"
#include "tools/npy.h"
#include "tools/plan_json.h"

namespace lanewise::tools {
namespace {

bool Passes(const CheckedArray& array) { return array.comparison.ok(); }

// An index of a tensor as one of the file, whose arrays have the rank of q without some last axes.
std::vector<int64_t> IndexInFile(const RunReport& report, const CheckedArray& array,
                                 const Sizes& index) {
  return {index.end() - static_cast<std::ptrdiff_t>(report.inputs.rank),
          index.end() - static_cast<std::ptrdiff_t>(array.dropped_axes)};
}

std::string CheckLine(const RunReport& report, const CheckedArray& array) {
  if (array.comparison.count == 0) return fmt::format("{}: no elements", array.name);
  const reference::Comparison::Element& largest = array.comparison.largest;
  return fmt::format("{}: largest error {:.3g} at [{}], tolerance {:.3g}", array.name,
                     largest.error, fmt::join(IndexInFile(report, array, largest.index), ", "),
                     largest.tolerance);
}

nlohmann::ordered_json ShapeJson(const AttentionShape& shape) {
  return {{"batch", shape.batch},
          {"heads", shape.heads},
          {"kv_heads", shape.kv_heads},
          {"queries", shape.queries},
          {"keys", shape.keys},
          {"dim", shape.dim},
          {"value_dim", shape.value_dim},
          {"type", DataTypeName(shape.q_type)},
          {"k_type", DataTypeName(shape.k_type)},
          {"v_type", DataTypeName(shape.v_type)}};
}

// "(12, 166, 32)", with the type if it is not f32: "(12, 166, 32) f16".
std::string Described(const npy::Array& array) {
  const std::string shape = npy::ShapeString(array.shape);
  return array.type == DataType::kF32 ? shape
                                      : fmt::format("{} {}", shape, DataTypeName(array.type));
}

// Name, path if the run has such an output, and shape of every file.
struct OutputFile {
  const char* name;
  const std::string* path;
  std::vector<int64_t> shape;
};

std::vector<OutputFile> OutputFiles(const RunReport& report) {
  const OutputPaths& paths = report.outputs;
  return {{"out", &paths.out, report.inputs.OutShape()},
          {"lse", paths.lse ? &*paths.lse : nullptr, report.inputs.LseShape()},
          {"weights", paths.weights ? &*paths.weights : nullptr, report.inputs.WeightsShape()}};
}

}  // namespace

std::vector<CheckedArray> CheckResults(const AttentionTensors& tensors,
                                       const AttentionOptions& options) {
  const reference::AttentionResult expected = reference::Attention(tensors, options);
  const reference::AttentionTolerance tolerance = reference::Tolerance(tensors, options, expected);
  std::vector<CheckedArray> checked = {
      {"out", reference::Compare(tensors.out, expected.out, tolerance.out), 0}};
  if (options.lse) {
    checked.push_back({"lse", reference::Compare(tensors.lse, expected.lse, tolerance.lse), 1});
  }
  if (options.weights) {
    checked.push_back(
        {"weights", reference::Compare(tensors.weights, expected.weights, tolerance.weights), 0});
  }
  return checked;
}

bool AllPass(const std::vector<CheckedArray>& checked) {
  return std::all_of(checked.begin(), checked.end(), Passes);
}

void PrintReportJson(const RunReport& report) {
  nlohmann::ordered_json json;
  json["shape"] = ShapeJson(report.inputs.shape);
  json["plan"] = PlanJson(report.plan);
  json["ms"] = report.ms;
  json["max_error"] = nullptr;
  json["tolerance"] = nullptr;
  for (const CheckedArray& array : report.check.value_or(std::vector<CheckedArray>())) {
    const std::string name = array.name;
    const std::string prefix = name == "out" ? "" : name + "_";
    json[prefix + "max_error"] = nullptr;
    json[prefix + "tolerance"] = nullptr;
    json[prefix + "max_error_index"] = nullptr;
    if (array.comparison.count == 0) continue;
    const reference::Comparison::Element& largest = array.comparison.largest;
    json[prefix + "max_error"] = largest.error;
    json[prefix + "tolerance"] = largest.tolerance;
    json[prefix + "max_error_index"] = IndexInFile(report, array, largest.index);
  }
  for (const OutputFile& file : OutputFiles(report)) {
    json[file.name] = nullptr;
    if (report.written && file.path != nullptr) json[file.name] = *file.path;
  }
  PrintJson(json);
}

void PrintReportText(const RunReport& report) {
  const InputArrays& inputs = report.inputs;
  fmt::print("shape  q {}, k {}, v {}\n", Described(inputs.q), Described(inputs.k),
             Described(inputs.v));
  fmt::print("plan   {} {}, kv_block {}, {}, {} thread{}\n", report.plan.variant, report.plan.tile,
             report.plan.kv_block, report.plan.target, report.plan.threads,
             report.plan.threads == 1 ? "" : "s");
  fmt::print("time   {:.3f} ms\n", report.ms);
  for (const CheckedArray& array : report.check.value_or(std::vector<CheckedArray>())) {
    fmt::print("check  {}\n", CheckLine(report, array));
  }
  if (!report.written) return;
  for (const OutputFile& file : OutputFiles(report)) {
    if (file.path != nullptr)
      fmt::print("wrote  {} {}\n", *file.path, npy::ShapeString(file.shape));
  }
}

std::string FailureLine(const RunReport& report) {
  const CheckedArray& array = *std::find_if_not(report.check->begin(), report.check->end(), Passes);
  const reference::Comparison::Element& worst = array.comparison.worst;
  return fmt::format(
      "check failed: {} of {} elements of {} are beyond tolerance, the worst at [{}]: {:.9g}, "
      "expected {:.9g}, error {:.3g}, tolerance {:.3g}",
      array.comparison.failures, array.comparison.count, array.name,
      fmt::join(IndexInFile(report, array, worst.index), ", "), worst.actual, worst.expected,
      worst.error, worst.tolerance);
}

}  // namespace lanewise::tools
