// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The arrays of a case: its patterns, filled in.

#ifndef LANEWISE_TESTS_FUZZ_FUZZ_DATA_H_
#define LANEWISE_TESTS_FUZZ_FUZZ_DATA_H_

#include <cstdint>
#include <vector>

#include "lanewise/tensor.h"
#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {

// Row-major logical values; empty where the case has no such array. A value depends on its
// coordinates and the seed only, so that what remains of a case made smaller is what was there.
struct FuzzData {
  Sizes q_sizes = {};
  Sizes k_sizes = {};
  Sizes v_sizes = {};
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;

  Sizes mask_sizes = {};
  Sizes bias_sizes = {};
  std::vector<uint8_t> mask;
  std::vector<float> bias;
  std::vector<float> slopes;
  std::vector<float> sinks;
  std::vector<float> w;
  std::vector<float> wq;
  std::vector<float> wk;
  std::vector<float> w_out;
  std::vector<int64_t> q_offsets;
  std::vector<int64_t> k_offsets;
};

// Everything but the poison.
FuzzData MakeData(const FuzzCase& c);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_FUZZ_DATA_H_
