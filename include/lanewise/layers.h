// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The multi-head attention layer: projections, attention of every head, output projection.

#ifndef LANEWISE_LAYERS_H_
#define LANEWISE_LAYERS_H_

#include <cstddef>  // size_t
#include <cstdint>  // int64_t
#include <memory>   // shared_ptr
#include <string>   // MultiHeadExplanation

#include "lanewise/attention.h"
#include "lanewise/export.h"
#include "lanewise/gemm.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "lanewise/workspace.h"

namespace lanewise {

// The sizes of a layer. At least 1 each, but for those where 0 stands for a default.
struct MultiHeadShape {
  int64_t d_model = 0;     // width of the rows that queries are made from, and of the output
  int64_t heads = 0;       // query heads
  int64_t kv_heads = 0;    // a divisor of heads; 0: heads
  int64_t dim = 0;         // of a head; 0: d_model / heads, which has to be a whole number
  int64_t kv_d_model = 0;  // width of the rows that keys and values are made from; 0: d_model
};

// The parameters of a layer, f32, f16 or bf16. A matrix has a row for each of its outputs, as
// PyTorch's nn.Linear and nn.MultiheadAttention have it, and comes as a tensor of sizes
// [1, 1, outputs, inputs], last stride 1. Outputs of q are head by head: those of head h are rows
// h * dim to (h + 1) * dim; likewise k and v by kv head.
//
// Either q, k and v are given, or qkv, which is the three one below the other; with it k and v are
// made from rows of width d_model. A bias that is absent ({}) is 0.
struct MultiHeadWeights {
  ConstTensor q = {};    // [heads * dim, d_model]
  ConstTensor k = {};    // [kv_heads * dim, kv_d_model]
  ConstTensor v = {};    // [kv_heads * dim, kv_d_model]
  ConstTensor qkv = {};  // [(heads + 2 * kv_heads) * dim, d_model]
  ConstTensor out = {};  // [d_model, heads * dim]

  ArrayView<float> q_bias = {};    // [heads * dim]
  ArrayView<float> k_bias = {};    // [kv_heads * dim]
  ArrayView<float> v_bias = {};    // [kv_heads * dim]
  ArrayView<float> qkv_bias = {};  // [(heads + 2 * kv_heads) * dim], with qkv
  ArrayView<float> out_bias = {};  // [d_model]
};

// The sizes and types of one kind of call.
struct MultiHeadCall {
  int64_t batch = 1;
  int64_t queries = 0;
  // Self-attention: keys and values are made from the same rows as the queries, and `keys` is 0 or
  // `queries`; kv_d_model must be d_model. With `cross` they are made from `keys` rows of their
  // own.
  bool cross = false;
  int64_t keys = 0;
  DataType x_type = DataType::kF32;
  DataType x_kv_type = DataType::kF32;  // with `cross`
  DataType out_type = DataType::kF32;
};

// The arrays of one call. Strides are free (last stride 1), 0 broadcasts an input. Outputs need
// memory of their own, as in AttentionTensors.
struct MultiHeadTensors {
  ConstTensor x;          // [batch, 1, queries, d_model]
  ConstTensor x_kv = {};  // [batch, 1, keys, kv_d_model], with `cross`
  Tensor out = {};        // [batch, 1, queries, d_model]

  // What the options of the plan ask for: mask, bias, alibi_slopes, sinks, kv_len, kv_first,
  // q_offsets and k_offsets, lse, weights, and what a score needs: w, wq, wk, w_out. q, k, v and
  // out of it must be empty.
  //
  // A ragged batch is [1, 1, queries, d_model] and so on, as documented there.
  AttentionTensors attention = {};
};

// What a plan decided and why.
struct MultiHeadExplanation {
  GemmExplanation q;
  GemmExplanation kv;
  PlanExplanation attention;
  GemmExplanation out;
  int64_t workspace_bytes = 0;

  // All of it as lines of text.
  LANEWISE_EXPORT std::string ToString() const;
};

// A validated, immutable decision how to compute one kind of call. Cheap to copy; safe to run from
// many threads at once, each with its own Workspace. Keeps the layer's parameters alive. A
// moved-from plan may be assigned to or destroyed, and nothing else.
class LANEWISE_EXPORT MultiHeadPlan {
 public:
  // Computes, with X = x, X_kv = x_kv or x, and i over the heads,
  //
  //   head_i = Attention(X W_q,iᵀ + b_q,i,  X_kv W_k,jᵀ + b_k,j,  X_kv W_v,jᵀ + b_v,j)
  //   out    = Concat(head_1, ..., head_heads) W_outᵀ + b_out      j = i / (heads / kv_heads)
  //
  // (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2) with the attention and the options of
  // lanewise/attention.h: scale 1/sqrt(dim) unless given, mask true = may attend, shapes
  // [batch, heads, queries, keys].
  //
  // Edges: as there; a query that sees no key gives b_out. Rows of x_kv that no query sees have no
  // influence, NaN or not, but they are read. NaN in a row of x or in a row that it sees gives NaN
  // in that row. Zero batch or queries: success, nothing written. Zero keys: b_out in each row.
  //
  // Accuracy: that of the four products and of attention, one after the other, in f32 throughout;
  // a 16-bit output is rounded once.
  //
  // A row of the result depends on that row of x, on the rows of x_kv that it sees and on what
  // lanewise/gemm.h and lanewise/attention.h say: not on threads, nor on whether q, k and v were
  // given as one matrix.
  //
  // Cost: the heads are strided views of the projected rows; nothing is transposed or copied, but
  // for rows of x, x_kv or out whose batch items do not follow each other evenly.
  //
  // Threads and memory: as lanewise/runtime.h says. Scratch only in `workspace`, which must have
  // workspace_bytes().
  //
  // Errors, all before any output is written: those of AttentionPlan::Run for the arrays that it
  // knows, and the same for x, x_kv and out; a small workspace.
  Status Run(const MultiHeadTensors& tensors, Workspace& workspace) const noexcept;

  // Bytes that Run needs: projected rows and the scratch of the largest step.
  size_t workspace_bytes() const noexcept;

  MultiHeadExplanation Explain() const;

  struct Decision;  // internal
  explicit MultiHeadPlan(std::shared_ptr<const Decision> decision) noexcept;

 private:
  std::shared_ptr<const Decision> decision_;
};

// A layer: its parameters, laid out for products once. Immutable and independent of the arrays it
// was made from; cheap to copy (copies share the parameters) and to share between threads.
class LANEWISE_EXPORT MultiHeadAttention {
 public:
  // With the defaults filled in.
  const MultiHeadShape& shape() const noexcept;

  // Validates everything that can be validated without the arrays and decides how to compute, with
  // the runtime that the layer was made with. Microseconds; allocates the plan. Thread-safe.
  //
  // Errors: those of PlanAttention; kInvalidArgument for keys or a kv_d_model that do not fit
  // `cross`, and for options.paged: a layer makes its keys and values anew.
  Result<MultiHeadPlan> Plan(const MultiHeadCall& call,
                             const AttentionOptions& options = {}) const noexcept;

  struct Layer;  // internal
  explicit MultiHeadAttention(std::shared_ptr<const Layer> layer) noexcept;

 private:
  std::shared_ptr<const Layer> layer_;
};

// Packs the parameters; matrices keep their types, but for k and v of two different ones, which
// become f32.
//
//   lanewise::MultiHeadShape shape;
//   shape.d_model = 512;
//   shape.heads = 8;
//   lanewise::MultiHeadWeights weights;
//   weights.qkv = lanewise::ConstTensor(in_proj.data(), {1, 1, 3 * 512, 512});
//   weights.out = lanewise::ConstTensor(out_proj.data(), {1, 1, 512, 512});
//   auto layer = lanewise::MakeMultiHeadAttention(shape, weights);  // then look at layer.ok()
//   lanewise::MultiHeadCall call;
//   call.queries = 100;
//   auto plan = layer->Plan(call);                                  // plan.ok()
//   lanewise::Workspace workspace(plan->workspace_bytes());
//   plan->Run({x, {}, out}, workspace);
//
// Errors: kInvalidArgument for d_model that heads do not divide (and no dim), heads that kv_heads
// do not divide, a negative or missing size, both or neither of qkv and q, k, v, a matrix or bias
// of other sizes or types, an unknown target or number of threads; kUnsupported for a target that
// this build or machine cannot do; kOutOfMemory.
LANEWISE_EXPORT Result<MultiHeadAttention> MakeMultiHeadAttention(
    const MultiHeadShape& shape, const MultiHeadWeights& weights,
    const Runtime& runtime = DefaultRuntime()) noexcept;

}  // namespace lanewise

#endif  // LANEWISE_LAYERS_H_
