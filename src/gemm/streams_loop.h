// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The loops of the variants kRows and kDots: few rows, so that reading B is what takes time. Work
// is cut by columns; each part of B is read once for all rows that share it.

#ifndef LANEWISE_SRC_GEMM_STREAMS_LOOP_H_
#define LANEWISE_SRC_GEMM_STREAMS_LOOP_H_

#include <cstdint>

#include "src/gemm/call.h"
#include "src/gemm/decision.h"

namespace lanewise::gemm {

// Floats of a worker's scratch.
int64_t StreamsScratchFloats(const GemmPlan::Decision& decision);

// All products that share the B of `group`.
void RunStreams(const Call& call, int64_t group, const Crew& crew);

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_STREAMS_LOOP_H_
