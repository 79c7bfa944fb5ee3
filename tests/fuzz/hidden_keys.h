// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Keys and queries that hold NaN or infinities, and the rows that may not notice.

#ifndef LANEWISE_TESTS_FUZZ_HIDDEN_KEYS_H_
#define LANEWISE_TESTS_FUZZ_HIDDEN_KEYS_H_

#include <cstdint>
#include <vector>

#include "lanewise/attention.h"
#include "tests/fuzz/fuzz_case.h"
#include "tests/fuzz/fuzz_data.h"

namespace lanewise::testing {

// A row of q and the keys that it sees by the reference.
struct SeeingRow {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t query = 0;
  int64_t kv_head = 0;
  std::vector<int64_t> keys = {};
};

// All rows of q, in row-major order.
std::vector<SeeingRow> ListSeeingRows(const AttentionTensors& inputs,
                                      const AttentionOptions& options);

// Writes the poison of the case into q, k and v. `clean` are the arrays without it, `rows` their
// rows.
void Poison(const FuzzCase& c, const AttentionTensors& clean, const std::vector<SeeingRow>& rows,
            FuzzData& data);

// For each of `rows`: whether its query, or k or v of a key that it sees, differs.
std::vector<bool> SeesDifference(const AttentionTensors& before, const AttentionTensors& after,
                                 const std::vector<SeeingRow>& rows);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_HIDDEN_KEYS_H_
