// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// layer + call + options -> plan.

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/core/workspace.h"
#include "src/gemm/packed_matrix.h"
#include "src/layers/check.h"
#include "src/layers/decision.h"
#include "src/layers/layer.h"
#include "src/machine/targets.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace layers {
namespace {

using Layer = MultiHeadAttention::Layer;

// Floats between rows of `columns`: an odd number of cache lines, so that a head's part of
// successive rows meets all sets of a cache and not, as with a power of two, a few of them.
int64_t RowStride(int64_t columns) {
  constexpr int64_t kLineFloats = 16;
  return (core::DivideUp(columns, kLineFloats) | 1) * kLineFloats;
}

// Hands out parts of the workspace.
class Parts {
 public:
  // Bytes for the product of `factors`.
  size_t Take(std::initializer_list<int64_t> factors) {
    const int64_t offset = end_;
    const auto bytes = core::CheckedProduct(factors);
    const auto end = bytes ? core::CheckedSum({end_, *bytes, core::kWorkerAlignment}) : bytes;
    fits_ = fits_ && end;
    if (fits_) end_ = core::RoundUp(end_ + *bytes, core::kWorkerAlignment);
    return static_cast<size_t>(offset);
  }

  // Its size, or nothing if it overflows.
  std::optional<size_t> size_bytes() const {
    return fits_ ? std::optional(static_cast<size_t>(end_)) : std::nullopt;
  }

 private:
  int64_t end_ = 0;
  bool fits_ = true;
};

AttentionShape ShapeOf(const Layer& layer, const MultiHeadCall& call) {
  AttentionShape shape;
  shape.batch = call.batch;
  shape.heads = layer.shape.heads;
  shape.kv_heads = layer.shape.kv_heads;
  shape.queries = call.queries;
  shape.keys = call.keys;
  shape.dim = layer.shape.dim;
  shape.value_dim = layer.shape.dim;
  return shape;
}

struct Product {
  int64_t rows;
  const PackedMatrix& weights;
  DataType a_type;
  DataType c_type;
  bool bias;
};

Result<GemmPlan> PlanProduct(const Product& product, const Runtime& runtime) {
  GemmShape shape;
  shape.rows = product.rows;
  shape.columns = product.weights.layout()->columns;
  shape.depth = product.weights.layout()->depth;
  shape.a_type = product.a_type;
  shape.b_type = product.weights.layout()->type;
  shape.c_type = product.c_type;
  GemmOptions options;
  options.bias = product.bias;
  options.packed_b = true;
  options.transpose_b = true;
  return PlanGemm(shape, options, runtime);
}

Result<Steps> PlanSteps(const Layer& layer, const MultiHeadCall& call,
                        const AttentionOptions& options) {
  // Attention first: it knows what is wrong with sizes.
  Result<AttentionPlan> attention = PlanAttention(ShapeOf(layer, call), options, layer.runtime);
  if (!attention.ok()) return attention.status();
  const int64_t items = options.ragged ? 1 : call.batch;
  const int64_t q_rows = items * call.queries;
  Result<GemmPlan> q = PlanProduct(
      {q_rows, layer.q, call.x_type, DataType::kF32, !layer.q_bias.empty()}, layer.runtime);
  if (!q.ok()) return q.status();
  Result<GemmPlan> kv = PlanProduct(
      {items * call.keys, layer.kv, call.x_kv_type, DataType::kF32, !layer.kv_bias.empty()},
      layer.runtime);
  if (!kv.ok()) return kv.status();
  Result<GemmPlan> out = PlanProduct(
      {q_rows, layer.out, DataType::kF32, call.out_type, !layer.out_bias.empty()}, layer.runtime);
  if (!out.ok()) return out.status();
  return Steps{std::move(*q), std::move(*kv), std::move(*attention), std::move(*out)};
}

// False if the workspace overflows.
bool LayOut(MultiHeadPlan::Decision& decision) {
  const Layer& layer = *decision.layer;
  const MultiHeadCall& call = decision.call;
  const Steps& steps = decision.steps;
  const int64_t items = decision.items();
  const int64_t model_bytes =
      std::max(core::ElementBytes(call.x_type), core::ElementBytes(call.out_type));
  const auto staged_x = core::CheckedProduct({call.queries, layer.shape.d_model, model_bytes});
  const auto staged_kv =
      core::CheckedProduct({call.keys, layer.shape.kv_d_model, core::ElementBytes(call.x_kv_type)});
  if (!staged_x || !staged_kv) return false;
  const size_t inner = std::max({steps.q.workspace_bytes(), steps.kv.workspace_bytes(),
                                 steps.attention.workspace_bytes(), steps.out.workspace_bytes()});
  WorkspaceLayout& layout = decision.layout;
  layout.q.stride = layout.heads.stride = RowStride(layer.q_columns());
  layout.kv.stride = RowStride(2 * layer.k_columns());
  constexpr int64_t kBytes = sizeof(float);
  Parts parts;
  layout.staged = parts.Take({items > 1 ? items : 0, std::max(*staged_x, *staged_kv)});
  layout.q.offset = parts.Take({items, call.queries, layout.q.stride, kBytes});
  layout.kv.offset = parts.Take({items, call.keys, layout.kv.stride, kBytes});
  layout.heads.offset = parts.Take({items, call.queries, layout.heads.stride, kBytes});
  layout.inner = parts.Take({static_cast<int64_t>(inner)});
  const std::optional<size_t> size = parts.size_bytes();
  layout.size_bytes = size.value_or(0);
  return size.has_value();
}

Result<MultiHeadPlan> Plan(std::shared_ptr<const Layer> layer, MultiHeadCall call,
                           const AttentionOptions& options) {
  if (Status s = CheckCall(layer->shape, call, options); !s.ok()) return s;
  if (!call.cross) {
    call.keys = call.queries;
    call.x_kv_type = call.x_type;
  }
  Result<Steps> steps = PlanSteps(*layer, call, options);
  if (!steps.ok()) return steps.status();
  const Runtime& runtime = layer->runtime;
  auto decision = std::make_shared<MultiHeadPlan::Decision>(std::move(*steps), runtime.threads);
  decision->layer = std::move(layer);
  decision->call = call;
  decision->ragged = options.ragged;
  decision->target_id = *machine::FindTarget(runtime.target);
  if (!LayOut(*decision)) {
    return Status::InvalidArgument("queries: the workspace overflows 64 bits, expected less");
  }
  return MultiHeadPlan(std::move(decision));
}

}  // namespace
}  // namespace layers

MultiHeadPlan::MultiHeadPlan(std::shared_ptr<const Decision> decision) noexcept
    : decision_(std::move(decision)) {}

size_t MultiHeadPlan::workspace_bytes() const noexcept { return decision_->layout.size_bytes; }

Result<MultiHeadPlan> MultiHeadAttention::Plan(const MultiHeadCall& call,
                                               const AttentionOptions& options) const noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return layers::Plan(layer_, call, options);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
