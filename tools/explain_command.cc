// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags -> plan -> its explanation.

#include "tools/explain_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "lanewise/attention.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/plan_json.h"
#include "tools/shape_flags.h"

namespace lanewise::tools {
namespace {

struct ExplainFlags {
  ShapeFlags shape;
  OptionFlags options;
  ArrayFlags arrays;
  RuntimeFlags runtime;
  bool json = false;
};

int Explain(const CLI::App& command, const ExplainFlags& flags) {
  const Result<AttentionShape> shape = flags.shape.shape(flags.options);
  if (!shape.ok()) return FailUsage(shape.status().message());
  AttentionOptions options = flags.options.options();
  flags.arrays.ApplyTo(options);
  const Result<AttentionPlan> plan = PlanAttention(*shape, options, flags.runtime.runtime());
  // All that a plan can find wrong stands on the command line.
  if (plan.status().code() == StatusCode::kInvalidArgument) {
    return FailUsage(NamingFlag(command, plan.status().message()));
  }
  if (!plan.ok()) return Fail(plan.status());
  const PlanExplanation explanation = plan->Explain();
  if (flags.json) {
    PrintJson(PlanJson(explanation));
  } else {
    fmt::print("{}", explanation.ToString());
  }
  return kExitOk;
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explain", "How attention of a shape would be computed, and why");
  const auto flags = std::make_shared<ExplainFlags>();
  flags->shape.AddTo(*command);
  flags->options.AddTo(*command);
  flags->arrays.AddTo(*command);
  ExcludeFromRagged(*command);
  flags->runtime.AddTo(*command);
  AddJson(*command, flags->json);
  command->callback([command, flags, &exit_code] { exit_code = Explain(*command, *flags); });
}

}  // namespace lanewise::tools
