// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a request, and how it is said.

#ifndef LANEWISE_SRC_ATTENTION_CHECK_H_
#define LANEWISE_SRC_ATTENTION_CHECK_H_

#include "lanewise/attention.h"
#include "src/attention/decision.h"

namespace lanewise::attention {

// Sizes, types and options by themselves and together.
Status CheckRequest(const AttentionShape& shape, const AttentionOptions& options);

// The arrays of a call against its plan.
Status CheckTensors(const AttentionPlan::Decision& decision, const AttentionTensors& tensors);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_CHECK_H_
