// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/lanes_scratch.h"

#include <algorithm>
#include <optional>

#include "src/attention/score.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {
namespace {

constexpr int64_t kAlignmentFloats = kernels::kScratchAlignment / sizeof(float);

}  // namespace

LanesScratch::LanesScratch(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const LanesDecision& lanes_decision = decision.lanes;
  const int64_t lanes = static_cast<int64_t>(lanes_decision.kernel.lanes);
  const int64_t kv_block = lanes_decision.kv_block;
  const bool scattered = decision.options.paged || decision.options.kv_first ||
                         lanes_decision.q_groups >= kGatherGroups;
  const auto aligned = [](int64_t floats) { return core::RoundUp(floats, kAlignmentFloats); };
  scores = lanes_decision.q_groups * static_cast<int64_t>(lanes_decision.group_floats);
  k = scores + aligned(kv_block * lanes);
  v = k + (scattered || decision.convert.k != nullptr ? aligned(kv_block * shape.key_dim) : 0);
  rows = v + (scattered || decision.convert.v != nullptr ? aligned(kv_block * shape.value_dim) : 0);
  const bool typed = decision.convert.q != nullptr || decision.convert.out != nullptr;
  const AttentionOptions& options = decision.options;
  queries = rows + (typed ? aligned(lanes * std::max(shape.dim, shape.value_dim)) : 0);
  projected = queries + (ProjectsQueries(options) ? aligned(lanes * shape.dim) : 0);
  visible = projected + (options.wk ? aligned(kv_block * decision.wk_stride()) : 0);
  end = visible + 2 * kv_block;
}

std::optional<int64_t> SizeLanes(AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  LanesDecision& lanes_decision = decision.lanes;
  const int64_t lanes = static_cast<int64_t>(lanes_decision.kernel.lanes);
  const int64_t score_dim = ScoreDim(shape, decision.options.score);
  const auto state_rows = core::CheckedSum({score_dim, shape.value_dim, kernels::kStateRows});
  if (!state_rows) return std::nullopt;
  const auto state = core::CheckedProduct({*state_rows, lanes, lanes_decision.q_groups, 4});
  // Staged blocks and rows.
  const auto columns = core::CheckedSum(
      {*state_rows, shape.dim, shape.key_dim, shape.hidden, int64_t{kernels::kMaxLanes}});
  if (!columns) return std::nullopt;
  const auto staged = core::CheckedProduct({*columns, lanes_decision.kv_block + lanes, 4});
  // Rounding up and the blocks of scores are small beside these.
  if (!state || !staged || *state > INT64_MAX / 16 || *staged > INT64_MAX / 16) return std::nullopt;
  lanes_decision.group_floats =
      static_cast<size_t>(core::RoundUp(*state_rows * lanes, kAlignmentFloats));
  return LanesScratch(decision).end * static_cast<int64_t>(sizeof(float));
}

}  // namespace lanewise::attention
