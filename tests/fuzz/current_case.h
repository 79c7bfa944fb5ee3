// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Last words: if the process crashes, the case that it was at is printed.

#ifndef LANEWISE_TESTS_FUZZ_CURRENT_CASE_H_
#define LANEWISE_TESTS_FUZZ_CURRENT_CASE_H_

#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {

// While one of these lives, a signal that ends the process first writes the case to standard
// error, as ToText gives it. One at a time.
class CurrentCase {
 public:
  explicit CurrentCase(const FuzzCase& c);
  ~CurrentCase();
  CurrentCase(const CurrentCase&) = delete;
  CurrentCase& operator=(const CurrentCase&) = delete;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_CURRENT_CASE_H_
