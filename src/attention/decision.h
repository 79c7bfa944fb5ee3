// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a plan holds: everything that a run needs, validated and decided.

#ifndef LANEWISE_SRC_ATTENTION_DECISION_H_
#define LANEWISE_SRC_ATTENTION_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "lanewise/attention.h"
#include "src/kernels/lanes.h"
#include "src/parallel/parallel.h"
#include "src/profile/defaults.h"

namespace lanewise {
namespace attention {

// Workspaces, and each worker's part of one, are aligned to a pair of cache lines, so that workers
// share neither a line nor a line that hardware prefetches with it.
inline constexpr int64_t kWorkerAlignment = 128;

}  // namespace attention

struct AttentionPlan::Decision {
  explicit Decision(int threads) : team(threads) {}

  AttentionShape shape;
  AttentionOptions options;
  float scale = 0;    // options.scale, or its default
  float softcap = 0;  // 0: off

  // Numeric parameters: a row's bits depend on them.
  int64_t kv_block = 0;

  // Neutral parameters: only the time depends on them.
  kernels::LanesKernel kernel;
  int64_t q_groups = 0;
  int64_t grain = 0;
  parallel::Team team;

  // Scratch, in bytes: what all workers share, then worker_bytes for each.
  size_t shared_bytes = 0;
  size_t worker_bytes = 0;
  size_t group_floats = 0;  // state of one lane group

  // For Explain only.
  int64_t target_id = 0;
  std::string target;
  profile::LanesProblem problem;
  std::string note;
  bool tile_overridden = false;
  bool kv_block_overridden = false;
  bool q_groups_overridden = false;
  bool grain_overridden = false;
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_ATTENTION_DECISION_H_
