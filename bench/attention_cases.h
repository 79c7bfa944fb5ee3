// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention as a case.

#ifndef LANEWISE_BENCH_ATTENTION_CASES_H_
#define LANEWISE_BENCH_ATTENTION_CASES_H_

#include <cstdint>  // int64_t
#include <string>   // names
#include <vector>   // lists of cases

#include "bench/case.h"
#include "lanewise/attention.h"

namespace lanewise::bench {

// How long batch items are, as AttentionTensors has it.
struct AttentionLengths {
  std::vector<int64_t> kv_len = {};     // [batch], if options.kv_len
  std::vector<int64_t> q_offsets = {};  // [batch + 1], if options.ragged, and so the next
  std::vector<int64_t> k_offsets = {};
};

struct AttentionCase {
  std::string name;
  AttentionShape shape;
  AttentionOptions options;
  AttentionLengths lengths = {};
};

// Those of the table, in its order.
std::vector<AttentionCase> AttentionCases();

// A case that is given by its sizes, types and options, with a name that tells them:
// "b1_h32_kv8_q1_k8192_d128_v128_causal" is f32, "b1_h8_kv8_q9_k9_d64_v64_f16" all f16, and
// "b1_h32_kv8_q1_k8192_d128_v128_f32_f16_f16_f32" names the types of q, k, v and out; a score
// function follows as "_gaussian1.5" or "_additive64_wq". Of lengths that differ it tells the
// smallest and the largest: "_kv_len12to8000", "_ragged_q1to70_k5to900".
AttentionCase CustomCase(const AttentionShape& shape, const AttentionOptions& options,
                         AttentionLengths lengths = {});

Case ToCase(AttentionCase benchmark);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_ATTENTION_CASES_H_
