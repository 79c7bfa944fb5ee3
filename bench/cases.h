// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The named cases that `lanewise bench`, the Google Benchmark program and bench/README.md share.

#ifndef LANEWISE_BENCH_CASES_H_
#define LANEWISE_BENCH_CASES_H_

#include <string>  // names
#include <vector>  // lists of cases

#include "bench/case.h"
#include "lanewise/status.h"

namespace lanewise::bench {

// Every case, in the order of the tables.
const std::vector<Case>& AllCases();

// The cases called `names`, in that order; all of them when `names` is empty. kInvalidArgument for
// an unknown name; the message lists the known ones.
Result<std::vector<Case>> FindCases(const std::vector<std::string>& names);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_CASES_H_
