// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The loops of the `lanes` variant: query tiles -> key blocks -> lane groups -> kernel.

#ifndef LANEWISE_SRC_ATTENTION_LANES_LOOP_H_
#define LANEWISE_SRC_ATTENTION_LANES_LOOP_H_

#include <cstdint>

#include "src/attention/call.h"

namespace lanewise::attention {

// Computes query tiles [begin, end) of a call. `scratch` has decision.worker_bytes, aligned to
// kWorkerAlignment.
void RunLanesTiles(const Call& call, int64_t begin, int64_t end, void* scratch);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_LANES_LOOP_H_
