// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The loops of the variants kBlocks and kPanels: five of them, as in BLIS (Van Zee and van de
// Geijn, 2015), the innermost two in the kernel.
//
//   column block   its part of B is packed once for all rows
//     depth block    so that a panel of B fills the first-level cache, or comes from the second
//       row block      and either the block of A or all panels of B stay in the second
//         panel          tile columns of B
//           tile           rows of A that the kernel takes at a time
//
// Depth blocks follow one another; everything inside one of them is independent of the rest.

#ifndef LANEWISE_SRC_GEMM_BLOCKS_LOOP_H_
#define LANEWISE_SRC_GEMM_BLOCKS_LOOP_H_

#include <cstdint>

#include "src/gemm/call.h"
#include "src/gemm/decision.h"

namespace lanewise::gemm {

// Floats of a block of B and of a worker's scratch.
int64_t BlockOfBFloats(const GemmPlan::Decision& decision);
int64_t BlocksScratchFloats(const GemmPlan::Decision& decision);

// All products that share the B of `group`.
void RunBlocks(const Call& call, int64_t group, const Crew& crew);

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_BLOCKS_LOOP_H_
