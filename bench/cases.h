// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The named cases that `lanewise bench`, the Google Benchmark program and bench/README.md share.

#ifndef LANEWISE_BENCH_CASES_H_
#define LANEWISE_BENCH_CASES_H_

#include <cstdint>  // int64_t
#include <string>   // names
#include <vector>   // lists of cases

#include "lanewise/attention.h"
#include "lanewise/status.h"

namespace lanewise::bench {

struct Case {
  std::string name;
  AttentionShape shape;
  AttentionOptions options;
  std::vector<int64_t> kv_len = {};  // [batch], if options.kv_len
};

// Every case, in the order of the table.
const std::vector<Case>& AllCases();

// The cases called `names`, in that order; all of them when `names` is empty. kInvalidArgument for
// an unknown name; the message lists the known ones.
Result<std::vector<Case>> FindCases(const std::vector<std::string>& names);

// A case that is given by its sizes, types and options, with a name that tells them:
// "b1_h32_kv8_q1_k8192_d128_v128_causal" is f32, "b1_h8_kv8_q9_k9_d64_v64_f16" all f16, and
// "b1_h32_kv8_q1_k8192_d128_v128_f32_f16_f16_f32" names the types of q, k, v and out. `kv_len` as
// in Case.
Case CustomCase(const AttentionShape& shape, const AttentionOptions& options,
                std::vector<int64_t> kv_len = {});

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_CASES_H_
