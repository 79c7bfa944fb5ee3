// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/attention/score.h"
#include "src/core/explanation.h"
#include "src/kernels/lanes.h"
#include "src/profile/defaults.h"

namespace lanewise {
namespace {

using core::SourceText;

void ExplainLanes(const AttentionPlan::Decision& decision, PlanExplanation& explanation) {
  const attention::LanesDecision& lanes = decision.lanes;
  explanation.tile = lanes.kernel.tile;
  explanation.kv_block = lanes.kv_block;
  explanation.q_groups = lanes.q_groups;
  explanation.grain = lanes.grain;
  explanation.sources = {{"variant", SourceText(decision.variant_overridden)},
                         {"tile", SourceText(decision.tile_overridden)},
                         {"kv_block", SourceText(decision.kv_block_overridden)},
                         {"q_groups", SourceText(decision.q_groups_overridden)},
                         {"grain", SourceText(decision.grain_overridden)}};
  const double time = profile::LanesTileTime(lanes.kernel, decision.problem);
  for (const kernels::LanesKernel& other : kernels::LanesKernels(decision.target_id)) {
    if (other.tile == lanes.kernel.tile || time == 0) continue;
    explanation.reasons.push_back(
        fmt::format("tile {}: expected to take {:.2f} of the time of {}", other.tile,
                    profile::LanesTileTime(other, decision.problem) / time, lanes.kernel.tile));
  }
}

void ExplainFew(const AttentionPlan::Decision& decision, PlanExplanation& explanation) {
  const attention::FewDecision& few = decision.few;
  explanation.tile = few.kernel.tile;
  explanation.kv_block = few.key_chunk;
  explanation.grain = few.grain;
  explanation.sources = {{"variant", SourceText(decision.variant_overridden)},
                         {"tile", SourceText(false)},
                         {"kv_block", SourceText(decision.kv_block_overridden)},
                         {"grain", SourceText(decision.grain_overridden)}};
}

// Whether a sequence may take `few`, or `lanes`: in a ragged batch one of any number of rows.
bool May(const AttentionPlan::Decision& decision, bool few) {
  const int64_t rows = decision.problem.rows;
  if (decision.TakesFew(rows) == few) return true;
  const int64_t most = decision.options.ragged ? std::min(rows, profile::kMostFewRows + 1) : 0;
  for (int64_t r = 1; r <= most; ++r) {
    if (decision.TakesFew(r) == few) return true;
  }
  return false;
}

// The numbers of rows that take `few`, "0 to 14, 17 to 20".
std::string FewRows(const AttentionPlan::Decision& decision) {
  std::string text;
  const auto end = static_cast<int64_t>(decision.few_rows.size());
  for (int64_t first = 0; first < end; ++first) {
    if (!decision.TakesFew(first)) continue;
    int64_t last = first;
    while (last + 1 < end && decision.TakesFew(last + 1)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last > first) text += fmt::format(" to {}", last);
    first = last;
  }
  return text;
}

}  // namespace

PlanExplanation AttentionPlan::Explain() const {
  const Decision& decision = *decision_;
  PlanExplanation explanation;
  const int64_t rows = decision.problem.rows;
  const auto few_time = [&] {
    return profile::FewTime(kernels::LanesKernels(decision.target_id), std::max<int64_t>(rows, 1),
                            decision.shape.dim, decision.shape.value_dim);
  };
  constexpr std::string_view kRows = "rows a kv head (queries times heads that share it)";
  if (May(decision, true) && May(decision, false)) {
    explanation.variant = "lanes, few";
    ExplainLanes(decision, explanation);
    explanation.reasons.push_back(
        fmt::format("few: for sequences with {} of {}", kRows, FewRows(decision)));
  } else if (decision.TakesFew(rows)) {
    explanation.variant = "few";
    ExplainFew(decision, explanation);
    if (!decision.variant_overridden) {
      explanation.reasons.push_back(fmt::format(
          "lanes: {}: found {}, with which it is expected to take {:.2f} of the time of few", kRows,
          rows, 1 / few_time()));
    }
  } else {
    explanation.variant = "lanes";
    ExplainLanes(decision, explanation);
    if (decision.options.score != AttentionScore::kDot) {
      explanation.reasons.push_back(fmt::format("few: found score {}, expected dot",
                                                attention::ScoreName(decision.options.score)));
    } else if (!decision.variant_overridden) {
      const std::string expected =
          rows > profile::kMostFewRows
              ? fmt::format("expected at most {}", profile::kMostFewRows)
              : fmt::format("with which it is expected to take {:.2f} of the time of lanes",
                            few_time());
      explanation.reasons.push_back(fmt::format("few: {}: found {}, {}", kRows, rows, expected));
    }
  }
  explanation.sources.push_back({"target", SourceText(decision.target_overridden)});
  explanation.sources.push_back({"threads", SourceText(decision.threads_overridden)});
  explanation.target = decision.target;
  explanation.threads = decision.team.workers();
  explanation.workspace_bytes = static_cast<int64_t>(workspace_bytes());
  if (!decision.note.empty()) explanation.reasons.push_back(decision.note);
  return explanation;
}

std::string PlanExplanation::ToString() const {
  return fmt::format(
             "variant    {}\ntile       {}\nkv_block   {}\nq_groups   {}\ngrain      {}\ntarget    "
             " {}\n"
             "threads    {}\nworkspace  {} bytes\n",
             variant, tile, kv_block, q_groups, grain, target, threads, workspace_bytes) +
         core::SourcesAndReasons(sources, reasons, 10);
}

}  // namespace lanewise
