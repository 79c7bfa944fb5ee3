// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The loops of the `few` variant: row blocks -> key chunks -> kernel, then the chunks of each row
// merged in order. A chunk's result depends on nothing but its rows and keys, so spreading one
// sequence over threads changes no bit.

#ifndef LANEWISE_SRC_ATTENTION_FEW_LOOP_H_
#define LANEWISE_SRC_ATTENTION_FEW_LOOP_H_

#include <cstdint>

#include "src/attention/call.h"
#include "src/attention/decision.h"

namespace lanewise::attention {

// `scratch` has decision.worker_bytes, aligned to kWorkerAlignment. In this order, each for all
// units of its list: units [begin, end) of call.chunks(), of call.row_blocks(), and if the call
// wants weights of call.chunks() again.
void RunFewChunks(const Call& call, int64_t begin, int64_t end, void* scratch);
void MergeFewChunks(const Call& call, int64_t begin, int64_t end, void* scratch);
void RunFewWeights(const Call& call, int64_t begin, int64_t end, void* scratch);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_FEW_LOOP_H_
