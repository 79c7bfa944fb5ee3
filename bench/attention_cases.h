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

struct AttentionCase {
  std::string name;
  AttentionShape shape;
  AttentionOptions options;
  std::vector<int64_t> kv_len = {};  // [batch], if options.kv_len
};

// Those of the table, in its order.
std::vector<AttentionCase> AttentionCases();

// A case that is given by its sizes, types and options, with a name that tells them:
// "b1_h32_kv8_q1_k8192_d128_v128_causal" is f32, "b1_h8_kv8_q9_k9_d64_v64_f16" all f16, and
// "b1_h32_kv8_q1_k8192_d128_v128_f32_f16_f16_f32" names the types of q, k, v and out; a score
// function follows as "_gaussian1.5" or "_additive64_wq". `kv_len` as in AttentionCase.
AttentionCase CustomCase(const AttentionShape& shape, const AttentionOptions& options,
                         std::vector<int64_t> kv_len = {});

Case ToCase(AttentionCase benchmark);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_ATTENTION_CASES_H_
