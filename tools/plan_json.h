// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A plan as JSON, as `explain`, `run` and `bench` print it.

#ifndef LANEWISE_TOOLS_PLAN_JSON_H_
#define LANEWISE_TOOLS_PLAN_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "bench/plan_summary.h"
#include "lanewise/attention.h"

namespace lanewise::tools {

// {variant, tile, numbers of this kind of plan, target, threads, workspace_bytes, sources,
// reasons}; the numbers of attention are kv_block, q_groups and grain, those of a matrix product
// row_block, depth_block and column_block. sources is an object, parameter -> source.
nlohmann::ordered_json PlanJson(const bench::PlanSummary& plan);
nlohmann::ordered_json PlanJson(const PlanExplanation& plan);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_PLAN_JSON_H_
