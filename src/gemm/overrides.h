// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Planning with some parameters fixed by hand: for tests, `lanewise bench` and the tuner.

#ifndef LANEWISE_SRC_GEMM_OVERRIDES_H_
#define LANEWISE_SRC_GEMM_OVERRIDES_H_

#include <cstdint>
#include <string>

#include "lanewise/gemm.h"

namespace lanewise::gemm {

// An absent field (empty, 0) leaves the choice to the defaults.
struct PlanOverrides {
  std::string variant;       // "blocks", "panels", "rows" or "dots"
  std::string tile;          // register tile id of the target, e.g. "4x3v"
  int64_t row_block = 0;     // rows of A that are copied together
  int64_t depth_block = 0;   // steps that are summed up before they are added to C
  int64_t column_block = 0;  // columns of B that are copied together
};

// PlanGemm with overrides. An override that the target does not have, that is out of range, or that
// the shape or options exclude, is an error that names it; explanations show its source as
// "override".
Result<GemmPlan> PlanGemmWith(const GemmShape& shape, const GemmOptions& options,
                              const Runtime& runtime, const PlanOverrides& overrides) noexcept;

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_OVERRIDES_H_
