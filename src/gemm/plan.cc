// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// shape + options -> plan: validation, then the choice of every parameter.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/gemm.h"
#include "lanewise/runtime.h"
#include "src/core/sizes.h"
#include "src/core/workspace.h"
#include "src/gemm/blocks_loop.h"
#include "src/gemm/check.h"
#include "src/gemm/decision.h"
#include "src/gemm/overrides.h"
#include "src/gemm/streams_loop.h"
#include "src/kernels/convert.h"
#include "src/kernels/gemm.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"
#include "src/parallel/float_modes.h"
#include "src/profile/gemm_defaults.h"
#include "src/profile/machine_caches.h"

namespace lanewise {
namespace gemm {
namespace {

constexpr int64_t kMaxBlock = int64_t{1} << 24;

Status CheckRange(const char* name, int64_t value) {
  if (value >= 0 && value <= kMaxBlock) return {};
  return Status::InvalidArgument(
      fmt::format("{}: found {}, expected 1 to {}", name, value, kMaxBlock));
}

Status CheckRowsAtOnce(const PlanOverrides& overrides, Variant variant) {
  constexpr auto kMost = static_cast<int64_t>(kernels::kMaxStreamRows);
  if (!Streams(variant) || overrides.row_block <= kMost) return {};
  return Status::InvalidArgument(fmt::format("row_block: found {}, expected 1 to {} with few rows",
                                             overrides.row_block, kMost));
}

Status CheckOverrides(const PlanOverrides& overrides) {
  if (Status s = CheckRange("row_block", overrides.row_block); !s.ok()) return s;
  if (Status s = CheckRange("depth_block", overrides.depth_block); !s.ok()) return s;
  return CheckRange("column_block", overrides.column_block);
}

// A packed matrix has the target's first tile.
Status ChooseTile(const std::string& wanted, GemmPlan::Decision& decision) {
  const std::vector<kernels::GemmKernel> tiles = kernels::GemmKernels(decision.target_id);
  std::string known;
  for (const auto& tile : tiles) {
    if (wanted.empty() || tile.tile == wanted) {
      decision.kernel = tile;
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tile.tile);
    if (decision.options.packed_b) break;
  }
  return Status::InvalidArgument(fmt::format("tile: found \"{}\", expected one of {} (target {})",
                                             wanted, known, decision.target));
}

Variant DefaultVariant(const GemmPlan::Decision& decision) {
  const GemmShape& shape = decision.shape;
  const bool packed = decision.options.packed_b;
  // A packed B may serve many matrices, which then do better with blocks of it that stay in a
  // cache.
  if (shape.rows <= profile::kGemmStreamRows && (!packed || decision.matrices() <= 1)) {
    return !packed && decision.options.transpose_b ? Variant::kDots : Variant::kRows;
  }
  return shape.rows <= decision.panel_rows ? Variant::kPanels : Variant::kBlocks;
}

Status ChooseVariant(const std::string& wanted, GemmPlan::Decision& decision) {
  if (wanted.empty()) {
    decision.variant = DefaultVariant(decision);
    return {};
  }
  const struct {
    const char* name;
    Variant variant;
  } variants[] = {{"blocks", Variant::kBlocks},
                  {"panels", Variant::kPanels},
                  {"rows", Variant::kRows},
                  {"dots", Variant::kDots}};
  const auto* found = std::find_if(std::begin(variants), std::end(variants),
                                   [&](const auto& v) { return wanted == v.name; });
  if (found == std::end(variants)) {
    return Status::InvalidArgument(
        fmt::format("variant: found \"{}\", expected blocks, panels, rows or dots", wanted));
  }
  decision.variant = found->variant;
  if (!Streams(decision.variant)) return {};
  const bool transposed = !decision.options.packed_b && decision.options.transpose_b;
  if (transposed == (decision.variant == Variant::kDots)) return {};
  return Status::InvalidArgument(
      fmt::format("variant: found \"{}\", which reads a B that is {}, expected another one for "
                  "these options",
                  wanted, transposed ? "packed or not transposed" : "transposed and not packed"));
}

profile::GemmProblem ProblemOf(const GemmPlan::Decision& decision) {
  profile::GemmProblem problem;
  problem.matrices = decision.matrices();
  problem.rows = decision.shape.rows;
  problem.columns = decision.shape.columns;
  problem.depth_block = decision.depth_block;
  problem.tile_rows = static_cast<int64_t>(decision.kernel.rows);
  problem.tile_columns = decision.tile_columns();
  problem.threads = decision.team.workers();
  return problem;
}

void ChooseDepthBlock(const PlanOverrides& overrides, GemmPlan::Decision& decision) {
  const profile::CacheBytes& caches = profile::MachineCaches();
  const auto columns =
      static_cast<int64_t>(kernels::GemmKernels(decision.target_id).front().columns);
  decision.depth_block = overrides.depth_block != 0
                             ? overrides.depth_block
                             : profile::GemmDepthBlock(caches, columns, decision.shape.depth);
  decision.panel_rows = profile::GemmPanelRows(caches, columns, decision.depth_block);
}

void ChooseBlocks(const PlanOverrides& overrides, GemmPlan::Decision& decision) {
  const profile::CacheBytes& caches = profile::MachineCaches();
  const auto choose = [](int64_t wanted, int64_t usual) { return wanted != 0 ? wanted : usual; };
  const profile::GemmProblem problem = ProblemOf(decision);
  if (Streams(decision.variant)) {
    decision.row_block = choose(overrides.row_block, profile::kGemmStreamRows);
    decision.column_block = choose(overrides.column_block, profile::GemmStreamColumns(problem));
    if (decision.options.packed_b) {
      decision.column_block = core::RoundUp(decision.column_block, decision.tile_columns());
    }
    return;
  }
  const bool one_block = decision.variant == Variant::kPanels;
  decision.row_block = one_block
                           ? std::max<int64_t>(decision.shape.rows, 1)
                           : choose(overrides.row_block, profile::GemmRowBlock(caches, problem));
  decision.column_block =
      core::RoundUp(choose(overrides.column_block, profile::GemmColumnBlock(caches, problem)),
                    decision.tile_columns());
}

void ChooseFunctions(GemmPlan::Decision& decision) {
  const GemmShape& shape = decision.shape;
  decision.a_moves = kernels::GemmMovesFor(decision.target_id, shape.a_type);
  decision.b_moves = kernels::GemmMovesFor(decision.target_id, shape.b_type);
  decision.streams = kernels::GemmStreamsFor(decision.target_id, shape.b_type);
  decision.copy_a = kernels::ConvertRowsFor(decision.target_id, shape.a_type, DataType::kF32);
  decision.widen_b = kernels::ConvertRowsFor(decision.target_id, shape.b_type, DataType::kF32);
}

// Sets the scratch sizes; false if they overflow.
bool SizeScratch(GemmPlan::Decision& decision) {
  constexpr int64_t kBytes = sizeof(float);
  const GemmShape& shape = decision.shape;
  const bool streams = Streams(decision.variant);
  const bool sums = decision.sums_apart() && !streams;
  const auto sums_bytes = core::CheckedProduct(
      {sums ? decision.matrices() : 0, shape.rows, decision.sums_stride(), kBytes});
  const int64_t b_floats = streams ? 0 : BlockOfBFloats(decision);
  const int64_t worker_floats =
      streams ? StreamsScratchFloats(decision) : BlocksScratchFloats(decision);
  const int workers = decision.team.workers();
  decision.b_blocks = decision.matrices() >= 2 * workers ? workers : 1;
  if (!sums_bytes || !core::CheckedProduct({b_floats + worker_floats, kBytes, 2, workers})) {
    return false;
  }
  const auto aligned = [](int64_t bytes) {
    return static_cast<size_t>(core::RoundUp(bytes, core::kWorkerAlignment));
  };
  decision.sums_bytes = aligned(*sums_bytes);
  decision.b_block_bytes = aligned(b_floats * kBytes);
  decision.worker_bytes = aligned(worker_floats * kBytes);
  return true;
}

Result<GemmPlan> Plan(const GemmShape& shape, const GemmOptions& options, const Runtime& runtime,
                      const PlanOverrides& overrides) {
  if (Status s = CheckRequest(shape, options); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  if (Status s = CheckOverrides(overrides); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto decision = std::make_shared<GemmPlan::Decision>(runtime.threads);
  decision->shape = shape;
  decision->options = options;
  decision->target_id = *target;
  decision->target = machine::TargetName(*target);
  decision->note = runtime.note;
  decision->target_overridden = runtime.target != DefaultRuntime().target;
  decision->threads_overridden = runtime.threads != DefaultRuntime().threads;
  decision->overrides = overrides;
  if (Status s = ChooseTile(overrides.tile, *decision); !s.ok()) return s;
  ChooseDepthBlock(overrides, *decision);
  if (Status s = ChooseVariant(overrides.variant, *decision); !s.ok()) return s;
  if (Status s = CheckRowsAtOnce(overrides, decision->variant); !s.ok()) return s;
  ChooseBlocks(overrides, *decision);
  ChooseFunctions(*decision);
  if (!SizeScratch(*decision)) {
    return Status::InvalidArgument(fmt::format(
        "c: scratch for {} matrices of {} x {} and depth {} on {} threads overflows 64 "
        "bits, expected less",
        decision->matrices(), shape.rows, shape.columns, shape.depth, decision->team.workers()));
  }
  return GemmPlan(std::move(decision));
}

}  // namespace

Result<GemmPlan> PlanGemmWith(const GemmShape& shape, const GemmOptions& options,
                              const Runtime& runtime, const PlanOverrides& overrides) noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return Plan(shape, options, runtime, overrides);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace gemm

Result<GemmPlan> PlanGemm(const GemmShape& shape, const GemmOptions& options,
                          const Runtime& runtime) noexcept {
  return gemm::PlanGemmWith(shape, options, runtime, {});
}

}  // namespace lanewise
