// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention of one query against numbers calculated by hand.

#include <gtest/gtest.h>

#include "tests/support/attention_case.h"
#include "tests/support/golden.h"
#include "tests/support/tolerance.h"

namespace lanewise::testing {
namespace {

TEST(AttentionGolden, OutputAndLogSumExp) {
  for (const GoldenCase& golden : GoldenCases()) {
    SCOPED_TRACE(golden.name);
    ExpectKnownResult(golden.WithValues(golden.v),
                      {.out = golden.out,
                       .out_tolerance = T32(golden.v),
                       .lse = {golden.lse},
                       .lse_tolerance = 1e-6 * golden.lse},
                      EveryPath());
  }
}

TEST(AttentionGolden, Weights) {
  for (const GoldenCase& golden : GoldenCases()) {
    SCOPED_TRACE(golden.name);
    ExpectKnownResult(golden.WithValues(IdentityValues()),
                      {.out = golden.weights, .out_tolerance = 1e-6}, EveryPath());
  }
}

}  // namespace
}  // namespace lanewise::testing
