// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The memory of the `few` variant: a worker's scratch, and the partial results of chunks.

#ifndef LANEWISE_SRC_ATTENTION_FEW_SCRATCH_H_
#define LANEWISE_SRC_ATTENTION_FEW_SCRATCH_H_

#include <cstdint>
#include <optional>

#include "src/attention/decision.h"
#include "src/core/sizes.h"
#include "src/kernels/few.h"

namespace lanewise::attention {

inline int64_t FewPadded(int64_t floats) {
  return core::RoundUp(floats, static_cast<int64_t>(kernels::kFewPadding));
}

// A row's part of a partial result: its output, then its state.
inline int64_t FewPartialRowFloats(const AttentionPlan::Decision& decision) {
  return FewPadded(decision.shape.value_dim) + FewPadded(kernels::kFewStates);
}
// A partial result: the rows of a row block.
inline int64_t FewPartialFloats(const AttentionPlan::Decision& decision) {
  return decision.few.row_block * FewPartialRowFloats(decision);
}

// Where the parts of a worker's scratch begin, in floats.
struct FewScratch {
  int64_t queries = 0;  // [row_block padded, dim padded]
  int64_t scores = 0;   // [row_block padded, key_chunk]
  int64_t keys = 0;     // [kFewStageRows, dim padded]: rows of k as f32, if they are not
  int64_t row = 0;      // [row_block, dim or value_dim]: rows of q or out as f32, if they are not
  int64_t partial = 0;  // [row_block]: results of a chunk alone
  int64_t end = 0;

  explicit FewScratch(const AttentionPlan::Decision& decision);
};

// Bytes of a worker's scratch; nothing on overflow.
std::optional<int64_t> FewScratchBytes(const AttentionPlan::Decision& decision);

// Floats of the partial results that a call keeps; nothing on overflow.
std::optional<int64_t> FewKeptFloats(const AttentionPlan::Decision& decision);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_FEW_SCRATCH_H_
