// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// shape + options -> plan: validation, then the choice of every parameter.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/attention.h"
#include "src/attention/call.h"
#include "src/attention/check.h"
#include "src/attention/decision.h"
#include "src/attention/few_scratch.h"
#include "src/attention/lanes_scratch.h"
#include "src/attention/overrides.h"
#include "src/attention/score.h"
#include "src/core/sizes.h"
#include "src/kernels/convert.h"
#include "src/kernels/few.h"
#include "src/kernels/lanes.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"
#include "src/parallel/float_modes.h"
#include "src/profile/defaults.h"
#include "src/profile/machine_caches.h"

namespace lanewise {
namespace attention {
namespace {

// kv_block counts in 32 bits inside a step.
constexpr int64_t kMaxKvBlock = int64_t{1} << 20;
constexpr int64_t kMaxGrain = int64_t{1} << 30;

Status CheckRange(const char* name, int64_t value, int64_t largest) {
  if (value >= 0 && value <= largest) return {};
  return Status::InvalidArgument(
      fmt::format("{}: found {}, expected 1 to {}", name, value, largest));
}

Status CheckOverrides(const PlanOverrides& overrides) {
  if (Status s = CheckRange("kv_block", overrides.kv_block, kMaxKvBlock); !s.ok()) return s;
  if (Status s = CheckRange("q_groups", overrides.q_groups, profile::kMaxQueryGroups); !s.ok())
    return s;
  return CheckRange("grain", overrides.grain, kMaxGrain);
}

// Mean number of keys that a row sees, from a few rows of a head.
double MeanKeys(const AttentionShape& shape, const Visibility& visibility) {
  constexpr int64_t kSamples = 8;
  if (shape.queries == 0) return 0;
  double total = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t query = static_cast<int64_t>(static_cast<double>(shape.queries - 1) *
                                               static_cast<double>(i) / (kSamples - 1));
    total += static_cast<double>(visibility.KeysOf(query).size());
  }
  return total / kSamples;
}

Status ChooseTile(const std::vector<kernels::LanesKernel>& tiles, const std::string& wanted,
                  AttentionPlan::Decision& decision) {
  if (wanted.empty()) {
    decision.lanes.kernel = tiles[profile::LanesTile(tiles, decision.problem)];
    return {};
  }
  std::string known;
  for (const auto& tile : tiles) {
    if (tile.tile == wanted) {
      decision.lanes.kernel = tile;
      decision.tile_overridden = true;
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tile.tile);
  }
  return Status::InvalidArgument(fmt::format("tile: found \"{}\", expected one of {} (target {})",
                                             wanted, known, decision.target));
}

// A register tile and q_groups are parameters of `lanes`: given alone, they ask for it.
Status ChooseVariant(const PlanOverrides& overrides, AttentionPlan::Decision& decision) {
  const std::string& wanted = overrides.variant;
  if (!wanted.empty() && wanted != "lanes" && wanted != "few") {
    return Status::InvalidArgument(
        fmt::format("variant: found \"{}\", expected lanes or few", wanted));
  }
  if (wanted == "few" && !overrides.tile.empty()) {
    return Status::InvalidArgument(
        fmt::format("tile: found \"{}\" together with variant few, expected none: its tile is {}",
                    overrides.tile, decision.few.kernel.tile));
  }
  if (wanted == "few" && overrides.q_groups != 0) {
    return Status::InvalidArgument(
        fmt::format("q_groups: found {} together with variant few, expected none: it has no lane "
                    "groups",
                    overrides.q_groups));
  }
  const AttentionShape& shape = decision.shape;
  const bool takes_few = decision.options.score == AttentionScore::kDot;
  if (wanted == "few" && !takes_few) {
    return Status::InvalidArgument(
        fmt::format("variant: found \"few\" together with score {}, expected lanes",
                    ScoreName(decision.options.score)));
  }
  const bool wants_lanes = wanted == "lanes" || !overrides.tile.empty() || overrides.q_groups != 0;
  decision.variant_overridden = wants_lanes || !wanted.empty();
  if (wanted == "few") {
    decision.only_few = true;
  } else if (takes_few && !wants_lanes) {
    // Sequences of a ragged batch have any number of rows, others the same.
    const int64_t rows = decision.problem.rows;
    const int64_t most = std::min(rows, profile::kMostFewRows);
    const auto tiles = kernels::LanesKernels(decision.target_id);
    for (int64_t r = decision.options.ragged ? 0 : rows; r <= most; ++r) {
      decision.few_rows[static_cast<size_t>(r)] =
          profile::FewTime(tiles, std::max<int64_t>(r, 1), shape.dim, shape.value_dim) <= 1;
    }
  }
  return {};
}

profile::LanesProblem ProblemOf(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const Visibility visibility(decision.options, shape.queries, shape.keys);
  profile::LanesProblem problem;
  problem.kv_heads = shape.batch * shape.kv_heads;
  problem.heads = decision.group();
  problem.rows = shape.queries * decision.group();
  problem.dim = ScoreDim(shape, decision.options.score);
  problem.value_dim = shape.value_dim;
  problem.keys_per_row = MeanKeys(shape, visibility);
  problem.moving_ends = visibility.moving_ends();
  problem.window = visibility.Width();
  problem.threads = decision.team.workers();
  return problem;
}

Status ChooseLanes(const PlanOverrides& overrides, AttentionPlan::Decision& decision) {
  LanesDecision& lanes = decision.lanes;
  const AttentionShape& shape = decision.shape;
  const profile::LanesProblem& problem = decision.problem;
  lanes.kv_block = overrides.kv_block != 0
                       ? overrides.kv_block
                       : profile::LanesKvBlock(profile::MachineCaches(), problem.dim,
                                               shape.value_dim, problem.window);
  if (Status s = ChooseTile(kernels::LanesKernels(decision.target_id), overrides.tile, decision);
      !s.ok()) {
    return s;
  }
  lanes.q_groups = overrides.q_groups != 0 ? overrides.q_groups
                                           : profile::LanesQueryGroups(profile::MachineCaches(),
                                                                       problem, lanes.kernel.lanes);
  const int64_t tile_rows = lanes.q_groups * static_cast<int64_t>(lanes.kernel.lanes);
  const int64_t tile_count = problem.kv_heads * core::DivideUp(problem.rows, tile_rows);
  lanes.grain = overrides.grain != 0 ? overrides.grain
                                     : profile::LanesGrain(tile_count, decision.team.workers());
  return {};
}

void ChooseFew(const PlanOverrides& overrides, AttentionPlan::Decision& decision) {
  FewDecision& few = decision.few;
  const AttentionShape& shape = decision.shape;
  const profile::LanesProblem& problem = decision.problem;
  few.key_chunk =
      overrides.kv_block != 0
          ? core::RoundUp(overrides.kv_block, static_cast<int64_t>(kernels::kFewPadding))
          : profile::kFewKeyChunk;
  few.row_block = profile::FewRowBlock(std::min(problem.rows, decision.MostFewRows()));
  // Pairs of a shape that is never run may be more than 63 bits count.
  const int64_t chunk_count =
      core::CheckedProduct({problem.kv_heads, core::DivideUp(problem.rows, few.row_block),
                            core::DivideUp(shape.keys, few.key_chunk)})
          .value_or(INT64_MAX);
  few.grain = overrides.grain != 0 ? overrides.grain
                                   : profile::FewGrain(chunk_count, decision.team.workers());
}

void ChooseConversions(AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const auto conversion = [&](DataType from, DataType to) {
    return from == to ? nullptr : kernels::ConvertRowsFor(decision.target_id, from, to);
  };
  decision.convert.q = conversion(shape.q_type, DataType::kF32);
  decision.convert.k = conversion(shape.k_type, DataType::kF32);
  decision.convert.v = conversion(shape.v_type, DataType::kF32);
  decision.convert.out = conversion(DataType::kF32, shape.out_type);
  decision.convert.copy =
      kernels::ConvertRowsFor(decision.target_id, DataType::kF32, DataType::kF32);
}

// Sets the scratch sizes; false if they overflow.
bool SizeScratch(AttentionPlan::Decision& decision) {
  const auto lanes = SizeLanes(decision);
  const auto few = FewScratchBytes(decision);
  const auto shared = Call::SharedBytes(decision);
  if (!lanes || !few || !shared) return false;
  const bool uses_few = decision.MostFewRows() > 0;
  const int64_t worker = core::RoundUp(std::max(*lanes, uses_few ? *few : 0), kWorkerAlignment);
  if (!core::CheckedProduct({worker, 2, decision.team.workers()})) return false;
  decision.worker_bytes = static_cast<size_t>(worker);
  decision.shared_bytes = static_cast<size_t>(core::RoundUp(*shared, kWorkerAlignment));
  return true;
}

Result<AttentionPlan> Plan(const AttentionShape& shape, const AttentionOptions& options,
                           const Runtime& runtime, const PlanOverrides& overrides) {
  if (Status s = CheckRequest(shape, options); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  if (Status s = CheckOverrides(overrides); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto decision = std::make_shared<AttentionPlan::Decision>(runtime.threads);
  decision->shape = WithScoreSizes(shape, options.score);
  decision->options = options;
  decision->scale = ScaleOf(shape, options);
  decision->softcap = options.softcap.value_or(0);
  decision->target_id = *target;
  decision->target = machine::TargetName(*target);
  decision->note = runtime.note;
  decision->target_overridden = runtime.target != DefaultRuntime().target;
  decision->threads_overridden = runtime.threads != DefaultRuntime().threads;
  decision->kv_block_overridden = overrides.kv_block != 0;
  decision->q_groups_overridden = overrides.q_groups != 0;
  decision->grain_overridden = overrides.grain != 0;
  decision->problem = ProblemOf(*decision);
  decision->few.kernel = kernels::FewKernelFor(*target);
  if (Status s = ChooseVariant(overrides, *decision); !s.ok()) return s;
  if (Status s = ChooseLanes(overrides, *decision); !s.ok()) return s;
  ChooseFew(overrides, *decision);
  ChooseConversions(*decision);
  if (!SizeScratch(*decision)) {
    return Status::InvalidArgument(fmt::format(
        "workspace: its size overflows 64 bits (batch {}, heads {}, queries {}, keys {}, "
        "dim {}, value_dim {}, kv_block {}, threads {}), expected less",
        shape.batch, shape.heads, shape.queries, shape.keys, shape.dim, shape.value_dim,
        decision->lanes.kv_block, decision->team.workers()));
  }
  return AttentionPlan(std::move(decision));
}

}  // namespace

Result<AttentionPlan> PlanAttentionWith(const AttentionShape& shape,
                                        const AttentionOptions& options, const Runtime& runtime,
                                        const PlanOverrides& overrides) noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return Plan(shape, options, runtime, overrides);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace attention

Result<AttentionPlan> PlanAttention(const AttentionShape& shape, const AttentionOptions& options,
                                    const Runtime& runtime) noexcept {
  return attention::PlanAttentionWith(shape, options, runtime, {});
}

}  // namespace lanewise
