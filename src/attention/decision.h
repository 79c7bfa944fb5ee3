// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a plan holds: everything that a run needs, validated and decided.

#ifndef LANEWISE_SRC_ATTENTION_DECISION_H_
#define LANEWISE_SRC_ATTENTION_DECISION_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lanewise/attention.h"
#include "src/core/sizes.h"
#include "src/core/workspace.h"
#include "src/kernels/convert.h"
#include "src/kernels/few.h"
#include "src/kernels/lanes.h"
#include "src/parallel/parallel.h"
#include "src/profile/defaults.h"

namespace lanewise {
namespace attention {

using core::kWorkerAlignment;

// Numeric parameters are those that a row's bits depend on; neutral ones only take time.

struct LanesDecision {
  int64_t kv_block = 0;         // numeric
  kernels::LanesKernel kernel;  // neutral, like what follows
  int64_t q_groups = 0;
  int64_t grain = 0;
  size_t group_floats = 0;  // state of one lane group
};

struct FewDecision {
  int64_t key_chunk = 0;      // numeric
  kernels::FewKernel kernel;  // neutral, like what follows
  int64_t row_block = 0;      // query rows that are computed together, at most
  int64_t grain = 0;
};

}  // namespace attention

struct AttentionPlan::Decision {
  explicit Decision(int threads) : team(threads) {}

  AttentionShape shape;  // key_dim, and hidden of additive scores, in place of 0
  AttentionOptions options;
  float scale = 0;    // of the score: options.scale, its default, or 1 / bandwidth²
  float softcap = 0;  // 0: off

  // Numeric: of the numbers of rows a kv head (query heads that share it times queries) that
  // sequences of this plan may have, those with which one takes `few` instead of `lanes`; or all.
  std::bitset<profile::kMostFewRows + 1> few_rows;
  bool only_few = false;
  attention::LanesDecision lanes;
  attention::FewDecision few;
  parallel::Team team;

  // How types are converted. Null where rows are f32 already.
  struct {
    kernels::ConvertRows q = nullptr;
    kernels::ConvertRows k = nullptr;
    kernels::ConvertRows v = nullptr;
    kernels::ConvertRows out = nullptr;
    kernels::ConvertRows copy = nullptr;  // f32 to f32
  } convert;

  // Scratch, in bytes: what all workers share, then worker_bytes for each.
  size_t shared_bytes = 0;
  size_t worker_bytes = 0;

  // Query heads that share a kv head.
  int64_t group() const { return shape.kv_heads == 0 ? 0 : shape.heads / shape.kv_heads; }
  bool TakesFew(int64_t rows) const {
    return only_few ||
           (static_cast<uint64_t>(rows) < few_rows.size() && few_rows[static_cast<size_t>(rows)]);
  }
  // The largest number of rows that takes `few`; -1: none.
  int64_t MostFewRows() const {
    if (only_few) return INT64_MAX;
    int64_t most = static_cast<int64_t>(few_rows.size()) - 1;
    while (most >= 0 && !TakesFew(most)) --most;
    return most;
  }
  // Floats from one row of wk's columns to the next: hidden, and zeros up to a whole number of
  // lane groups.
  int64_t wk_stride() const {
    return core::RoundUp(shape.hidden, static_cast<int64_t>(lanes.kernel.lanes));
  }

  int64_t target_id = 0;
  profile::LanesProblem problem;  // what the choices looked at

  // For Explain only.
  std::string target;
  std::string note;
  bool variant_overridden = false;
  bool tile_overridden = false;
  bool kv_block_overridden = false;
  bool q_groups_overridden = false;
  bool grain_overridden = false;
  bool target_overridden = false;
  bool threads_overridden = false;
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_ATTENTION_DECISION_H_
