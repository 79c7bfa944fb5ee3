// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a layer, a kind of call or the arrays of a call, and how it is
// said.

#ifndef LANEWISE_SRC_LAYERS_CHECK_H_
#define LANEWISE_SRC_LAYERS_CHECK_H_

#include "lanewise/layers.h"
#include "src/layers/decision.h"

namespace lanewise::layers {

// The shape with its defaults filled in.
Result<MultiHeadShape> CompleteShape(const MultiHeadShape& shape);
// `shape` has been completed.
Status CheckWeights(const MultiHeadShape& shape, const MultiHeadWeights& weights);

Status CheckCall(const MultiHeadShape& shape, const MultiHeadCall& call,
                 const AttentionOptions& options);

// x, x_kv and out, each by itself, and that no others are given. The arrays that attention knows
// are checked by its plan.
Status CheckTensors(const MultiHeadPlan::Decision& decision, const MultiHeadTensors& tensors);
// That outputs are apart from x, x_kv and each other; all arrays have been checked.
Status CheckApart(const MultiHeadTensors& tensors);

}  // namespace lanewise::layers

#endif  // LANEWISE_SRC_LAYERS_CHECK_H_
