// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The useful work of a call, which its time is divided into: arithmetic on the pairs that the
// options allow, and the K and V that a decode step has to read.

#ifndef LANEWISE_BENCH_WORK_H_
#define LANEWISE_BENCH_WORK_H_

#include <cstdint>

#include "bench/attention_cases.h"
#include "lanewise/attention.h"

namespace lanewise::bench {

// Pairs (query, key) of one head, over all batch items, such that causal, window and kv_len let the
// query see the key; of ragged batches, over the sequences, each with its own lengths. Masks and
// biases hide nothing here: those of benchmarks allow every pair. O(batch * queries).
int64_t AllowedPairs(const AttentionCase& benchmark);

// 2 * pairs * (dim + value_dim) over all heads: a multiply and an add for each element of q·k and
// of the weighted sum, where dim is the length of queries and keys as they are scored. exp, tanh,
// the rest of the softmax, edits of the scores, and projections of rows count nothing.
double Flops(const AttentionCase& benchmark);

// Numbers whose tanh the scores of a call take: pairs * hidden over all heads for additive scores,
// else 0.
double Tanhs(const AttentionCase& benchmark);

// Whether a call is one query a head, so that reading K and V is what bounds it. Sequences of a
// ragged batch may have none, but not all of them.
bool IsDecode(const AttentionCase& benchmark);

// Bytes of the K and V rows that a decode step sees, each counted once.
double DecodeBytes(const AttentionCase& benchmark);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_WORK_H_
