// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One run of a plan: its arrays, its sequences, and how they are cut into query tiles.

#ifndef LANEWISE_SRC_ATTENTION_CALL_H_
#define LANEWISE_SRC_ATTENTION_CALL_H_

#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "src/attention/decision.h"
#include "src/attention/mask_classes.h"
#include "src/attention/visibility.h"

namespace lanewise::attention {

// The rows of one query tile, and the arrays of their head. Pointers are to the head's (in ragged
// batches the sequence's) first row.
struct TileView {
  int64_t batch = 0;
  int64_t head = 0;
  const float* q = nullptr;       // [queries, dim]
  const float* k = nullptr;       // [keys, dim]
  const float* v = nullptr;       // [keys, value_dim]
  float* out = nullptr;           // [queries, value_dim]
  float* lse = nullptr;           // [queries], or null
  float* weights = nullptr;       // [queries, keys], or null
  const float* bias = nullptr;    // [queries, keys] or broadcast, or null
  const uint8_t* mask = nullptr;  // [queries, keys] or broadcast, or null
  float alibi_slope = 0;
  float sink = 0;       // -inf: none
  int64_t queries = 0;  // rows of the sequence
  int64_t keys = 0;     // slots of the sequence, valid or not
  Visibility visibility;
  int64_t first_query = 0;
  int64_t group_count = 0;  // lane groups that hold rows
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

  int64_t TileCount() const { return tile_count_; }
  TileView Tile(int64_t index) const;

 private:
  // Query tiles of one head of sequence `batch`.
  int64_t TilesOf(int64_t batch) const;

  const AttentionPlan::Decision& decision_;
  const AttentionTensors& tensors_;
  ConstTensor mask_;
  ConstTensor bias_;
  MaskClasses mask_classes_;
  int64_t* first_tile_ =
      nullptr;  // [batch + 1], ragged only: tiles of one head before each sequence
  int64_t tile_count_ = 0;
  bool heads_first_ = false;  // the heads of a row tile follow each other, and share its mask rows
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_CALL_H_
