// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A worker's scratch for the `lanes` variant: what lies where.

#ifndef LANEWISE_SRC_ATTENTION_LANES_SCRATCH_H_
#define LANEWISE_SRC_ATTENTION_LANES_SCRATCH_H_

#include <cstdint>
#include <optional>

#include "src/attention/decision.h"

namespace lanewise::attention {

// Lane groups of a query tile from which on rows of keys and values that lie far apart are gathered
// block by block: each group reads them again, and far apart they meet few sets of the caches.
inline constexpr int64_t kGatherGroups = 4;

// Where the parts begin, in floats. Each is aligned to kernels::kScratchAlignment.
struct LanesScratch {
  int64_t state = 0;      // [q_groups, group_floats]
  int64_t scores = 0;     // [kv_block, lanes]
  int64_t k = 0;          // [kv_block, key_dim]: staged keys, if the call may have to stage any
  int64_t v = 0;          // [kv_block, value_dim]
  int64_t rows = 0;       // [lanes, dim or value_dim]: rows of q or out as f32, if they are not
  int64_t queries = 0;    // [dim, lanes]: of a lane group, if they are multiplied by weights
  int64_t projected = 0;  // [kv_block, wk_stride]: keys of additive scores, with wk
  int64_t visible = 0;    // [kv_block] 64-bit words
  int64_t end = 0;

  explicit LanesScratch(const AttentionPlan::Decision& decision);
};

// Sets the size of a lane group and returns the bytes of a worker's scratch; nothing if they
// overflow.
std::optional<int64_t> SizeLanes(AttentionPlan::Decision& decision);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANES_SCRATCH_H_
