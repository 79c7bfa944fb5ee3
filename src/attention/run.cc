// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// plan -> run.

#include <new>
#include <utility>

#include "lanewise/attention.h"
#include "src/attention/call.h"
#include "src/attention/check.h"
#include "src/attention/decision.h"
#include "src/attention/few_loop.h"
#include "src/attention/lanes_loop.h"
#include "src/attention/run.h"
#include "src/core/sizes.h"
#include "src/core/workspace.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace {

size_t NeededBytes(const AttentionPlan::Decision& decision) {
  return decision.shared_bytes +
         decision.worker_bytes * static_cast<size_t>(decision.team.workers());
}

Status Run(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
           Workspace& workspace) {
  if (Status s = attention::CheckTensors(decision, tensors); !s.ok()) return s;
  if (Status s = core::CheckWorkspace(workspace, NeededBytes(decision)); !s.ok()) return s;
  attention::RunChecked(decision, tensors, static_cast<char*>(workspace.data()));
  return {};
}

}  // namespace

void attention::RunChecked(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                           char* workspace) {
  char* const workers = workspace + decision.shared_bytes;
  const attention::Call call(decision, tensors, workspace);
  if (decision.options.mask && call.tiles().size() > 0) {
    const auto classify = [&](int /*worker*/, int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) call.mask_classes().Classify(row);
    };
    decision.team.Run(call.mask_classes().RowCount(), 1, parallel::RangeBody(classify));
  }
  // Each stage over all of its units, a worker's range of them at a time.
  using Stage = void (*)(const attention::Call&, int64_t, int64_t, void*);
  const auto run = [&](Stage stage, int64_t count, int64_t grain) {
    const auto range = [&](int worker, int64_t begin, int64_t end) {
      stage(call, begin, end, workers + static_cast<size_t>(worker) * decision.worker_bytes);
    };
    decision.team.Run(count, grain, parallel::RangeBody(range));
  };
  run(attention::RunLanesTiles, call.tiles().size(), decision.lanes.grain);
  run(attention::RunFewChunks, call.chunks().size(), decision.few.grain);
  run(attention::MergeFewChunks, call.row_blocks().size(), decision.few.grain);
  if (decision.options.weights) {
    run(attention::RunFewWeights, call.chunks().size(), decision.few.grain);
  }
}

AttentionPlan::AttentionPlan(std::shared_ptr<const Decision> decision) noexcept
    : decision_(std::move(decision)) {}

Status AttentionPlan::Run(const AttentionTensors& tensors, Workspace& workspace) const noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return lanewise::Run(*decision_, tensors, workspace);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

size_t AttentionPlan::workspace_bytes() const noexcept { return NeededBytes(*decision_); }

Status Attention(const AttentionTensors& tensors, const AttentionOptions& options,
                 const Runtime& runtime) noexcept {
  if (options.ragged && tensors.q_offsets.size < 1) {
    return Status::InvalidArgument("q_offsets: found no entries, expected one more than sequences");
  }
  AttentionShape shape;
  shape.batch = options.ragged ? tensors.q_offsets.size - 1 : tensors.q.sizes[0];
  shape.heads = tensors.q.sizes[1];
  shape.kv_heads = tensors.k.sizes[1];
  shape.queries = tensors.q.sizes[2];
  shape.keys = tensors.k.sizes[2];
  if (options.paged) {
    const auto slots =
        core::CheckedProduct({tensors.k.sizes[2], tensors.page_table.pages_per_item});
    if (!slots)
      return Status::InvalidArgument(
          "page_table: found more slots than fit 64 bits, expected fewer");
    shape.keys = *slots;
  }
  shape.dim = tensors.q.sizes[3];
  if (options.score == AttentionScore::kBilinear || options.score == AttentionScore::kAdditive) {
    shape.key_dim = tensors.k.sizes[3];
  }
  if (options.score == AttentionScore::kAdditive) shape.hidden = tensors.w_out.size;
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
