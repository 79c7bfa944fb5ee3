// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The properties that every case is checked for.

#ifndef LANEWISE_TESTS_FUZZ_CHECK_H_
#define LANEWISE_TESTS_FUZZ_CHECK_H_

#include <string>

#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {

// Empty if the library computes `c` as it should, else what is wrong:
//
//   - options that exclude each other are refused, and nothing else is
//   - out, lse and weights are within the reference's bounds, all of them written, nothing else
//   - keys that hold NaN or infinities change no bit of the rows that do not see them
//   - another tile, group count, grain and thread count give the same bits
//   - some rows without the others give the same bits
//   - keys in a ring or in pages give the bits of the same keys in a row
std::string Fault(const FuzzCase& c);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_CHECK_H_
