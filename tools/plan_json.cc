// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// PlanExplanation to JSON.

#include "tools/plan_json.h"

#include <nlohmann/json.hpp>

namespace lanewise::tools {

nlohmann::ordered_json PlanJson(const PlanExplanation& plan) {
  nlohmann::ordered_json sources = nlohmann::ordered_json::object();
  for (const PlanExplanation::Source& source : plan.sources) {
    sources[source.parameter] = source.source;
  }
  return {{"variant", plan.variant},   {"tile", plan.tile},
          {"kv_block", plan.kv_block}, {"q_groups", plan.q_groups},
          {"grain", plan.grain},       {"target", plan.target},
          {"threads", plan.threads},   {"workspace_bytes", plan.workspace_bytes},
          {"sources", sources},        {"reasons", plan.reasons}};
}

}  // namespace lanewise::tools
