// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The useful work of a call, which its time is divided into: arithmetic on the pairs that the
// options allow, and the K and V that a decode step has to read.

#ifndef LANEWISE_BENCH_WORK_H_
#define LANEWISE_BENCH_WORK_H_

#include <cstdint>

#include "lanewise/attention.h"

namespace lanewise::bench {

// Pairs (query, key) of one head of one batch item such that the query may see the key. O(queries).
int64_t AllowedPairs(const AttentionShape& shape, const AttentionOptions& options);

// 2 * pairs * (dim + value_dim) over all heads: a multiply and an add for each element of q·k and
// of the weighted sum. exp and the rest of the softmax count nothing.
double Flops(const AttentionShape& shape, const AttentionOptions& options);

// Whether a call is one query a head, so that reading K and V is what bounds it.
bool IsDecode(const AttentionShape& shape);

// Bytes of the K and V rows that a decode step sees, each counted once.
double DecodeBytes(const AttentionShape& shape, const AttentionOptions& options);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_WORK_H_
