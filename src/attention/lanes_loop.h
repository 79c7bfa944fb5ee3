// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The loops of the `lanes` variant: query tiles -> key blocks -> lane groups -> kernel.

#ifndef LANEWISE_SRC_ATTENTION_LANES_LOOP_H_
#define LANEWISE_SRC_ATTENTION_LANES_LOOP_H_

#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "src/attention/decision.h"

namespace lanewise::attention {

// Floats of scratch that one lane group takes, a multiple of the alignment; nothing on overflow.
std::optional<int64_t> LaneGroupFloats(int64_t dim, int64_t value_dim, int64_t lanes);

// Computes query tiles [begin, end). `scratch` has decision.worker_bytes, aligned to
// kernels::kScratchAlignment. The tensors have been checked.
void RunLanesTiles(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                   int64_t begin, int64_t end, float* scratch);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANES_LOOP_H_
