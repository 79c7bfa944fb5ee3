// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What `lanewise run` says about a run: shape, plan, time, the comparison with the definition, and
// the files written.

#ifndef LANEWISE_TOOLS_RUN_REPORT_H_
#define LANEWISE_TOOLS_RUN_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/tolerance.h"
#include "tools/input_arrays.h"
#include "tools/outputs.h"

namespace lanewise::tools {

// How a result compares with the definition.
struct CheckedArray {
  const char* name;  // "out", "lse", "weights"
  reference::Comparison comparison;
  size_t dropped_axes;  // the last axes of a tensor that the file does not have
};

// Compares the results in `tensors`, those that `options` ask for, with the definition.
std::vector<CheckedArray> CheckResults(const AttentionTensors& tensors,
                                       const AttentionOptions& options);

// Whether all of them are within tolerance.
bool AllPass(const std::vector<CheckedArray>& checked);

struct RunReport {
  const InputArrays& inputs;
  const OutputPaths& outputs;
  PlanExplanation plan;
  double ms = 0;
  std::optional<std::vector<CheckedArray>> check;  // if it was asked for
  bool written = false;                            // whether the files of `outputs` are there
};

void PrintReportJson(const RunReport& report);
void PrintReportText(const RunReport& report);

// One line about the first array that does not pass; there is one.
std::string FailureLine(const RunReport& report);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_RUN_REPORT_H_
