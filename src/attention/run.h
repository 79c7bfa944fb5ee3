// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Running a plan inside a larger one.

#ifndef LANEWISE_SRC_ATTENTION_RUN_H_
#define LANEWISE_SRC_ATTENTION_RUN_H_

#include "lanewise/attention.h"

namespace lanewise::attention {

// AttentionPlan::Run for arrays that CheckTensors has found right. `workspace` is aligned as one
// and has workspace_bytes().
void RunChecked(const AttentionPlan::Decision& decision, const AttentionTensors& tensors,
                char* workspace);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_RUN_H_
