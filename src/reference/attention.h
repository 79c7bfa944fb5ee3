// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention by its definition, in double precision and plain loops: the specification that tests
// and `lanewise verify` compare against.

#ifndef LANEWISE_SRC_REFERENCE_ATTENTION_H_
#define LANEWISE_SRC_REFERENCE_ATTENTION_H_

#include <vector>

#include "lanewise/attention.h"

namespace lanewise::reference {

struct AttentionResult {
  std::vector<double> out;  // [batch, heads, queries, value_dim], dense
  std::vector<double> lse;  // [batch, heads, queries], dense; always computed
};

// Reads q, k and v of `tensors` (out and lse are ignored), each f32, f16 or bf16, and applies
// `options` as documented in lanewise/attention.h. Keys that a row may not see are left out by
// selection: their k and v are never read. The caller guarantees that shapes fit.
AttentionResult Attention(const AttentionTensors& tensors, const AttentionOptions& options);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_ATTENTION_H_
