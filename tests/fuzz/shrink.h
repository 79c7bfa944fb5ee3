// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// From a random case that fails to one that a person can look at.

#ifndef LANEWISE_TESTS_FUZZ_SHRINK_H_
#define LANEWISE_TESTS_FUZZ_SHRINK_H_

#include <cstdint>
#include <functional>

#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {

// A case as simple as greedy search finds for which `fails` still holds: options that are not
// needed are gone, sizes and numbers are small. Asks `fails` at most `most_tries` times.
FuzzCase Shrink(const FuzzCase& failing, const std::function<bool(const FuzzCase&)>& fails,
                int64_t most_tries = 3000);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_SHRINK_H_
