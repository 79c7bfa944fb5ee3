// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <string>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/kernels/lanes.h"
#include "src/profile/defaults.h"

namespace lanewise {
namespace {

std::string SourceText(bool overridden) { return overridden ? "override" : "default"; }

}  // namespace

PlanExplanation AttentionPlan::Explain() const {
  const Decision& decision = *decision_;
  PlanExplanation explanation;
  explanation.variant = "lanes";
  explanation.tile = decision.kernel.tile;
  explanation.kv_block = decision.kv_block;
  explanation.q_groups = decision.q_groups;
  explanation.grain = decision.grain;
  explanation.target = decision.target;
  explanation.threads = decision.team.workers();
  explanation.workspace_bytes = static_cast<int64_t>(workspace_bytes());
  explanation.sources = {{"tile", SourceText(decision.tile_overridden)},
                         {"kv_block", SourceText(decision.kv_block_overridden)},
                         {"q_groups", SourceText(decision.q_groups_overridden)},
                         {"grain", SourceText(decision.grain_overridden)}};
  const double time = profile::LanesTileTime(decision.kernel, decision.problem);
  for (const kernels::LanesKernel& other : kernels::LanesKernels(decision.target_id)) {
    if (other.tile == decision.kernel.tile || time == 0) continue;
    explanation.reasons.push_back(
        fmt::format("tile {}: expected to take {:.2f} of the time of {}", other.tile,
                    profile::LanesTileTime(other, decision.problem) / time, decision.kernel.tile));
  }
  if (!decision.note.empty()) explanation.reasons.push_back(decision.note);
  return explanation;
}

std::string PlanExplanation::ToString() const {
  std::string text = fmt::format(
      "variant    {}\ntile       {}\nkv_block   {}\nq_groups   {}\ngrain      {}\ntarget     {}\n"
      "threads    {}\nworkspace  {} bytes\n",
      variant, tile, kv_block, q_groups, grain, target, threads, workspace_bytes);
  for (const Source& source : sources) {
    text += fmt::format("{:<10} from {}\n", source.parameter, source.source);
  }
  for (const std::string& reason : reasons) text += reason + "\n";
  return text;
}

}  // namespace lanewise
