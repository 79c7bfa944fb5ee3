// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// plan -> run.

#include <new>
#include <utility>

#include "lanewise/gemm.h"
#include "src/core/workspace.h"
#include "src/gemm/blocks_loop.h"
#include "src/gemm/call.h"
#include "src/gemm/check.h"
#include "src/gemm/decision.h"
#include "src/gemm/packed_matrix.h"
#include "src/gemm/run.h"
#include "src/gemm/streams_loop.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace {

size_t NeededBytes(const GemmPlan::Decision& decision) {
  return decision.sums_bytes + decision.b_block_bytes * static_cast<size_t>(decision.b_blocks) +
         decision.worker_bytes * static_cast<size_t>(decision.team.workers());
}

void RunGroup(const gemm::Call& call, int64_t group, const gemm::Crew& crew) {
  if (gemm::Streams(call.decision().variant)) {
    gemm::RunStreams(call, group, crew);
  } else {
    gemm::RunBlocks(call, group, crew);
  }
}

Status Run(const GemmPlan::Decision& decision, const GemmTensors& tensors, Workspace& workspace) {
  if (Status s = gemm::CheckTensors(decision, tensors); !s.ok()) return s;
  if (Status s = core::CheckWorkspace(workspace, NeededBytes(decision)); !s.ok()) return s;
  gemm::RunChecked(decision, tensors, static_cast<char*>(workspace.data()));
  return {};
}

}  // namespace

void gemm::RunChecked(const GemmPlan::Decision& decision, const GemmTensors& tensors,
                      char* workspace) {
  const GemmShape& shape = decision.shape;
  if (decision.matrices() == 0 || shape.rows == 0 || shape.columns == 0) return;

  const gemm::Call call(decision, tensors, workspace);
  const int workers = decision.team.workers();
  if (workers > 1 && decision.b_blocks == workers && call.groups() >= 2 * workers) {
    // Each worker its own products, without waiting for others.
    const auto run = [&](int worker, int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        RunGroup(call, group, gemm::Crew(worker));
      }
    };
    decision.team.Run(call.groups(), 1, parallel::RangeBody(run));
    return;
  }
  for (int64_t group = 0; group < call.groups(); ++group) {
    RunGroup(call, group, gemm::Crew(decision.team));
  }
}

GemmPlan::GemmPlan(std::shared_ptr<const Decision> decision) noexcept
    : decision_(std::move(decision)) {}

Status GemmPlan::Run(const GemmTensors& tensors, Workspace& workspace) const noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return lanewise::Run(*decision_, tensors, workspace);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

size_t GemmPlan::workspace_bytes() const noexcept { return NeededBytes(*decision_); }

Status Gemm(const GemmTensors& tensors, const GemmOptions& options,
            const Runtime& runtime) noexcept {
  GemmShape shape;
  shape.batch = tensors.c.sizes[0];
  shape.heads = tensors.c.sizes[1];
  shape.rows = tensors.c.sizes[2];
  shape.columns = tensors.c.sizes[3];
  shape.depth = tensors.a.sizes[options.transpose_a ? 2 : 3];
  shape.a_type = tensors.a.type;
  shape.b_type = tensors.b.type;
  if (options.packed_b && tensors.packed_b != nullptr && tensors.packed_b->layout() != nullptr) {
    shape.b_type = tensors.packed_b->layout()->type;
  }
  shape.c_type = tensors.c.type;
  const Result<GemmPlan> plan = PlanGemm(shape, options, runtime);
  if (!plan.ok()) return plan.status();
  Workspace workspace(plan->workspace_bytes());
  if (workspace.size_bytes() < plan->workspace_bytes()) return Status::OutOfMemory();
  return plan->Run(tensors, workspace);
}

}  // namespace lanewise
