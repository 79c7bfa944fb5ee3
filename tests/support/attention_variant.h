// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The same attention put in other words: a mask that hides nothing, heads that are there twice.

#ifndef LANEWISE_TESTS_SUPPORT_ATTENTION_VARIANT_H_
#define LANEWISE_TESTS_SUPPORT_ATTENTION_VARIANT_H_

#include "tests/support/attention_case.h"
#include "tests/support/paths.h"

namespace lanewise::testing {

// Computes `description` as the `mask` and `shared_heads` of a path say; the rows that
// `description` has. That heads which are there twice differ is a test failure.
AttentionRun RunVariant(const AttentionCase& description, const Path& path);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_ATTENTION_VARIANT_H_
