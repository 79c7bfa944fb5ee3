// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Running a plan inside a larger one.

#ifndef LANEWISE_SRC_GEMM_RUN_H_
#define LANEWISE_SRC_GEMM_RUN_H_

#include "lanewise/gemm.h"

namespace lanewise::gemm {

// GemmPlan::Run for arrays that CheckTensors would find right. `workspace` is aligned as one and
// has workspace_bytes().
void RunChecked(const GemmPlan::Decision& decision, const GemmTensors& tensors, char* workspace);

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_RUN_H_
