// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One run of a plan: its arrays, its sequences, and how they are cut into work.

#ifndef LANEWISE_SRC_ATTENTION_CALL_H_
#define LANEWISE_SRC_ATTENTION_CALL_H_

#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/attention/kv_rows.h"
#include "src/attention/mask_classes.h"
#include "src/attention/visibility.h"
#include "src/attention/work_list.h"

namespace lanewise::attention {

// The rows of an array for the query heads that share a kv head. Strides count elements; those of
// broadcast axes are 0.
template <typename Element>
struct HeadRows {
  Element* data = nullptr;  // row 0 of the first head; null: the call has no such array
  int64_t head_stride = 0;
  int64_t row_stride = 0;

  Element* At(int64_t head, int64_t query) const {
    return data + head * head_stride + query * row_stride;
  }
};

// The query heads of one sequence that share a kv head, with everything that belongs to them. Their
// queries are numbered as rows: row r is query r / heads of head r % heads, so that what rows see
// moves on with their number.
struct HeadGroup {
  int64_t batch = 0;
  int64_t kv_head = 0;
  int64_t heads = 0;
  int64_t queries = 0;  // of each head
  int64_t keys = 0;     // slots of the sequence, valid or not
  Visibility visibility;

  HeadRows<const char> q;  // [heads, queries, dim], strides in bytes
  KvRows k;                // [keys, key_dim]
  KvRows v;                // [keys, value_dim]
  HeadRows<char> out;      // [heads, queries, value_dim], strides in bytes
  HeadRows<float> lse;
  HeadRows<float> weights;              // [heads, queries, keys]
  HeadRows<const float> bias;           // [heads, queries, keys] or broadcast
  HeadRows<const uint8_t> mask;         // [heads, queries, keys] or broadcast
  const float* alibi_slopes = nullptr;  // [heads], or null
  const float* sinks = nullptr;         // [heads], or null

  int64_t rows() const { return heads * queries; }
};

// A mask or bias with every broadcast axis as size 1, whether it came as size 1 or stride 0.
ConstTensor Broadcast(const ConstTensor& tensor);

class Call {
 public:
  // Bytes that a call with this plan shares between workers; nothing on overflow.
  static std::optional<int64_t> SharedBytes(const AttentionPlan::Decision& decision);

  // `shared` has decision.shared_bytes, aligned like a workspace. The tensors have been checked.
  Call(const AttentionPlan::Decision& decision, const AttentionTensors& tensors, void* shared);

  const AttentionPlan::Decision& decision() const { return decision_; }
  const AttentionTensors& tensors() const { return tensors_; }
  const ConstTensor& mask() const { return mask_; }
  const ConstTensor& bias() const { return bias_; }
  const MaskClasses& mask_classes() const { return mask_classes_; }

  // Query tiles of the sequences that take `lanes`.
  const WorkList& tiles() const { return tiles_; }
  // Key chunks, times row blocks, of the sequences that take `few`. Row blocks of a chunk alone are
  // finished with it; the others follow.
  const WorkList& chunks() const { return chunks_; }
  const WorkList& row_blocks() const { return row_blocks_; }
  // Those chunks whose results are kept until they are merged: all but a chunk alone, unless
  // weights are asked for, which need its state.
  const WorkList& kept_chunks() const { return kept_chunks_; }
  // The results of kept chunks.
  float* partials() const { return partials_; }
  // Of additive scores: w_out times the scale [hidden], and wk transposed [key_dim, wk_stride],
  // zeros after its hidden columns.
  const float* tanh_weights() const { return tanh_weights_; }
  const float* wk_columns() const { return wk_columns_; }

  int64_t QueriesOf(int64_t batch) const;
  int64_t KeysOf(int64_t batch) const;
  HeadGroup Group(int64_t batch, int64_t kv_head) const;

 private:
  // Fills in what additive scores share.
  void PrepareAdditive();

  const AttentionPlan::Decision& decision_;
  const AttentionTensors& tensors_;
  ConstTensor mask_;
  ConstTensor bias_;
  MaskClasses mask_classes_;
  WorkList tiles_;
  WorkList chunks_;
  WorkList kept_chunks_;
  WorkList row_blocks_;
  float* partials_ = nullptr;
  float* tanh_weights_ = nullptr;
  float* wk_columns_ = nullptr;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_CALL_H_
