// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// plan -> run.

#include <fmt/format.h>

#include <new>
#include <utility>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/attention/lanes_loop.h"
#include "src/core/tensor_check.h"

namespace lanewise {
namespace {

Status CheckTensors(const AttentionPlan::Decision& decision, const AttentionTensors& tensors) {
  const AttentionShape& shape = decision.shape;
  const struct {
    const char* name;
    const ConstTensor& tensor;
    DataType type;
    Sizes sizes;
  } inputs[] = {
      {"q", tensors.q, shape.q_type, {shape.batch, shape.heads, shape.queries, shape.dim}},
      {"k", tensors.k, shape.k_type, {shape.batch, shape.kv_heads, shape.keys, shape.dim}},
      {"v", tensors.v, shape.v_type, {shape.batch, shape.kv_heads, shape.keys, shape.value_dim}}};
  for (const auto& input : inputs) {
    if (Status s = core::CheckInput(input.name, input.tensor, input.type, input.sizes); !s.ok()) {
      return s;
    }
  }
  if (Status s = core::CheckOutput("out", tensors.out, shape.out_type,
                                   {shape.batch, shape.heads, shape.queries, shape.value_dim});
      !s.ok()) {
    return s;
  }
  if (!decision.wants_lse && tensors.lse.data != nullptr) {
    return Status::InvalidArgument(
        "lse: found an array, expected none because the plan's option lse is off");
  }
  if (decision.wants_lse) {
    Status s = core::CheckOutput("lse", tensors.lse, DataType::kF32,
                                 {shape.batch, shape.heads, shape.queries, 1});
    if (s.ok()) s = core::CheckApart("lse", tensors.lse, "out", tensors.out);
    if (!s.ok()) return s;
  }
  for (const auto& input : inputs) {
    if (Status s = core::CheckApart("out", tensors.out, input.name, input.tensor); !s.ok())
      return s;
    if (!decision.wants_lse) continue;
    if (Status s = core::CheckApart("lse", tensors.lse, input.name, input.tensor); !s.ok())
      return s;
  }
  return {};
}

Status CheckWorkspace(const Workspace& workspace, size_t needed) {
  if (workspace.size_bytes() >= needed) return {};
  return Status::InvalidArgument(fmt::format("workspace: found {} bytes, expected at least {}",
                                             workspace.size_bytes(), needed));
}

Status Run(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
           Workspace& workspace) {
  const size_t needed = decision.worker_bytes * static_cast<size_t>(decision.team.workers());
  if (Status s = CheckTensors(decision, tensors); !s.ok()) return s;
  if (Status s = CheckWorkspace(workspace, needed); !s.ok()) return s;
  char* const scratch = static_cast<char*>(workspace.data());
  const auto tiles = [&](int worker, int64_t begin, int64_t end) {
    float* own =
        reinterpret_cast<float*>(scratch + static_cast<size_t>(worker) * decision.worker_bytes);
    attention::RunLanesTiles(decision, tensors, begin, end, own);
  };
  decision.team.Run(decision.tile_count, decision.grain, parallel::RangeBody(tiles));
  return {};
}

}  // namespace

Workspace::Workspace(size_t size_bytes) noexcept
    : memory_(size_bytes == 0
                  ? nullptr
                  : ::operator new (size_bytes, std::align_val_t{attention::kWorkerAlignment},
                                    std::nothrow)),
      size_bytes_(memory_ == nullptr ? 0 : size_bytes) {}

void Workspace::Free::operator()(void* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{attention::kWorkerAlignment});
}

AttentionPlan::AttentionPlan(std::shared_ptr<const Decision> decision) noexcept
    : decision_(std::move(decision)) {}

Status AttentionPlan::Run(const AttentionTensors& tensors, Workspace& workspace) const noexcept {
  try {
    return lanewise::Run(*decision_, tensors, workspace);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

size_t AttentionPlan::workspace_bytes() const noexcept {
  return decision_->worker_bytes * static_cast<size_t>(decision_->team.workers());
}

Status Attention(const AttentionTensors& tensors, const AttentionOptions& options,
                 const Runtime& runtime) noexcept {
  AttentionShape shape;
  shape.batch = tensors.q.sizes[0];
  shape.heads = tensors.q.sizes[1];
  shape.kv_heads = tensors.k.sizes[1];
  shape.queries = tensors.q.sizes[2];
  shape.keys = tensors.k.sizes[2];
  shape.dim = tensors.q.sizes[3];
  shape.value_dim = tensors.v.sizes[3];
  shape.q_type = tensors.q.type;
  shape.k_type = tensors.k.type;
  shape.v_type = tensors.v.type;
  shape.out_type = tensors.out.type;
  const Result<AttentionPlan> plan = PlanAttention(shape, options, runtime);
  if (!plan.ok()) return plan.status();
  Workspace workspace(plan->workspace_bytes());
  if (workspace.size_bytes() < plan->workspace_bytes()) return Status::OutOfMemory();
  return plan->Run(tensors, workspace);
}

}  // namespace lanewise
