// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention cases of the table by name.

#ifndef LANEWISE_TESTS_BENCH_ATTENTION_NAMED_H_
#define LANEWISE_TESTS_BENCH_ATTENTION_NAMED_H_

#include <gtest/gtest.h>

#include <string>

#include "bench/attention_cases.h"

namespace lanewise::bench {

inline AttentionCase AttentionNamed(const std::string& name) {
  for (AttentionCase& known : AttentionCases()) {
    if (known.name == name) return known;
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

}  // namespace lanewise::bench

#endif  // LANEWISE_TESTS_BENCH_ATTENTION_NAMED_H_
