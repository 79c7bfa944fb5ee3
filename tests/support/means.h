// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases in which each row is the mean of the values that it sees, so that results can be told from
// who sees what.

#ifndef LANEWISE_TESTS_SUPPORT_MEANS_H_
#define LANEWISE_TESTS_SUPPORT_MEANS_H_

#include <cstdint>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {

// Queries of zero, so that all scores are equal. dim and value_dim are 1.
inline AttentionCase MeansCase(int64_t queries, const std::vector<float>& v) {
  AttentionCase c = PlainCase(queries, static_cast<int64_t>(v.size()));
  c.q = Repeat(0, queries);
  c.v = v;
  return c;
}

inline void ExpectMeans(const AttentionCase& c, const std::vector<double>& means,
                        const std::vector<Path>& paths = EveryPath()) {
  ExpectKnownResult(c, {.out = means, .out_tolerance = T32(c.v)}, paths);
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_MEANS_H_
