// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the tests about processes compute: enough work for several threads.

#ifndef LANEWISE_TESTS_PROCESS_CASES_H_
#define LANEWISE_TESTS_PROCESS_CASES_H_

#include <vector>

#include "tests/support/attention_case.h"

namespace lanewise::testing {

inline AttentionCase PrefillCase() {
  AttentionCase c;
  c.shape = {.heads = 4, .kv_heads = 2, .queries = 200, .keys = 200, .dim = 24, .value_dim = 24};
  c.options.causal = true;
  return c;
}

// Fewer rows than lanes, and keys for several threads.
inline AttentionCase DecodeCase() {
  AttentionCase c;
  c.shape = {.heads = 8, .kv_heads = 2, .queries = 1, .keys = 4000, .dim = 64, .value_dim = 64};
  return c;
}

inline std::vector<AttentionCase> ProcessCases() { return {PrefillCase(), DecodeCase()}; }

// The default plan on so many threads; 0: in the caller's arena.
inline Path OnThreads(int threads) {
  Path path;
  path.runtime.threads = threads;
  return path;
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_PROCESS_CASES_H_
