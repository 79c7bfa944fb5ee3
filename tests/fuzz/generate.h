// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Random attention problems.

#ifndef LANEWISE_TESTS_FUZZ_GENERATE_H_
#define LANEWISE_TESTS_FUZZ_GENERATE_H_

#include <cstdint>

#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {

// A case drawn from all that attention can do. The same `seed` gives the same case wherever the
// same targets and tiles are available.
FuzzCase Generate(uint32_t seed);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_GENERATE_H_
