// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <string>

#include "lanewise/gemm.h"
#include "src/core/explanation.h"
#include "src/gemm/decision.h"
#include "src/profile/gemm_defaults.h"

namespace lanewise {
namespace {

const char* VariantName(gemm::Variant variant) {
  switch (variant) {
    case gemm::Variant::kBlocks:
      return "blocks";
    case gemm::Variant::kPanels:
      return "panels";
    case gemm::Variant::kRows:
      return "rows";
    case gemm::Variant::kDots:
      return "dots";
  }
  return "unknown";
}

void AddReasons(const GemmPlan::Decision& decision, GemmExplanation& explanation) {
  if (!decision.overrides.variant.empty()) return;
  const int64_t rows = decision.shape.rows;
  if (gemm::Streams(decision.variant)) {
    explanation.reasons.push_back(
        fmt::format("blocks: {} rows, expected more than {}", rows, profile::kGemmStreamRows));
    return;
  }
  explanation.reasons.push_back(
      rows <= profile::kGemmStreamRows
          ? fmt::format("rows: a packed B and {} products, expected one", decision.matrices())
          : fmt::format("rows: {} rows, expected at most {}", rows, profile::kGemmStreamRows));
  explanation.reasons.push_back(
      decision.variant == gemm::Variant::kPanels
          ? fmt::format("blocks: {} rows, expected more than {}", rows, decision.panel_rows)
          : fmt::format("panels: {} rows, expected at most {}", rows, decision.panel_rows));
}

}  // namespace

GemmExplanation GemmPlan::Explain() const {
  const Decision& decision = *decision_;
  const gemm::PlanOverrides& overrides = decision.overrides;
  GemmExplanation explanation;
  explanation.variant = VariantName(decision.variant);
  explanation.tile = gemm::Streams(decision.variant) ? "" : std::string(decision.kernel.tile);
  explanation.row_block = decision.row_block;
  explanation.depth_block = decision.depth_block;
  explanation.column_block = decision.column_block;
  explanation.target = decision.target;
  explanation.threads = decision.team.workers();
  explanation.workspace_bytes = static_cast<int64_t>(workspace_bytes());
  explanation.sources = {{"variant", core::SourceText(!overrides.variant.empty())},
                         {"tile", core::SourceText(!overrides.tile.empty())},
                         {"row_block", core::SourceText(overrides.row_block != 0)},
                         {"depth_block", core::SourceText(overrides.depth_block != 0)},
                         {"column_block", core::SourceText(overrides.column_block != 0)},
                         {"target", core::SourceText(decision.target_overridden)},
                         {"threads", core::SourceText(decision.threads_overridden)}};
  AddReasons(decision, explanation);
  if (!decision.note.empty()) explanation.reasons.push_back(decision.note);
  return explanation;
}

std::string GemmExplanation::ToString() const {
  return fmt::format(
             "variant       {}\ntile          {}\nrow_block     {}\ndepth_block   {}\ncolumn_block "
             " {}\n"
             "target        {}\nthreads       {}\nworkspace     {} bytes\n",
             variant, tile, row_block, depth_block, column_block, target, threads,
             workspace_bytes) +
         core::SourcesAndReasons(sources, reasons, 13);
}

}  // namespace lanewise
