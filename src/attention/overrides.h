// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Planning with some parameters fixed by hand: for tests, `lanewise bench` and the tuner.

#ifndef LANEWISE_SRC_ATTENTION_OVERRIDES_H_
#define LANEWISE_SRC_ATTENTION_OVERRIDES_H_

#include <cstdint>
#include <string>

#include "lanewise/attention.h"

namespace lanewise::attention {

// An absent field (empty, 0) leaves the choice to the defaults.
struct PlanOverrides {
  std::string variant;   // "lanes" or "few"
  std::string tile;      // register tile id of the target, e.g. "8x2v"; of `lanes` only
  int64_t kv_block = 0;  // keys per softmax step; `few` rounds it up to a multiple of 16
  int64_t q_groups = 0;  // lane groups a query tile; of `lanes` only
  int64_t grain = 0;     // query tiles, or key chunks, that a thread takes at a time
};

// PlanAttention with overrides. An override that the target does not have, or that is out of
// range, is an error that names it; explanations show its source as "override".
Result<AttentionPlan> PlanAttentionWith(const AttentionShape& shape,
                                        const AttentionOptions& options, const Runtime& runtime,
                                        const PlanOverrides& overrides) noexcept;

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_OVERRIDES_H_
