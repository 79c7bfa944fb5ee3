// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// plan -> run.

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "src/attention/check.h"
#include "src/attention/run.h"
#include "src/core/element_bytes.h"
#include "src/core/workspace.h"
#include "src/gemm/run.h"
#include "src/kernels/convert.h"
#include "src/layers/check.h"
#include "src/layers/decision.h"
#include "src/layers/layer.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace layers {
namespace {

// Whether the rows of all items, [items, 1, rows, columns], lie evenly: then they are the rows of
// one matrix.
template <typename Void>
bool IsEven(const BasicTensor<Void>& tensor) {
  return tensor.sizes[0] == 1 || tensor.sizes[2] == 1 ||
         tensor.strides[0] == tensor.sizes[2] * tensor.strides[2];
}

// That matrix.
template <typename Void>
BasicTensor<Void> AsMatrix(const BasicTensor<Void>& tensor) {
  const int64_t stride = tensor.sizes[2] == 1 ? tensor.strides[0] : tensor.strides[2];
  return {tensor.data,
          tensor.type,
          {1, 1, tensor.sizes[0] * tensor.sizes[2], tensor.sizes[3]},
          {0, 0, stride, 1}};
}

// One run of a plan; its arrays have been checked.
class Call {
 public:
  Call(const MultiHeadPlan::Decision& decision, const MultiHeadTensors& tensors, char* workspace)
      : decision_(decision), tensors_(tensors), workspace_(workspace) {}

  // With the views of the heads.
  AttentionTensors Attention() const {
    const MultiHeadAttention::Layer& layer = *decision_.layer;
    const MultiHeadCall& call = decision_.call;
    const MultiHeadShape& shape = layer.shape;
    AttentionTensors tensors = tensors_.attention;
    tensors.q = Heads(decision_.layout.q, shape.heads, call.queries, 0);
    tensors.k = Heads(decision_.layout.kv, shape.kv_heads, call.keys, 0);
    tensors.v = Heads(decision_.layout.kv, shape.kv_heads, call.keys, layer.k_columns());
    tensors.out = Heads(decision_.layout.heads, shape.heads, call.queries, 0);
    return tensors;
  }

  void ProjectInputs() const {
    const MultiHeadAttention::Layer& layer = *decision_.layer;
    const ConstTensor x = Gathered(tensors_.x);
    Multiply(decision_.steps.q, x, layer.q, layer.q_bias,
             Projected(decision_.layout.q, x, layer.q_columns()));
    const ConstTensor x_kv = decision_.call.cross ? Gathered(tensors_.x_kv) : x;
    Multiply(decision_.steps.kv, x_kv, layer.kv, layer.kv_bias,
             Projected(decision_.layout.kv, x_kv, 2 * layer.k_columns()));
  }

  void ProjectOutput() const {
    const MultiHeadAttention::Layer& layer = *decision_.layer;
    const Tensor& out = tensors_.out;
    const bool even = IsEven(out);
    const Tensor to = even ? out : Tensor(Part(decision_.layout.staged), out.type, out.sizes);
    const Tensor matrix = AsMatrix(to);
    Multiply(decision_.steps.out, Projected(decision_.layout.heads, matrix, layer.q_columns()),
             layer.out, layer.out_bias, matrix);
    if (!even) CopyRows(to, out);
  }

  char* inner() const { return Part(decision_.layout.inner); }

 private:
  char* Part(size_t offset) const { return workspace_ + offset; }

  // [items, heads, rows, dim] in rows of the workspace, from column `first` on.
  Tensor Heads(const ProjectedRows& rows, int64_t heads, int64_t count, int64_t first) const {
    const int64_t dim = decision_.layer->shape.dim;
    return {reinterpret_cast<float*>(Part(rows.offset)) + first,
            {decision_.items(), heads, count, dim},
            {count * rows.stride, dim, rows.stride, 1}};
  }

  // The product of the rows of `from`: [1, 1, rows, columns].
  Tensor Projected(const ProjectedRows& rows, const ConstTensor& from, int64_t columns) const {
    return {reinterpret_cast<float*>(Part(rows.offset)),
            {1, 1, from.sizes[2], columns},
            {0, 0, rows.stride, 1}};
  }

  // The rows of all items as one matrix, in place or copied.
  ConstTensor Gathered(const ConstTensor& rows) const {
    if (IsEven(rows)) return AsMatrix(rows);
    const Tensor staged(Part(decision_.layout.staged), rows.type, rows.sizes);
    CopyRows(rows, staged);
    return AsMatrix(staged);
  }

  void CopyRows(const ConstTensor& from, const Tensor& to) const {
    const kernels::ConvertRows copy =
        kernels::ConvertRowsFor(decision_.target_id, from.type, to.type);
    const int64_t bytes = core::ElementBytes(from.type);
    const auto copy_items = [&](int /*worker*/, int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        kernels::ConvertArgs args;
        args.from = static_cast<const char*>(from.data) + item * from.strides[0] * bytes;
        args.from_stride = from.strides[2];
        args.to = static_cast<char*>(to.data) + item * to.strides[0] * bytes;
        args.to_stride = to.strides[2];
        args.row_count = static_cast<size_t>(from.sizes[2]);
        args.columns = static_cast<size_t>(from.sizes[3]);
        copy(args);
      }
    };
    decision_.team.Run(from.sizes[0], 1, parallel::RangeBody(copy_items));
  }

  void Multiply(const GemmPlan& plan, const ConstTensor& a, const PackedMatrix& b,
                const std::vector<float>& bias, const Tensor& c) const {
    GemmTensors tensors;
    tensors.a = a;
    tensors.c = c;
    tensors.packed_b = &b;
    if (!bias.empty()) tensors.bias = {bias.data(), static_cast<int64_t>(bias.size())};
    gemm::RunChecked(plan.decision(), tensors, inner());
  }

  const MultiHeadPlan::Decision& decision_;
  const MultiHeadTensors& tensors_;
  char* const workspace_;
};

Status Run(const MultiHeadPlan::Decision& decision, const MultiHeadTensors& tensors,
           Workspace& workspace) {
  if (Status s = CheckTensors(decision, tensors); !s.ok()) return s;
  if (Status s = core::CheckWorkspace(workspace, decision.layout.size_bytes); !s.ok()) return s;
  const Call call(decision, tensors, static_cast<char*>(workspace.data()));
  const AttentionTensors attention = call.Attention();
  const AttentionPlan::Decision& attention_decision = decision.steps.attention.decision();
  if (Status s = attention::CheckTensors(attention_decision, attention); !s.ok()) return s;
  if (Status s = CheckApart(tensors); !s.ok()) return s;
  if (decision.items() == 0 || decision.call.queries == 0) return {};

  call.ProjectInputs();
  attention::RunChecked(attention_decision, attention, call.inner());
  call.ProjectOutput();
  return {};
}

}  // namespace
}  // namespace layers

Status MultiHeadPlan::Run(const MultiHeadTensors& tensors, Workspace& workspace) const noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return layers::Run(*decision_, tensors, workspace);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
