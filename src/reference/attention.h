// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention by its definition, in double precision and plain loops: the specification that tests
// and `lanewise verify` compare against.

#ifndef LANEWISE_SRC_REFERENCE_ATTENTION_H_
#define LANEWISE_SRC_REFERENCE_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "lanewise/attention.h"

namespace lanewise::reference {

struct AttentionResult {
  std::vector<double> out;           // [batch, heads, queries, value_dim], dense
  std::vector<double> lse;           // [batch, heads, queries], dense; always computed
  std::vector<double> weights = {};  // [batch, heads, queries, keys], dense; if options.weights
};

// Reads the inputs of `tensors` (outputs are ignored), q, k and v each f32, f16 or bf16, and
// applies `options` as documented in lanewise/attention.h. Keys that a row may not see are left out
// by selection: their k and v are never read. The caller guarantees that options and arrays fit. Of
// a ragged batch, `batch` is 1, as in the sizes of its arrays.
AttentionResult Attention(const AttentionTensors& tensors, const AttentionOptions& options);

// What lanewise::MergeAttention documents, for at least one part; all have the same sizes.
AttentionResult MergeAttention(const std::vector<AttentionPart>& parts);

// A row of an array, by its indices. Rows of q and out are queries, those of k and v keys.
struct RowIndex {
  int64_t batch;
  int64_t head;
  int64_t row;
};

// A key that a row sees, and how its score comes about.
struct SeenKey {
  int64_t key = 0;    // index in k and v, and in the last axis of mask, bias and weights
  double raw = 0;     // what the score function says (score.h)
  double capped = 0;  // raw after softcap
  double bias = 0;
  double alibi = 0;  // slope * |position - j|
  double score = 0;  // capped + bias - alibi
};

// The keys that query row `at` sees, in order.
std::vector<SeenKey> SeenKeys(const AttentionTensors& tensors, const AttentionOptions& options,
                              const RowIndex& at);

// The logit that enlarges the denominators of a head; -inf if there is none.
double SinkOf(const AttentionTensors& tensors, const AttentionOptions& options, int64_t head);

// The factor of the score function: `scale` or its default, for Gaussian scores 1 / bandwidth².
double ScaleOf(const AttentionOptions& options, int64_t dim);

// The kv head that query head `head` reads.
int64_t KvHeadOf(const AttentionTensors& tensors, int64_t head);

// `row` becomes row `at` of `tensor`, widened.
void ReadRow(const ConstTensor& tensor, const RowIndex& at, std::vector<double>& row);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_ATTENTION_H_
