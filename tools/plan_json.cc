// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Explanations to JSON.

#include "tools/plan_json.h"

#include <nlohmann/json.hpp>

namespace lanewise::tools {

nlohmann::ordered_json PlanJson(const bench::PlanSummary& plan) {
  nlohmann::ordered_json sources = nlohmann::ordered_json::object();
  for (const auto& [parameter, source] : plan.sources) sources[parameter] = source;
  nlohmann::ordered_json object = {{"variant", plan.variant}, {"tile", plan.tile}};
  for (const auto& [name, value] : plan.numbers) object[name] = value;
  object["target"] = plan.target;
  object["threads"] = plan.threads;
  object["workspace_bytes"] = plan.workspace_bytes;
  object["sources"] = sources;
  object["reasons"] = plan.reasons;
  return object;
}

nlohmann::ordered_json PlanJson(const PlanExplanation& plan) {
  return PlanJson(bench::Summarize(plan));
}

}  // namespace lanewise::tools
