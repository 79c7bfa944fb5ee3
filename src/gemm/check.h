// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a request, and how it is said.

#ifndef LANEWISE_SRC_GEMM_CHECK_H_
#define LANEWISE_SRC_GEMM_CHECK_H_

#include "lanewise/gemm.h"
#include "src/gemm/decision.h"

namespace lanewise::gemm {

// Sizes, types and options by themselves and together.
Status CheckRequest(const GemmShape& shape, const GemmOptions& options);

// The arrays of a call against its plan.
Status CheckTensors(const GemmPlan::Decision& decision, const GemmTensors& tensors);

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_CHECK_H_
