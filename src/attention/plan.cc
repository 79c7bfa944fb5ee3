// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// shape + options -> plan: validation, then the choice of every parameter.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/attention/lanes_loop.h"
#include "src/attention/overrides.h"
#include "src/core/sizes.h"
#include "src/kernels/lanes.h"
#include "src/machine/caches.h"
#include "src/machine/targets.h"
#include "src/profile/defaults.h"

namespace lanewise {
namespace attention {
namespace {

// A machine with more threads than this does not exist; a count beyond it is a mistake.
constexpr int kMaxThreads = 4096;

// kv_block counts in 32 bits inside a step.
constexpr int64_t kMaxKvBlock = int64_t{1} << 20;
constexpr int64_t kMaxGrain = int64_t{1} << 30;

Status CheckSizes(const AttentionShape& shape) {
  const struct {
    const char* name;
    int64_t value;
    int64_t smallest;
  } sizes[] = {{"batch", shape.batch, 0},        {"heads", shape.heads, 0},
               {"kv_heads", shape.kv_heads, 0},  {"queries", shape.queries, 0},
               {"keys", shape.keys, 0},          {"dim", shape.dim, 1},
               {"value_dim", shape.value_dim, 0}};
  for (const auto& size : sizes) {
    if (size.value < size.smallest) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected at least {}", size.name, size.value, size.smallest));
    }
  }
  if (shape.kv_heads == 0 ? shape.heads != 0 : shape.heads % shape.kv_heads != 0) {
    return Status::InvalidArgument(fmt::format(
        "kv_heads: found {}, expected a divisor of heads ({})", shape.kv_heads, shape.heads));
  }
  const struct {
    const char* name;
    std::optional<int64_t> bytes;
  } arrays[] = {
      {"q", core::CheckedProduct({shape.batch, shape.heads, shape.queries, shape.dim, 4})},
      {"k", core::CheckedProduct({shape.batch, shape.kv_heads, shape.keys, shape.dim, 4})},
      {"v", core::CheckedProduct({shape.batch, shape.kv_heads, shape.keys, shape.value_dim, 4})},
      {"out", core::CheckedProduct({shape.batch, shape.heads, shape.queries, shape.value_dim, 4})}};
  for (const auto& array : arrays) {
    if (!array.bytes) {
      return Status::InvalidArgument(
          fmt::format("{}: the product of its sizes overflows 64 bits (batch {}, heads {}, "
                      "kv_heads {}, queries {}, keys {}, dim {}, value_dim {}), expected less",
                      array.name, shape.batch, shape.heads, shape.kv_heads, shape.queries,
                      shape.keys, shape.dim, shape.value_dim));
    }
  }
  return {};
}

Status CheckTypes(const AttentionShape& shape) {
  const struct {
    const char* name;
    DataType type;
  } types[] = {{"q_type", shape.q_type},
               {"k_type", shape.k_type},
               {"v_type", shape.v_type},
               {"out_type", shape.out_type}};
  for (const auto& type : types) {
    if (type.type != DataType::kF32) {
      return Status::Unsupported(
          fmt::format("{}: found {}, expected f32", type.name, DataTypeName(type.type)));
    }
  }
  return {};
}

Status CheckOptions(const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale)) {
    return Status::InvalidArgument(
        fmt::format("scale: found {}, expected a finite number", *options.scale));
  }
  if (options.top_left && options.query_offset) {
    return Status::InvalidArgument(
        fmt::format("query_offset: found {} together with top_left, expected one of the two",
                    *options.query_offset));
  }
  return {};
}

Status CheckRange(const char* name, int64_t value, int64_t largest) {
  if (value >= 0 && value <= largest) return {};
  return Status::InvalidArgument(
      fmt::format("{}: found {}, expected 1 to {}", name, value, largest));
}

Status CheckThreads(int threads) {
  if (threads >= 0 && threads <= kMaxThreads) return {};
  return Status::InvalidArgument(
      fmt::format("threads: found {}, expected 0 to {}", threads, kMaxThreads));
}

Status CheckOverrides(const PlanOverrides& overrides) {
  if (Status s = CheckRange("kv_block", overrides.kv_block, kMaxKvBlock); !s.ok()) return s;
  if (Status s = CheckRange("q_groups", overrides.q_groups, profile::kMaxQueryGroups); !s.ok())
    return s;
  return CheckRange("grain", overrides.grain, kMaxGrain);
}

// The facts that defaults depend on, read once.
const profile::CacheBytes& MachineCaches() {
  static const profile::CacheBytes bytes = [] {
    const machine::Caches caches = machine::DetectCaches();
    return profile::CacheBytes{caches.l1d.bytes, caches.l2.bytes};
  }();
  return bytes;
}

// Mean number of keys that a row sees, over the rows of a head.
double MeanKeys(const AttentionShape& shape, const Visibility& visibility) {
  if (shape.queries == 0) return 0;
  const auto count = [&](int64_t query) {
    const KeyRange keys = visibility.KeysOf(query);
    return static_cast<double>(keys.empty() ? 0 : keys.end - keys.begin);
  };
  return (count(0) + count(shape.queries - 1)) / 2;
}

Status ChooseTile(const std::vector<kernels::LanesKernel>& tiles, const std::string& wanted,
                  AttentionPlan::Decision& decision, const profile::LanesProblem& problem) {
  if (wanted.empty()) {
    decision.kernel = tiles[profile::LanesTile(tiles, problem)];
    return {};
  }
  std::string known;
  for (const auto& tile : tiles) {
    if (tile.tile == wanted) {
      decision.kernel = tile;
      decision.tile_overridden = true;
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tile.tile);
  }
  return Status::InvalidArgument(fmt::format("tile: found \"{}\", expected one of {} (target {})",
                                             wanted, known, decision.target));
}

// Scratch sizes; false if they overflow.
bool SizeScratch(AttentionPlan::Decision& decision) {
  const int64_t lanes = static_cast<int64_t>(decision.kernel.lanes);
  const auto group = LaneGroupFloats(decision.shape.dim, decision.shape.value_dim, lanes);
  if (!group) return false;
  const auto groups = core::CheckedProduct({*group, decision.q_groups});
  const auto floats =
      groups ? core::CheckedSum({*groups, decision.kv_block * lanes}) : std::nullopt;
  const auto bytes =
      floats ? core::CheckedProduct({*floats, 4, decision.team.workers()}) : std::nullopt;
  if (!bytes) return false;
  decision.group_floats = static_cast<size_t>(*group);
  decision.worker_bytes = static_cast<size_t>(core::RoundUp(*floats * 4, kWorkerAlignment));
  return true;
}

Result<AttentionPlan> Plan(const AttentionShape& shape, const AttentionOptions& options,
                           const Runtime& runtime, const PlanOverrides& overrides) {
  for (const Status& status : {CheckSizes(shape), CheckTypes(shape), CheckOptions(options),
                               CheckThreads(runtime.threads), CheckOverrides(overrides)}) {
    if (!status.ok()) return status;
  }
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto decision = std::make_shared<AttentionPlan::Decision>(runtime.threads);
  decision->shape = shape;
  decision->wants_lse = options.lse;
  decision->scale = options.scale.value_or(1.0f / std::sqrt(static_cast<float>(shape.dim)));
  decision->visibility = Visibility(shape, options);
  decision->target = machine::TargetName(*target);
  decision->note = runtime.note;

  decision->kv_block_overridden = overrides.kv_block != 0;
  decision->kv_block = decision->kv_block_overridden
                           ? overrides.kv_block
                           : profile::LanesKvBlock(MachineCaches(), shape.dim, shape.value_dim);

  profile::LanesProblem problem;
  problem.batch_heads = shape.batch * shape.heads;
  problem.queries = shape.queries;
  problem.dim = shape.dim;
  problem.value_dim = shape.value_dim;
  problem.keys_per_row = MeanKeys(shape, decision->visibility);
  problem.slanted = decision->visibility.slanted();
  problem.threads = decision->team.workers();
  if (Status status =
          ChooseTile(kernels::LanesKernels(*target), overrides.tile, *decision, problem);
      !status.ok()) {
    return status;
  }
  decision->q_groups_overridden = overrides.q_groups != 0;
  decision->q_groups =
      decision->q_groups_overridden
          ? overrides.q_groups
          : profile::LanesQueryGroups(MachineCaches(), problem, decision->kernel.lanes);
  decision->tiles_per_head = core::DivideUp(
      shape.queries, decision->q_groups * static_cast<int64_t>(decision->kernel.lanes));
  // Nothing to write: no tiles.
  decision->tile_count = shape.value_dim == 0 && !options.lse
                             ? 0
                             : shape.batch * shape.heads * decision->tiles_per_head;
  decision->grain_overridden = overrides.grain != 0;
  decision->grain = decision->grain_overridden
                        ? overrides.grain
                        : profile::LanesGrain(decision->tile_count, decision->team.workers());
  if (!SizeScratch(*decision)) {
    return Status::InvalidArgument(
        fmt::format("dim: scratch for dim {} and value_dim {} on {} threads overflows 64 bits, "
                    "expected less",
                    shape.dim, shape.value_dim, decision->team.workers()));
  }
  return AttentionPlan(std::move(decision));
}

}  // namespace

Result<AttentionPlan> PlanAttentionWith(const AttentionShape& shape,
                                        const AttentionOptions& options, const Runtime& runtime,
                                        const PlanOverrides& overrides) noexcept {
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
