// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A call on a path.

#ifndef LANEWISE_TESTS_SUPPORT_RUN_ON_PATH_H_
#define LANEWISE_TESTS_SUPPORT_RUN_ON_PATH_H_

#include "lanewise/attention.h"
#include "tests/support/paths.h"

namespace lanewise::testing {

// Plans and runs on `path` with its own workspace, full of NaN at first; the plan's explanation.
//
// What a path asks for beyond the call goes to, or comes from, arrays of its own: log-sum-exp,
// weights, a mask that hides nothing, every query head twice over the same kv heads. The last gives
// the caller the rows of the first of each two heads. That the others differ from them in a bit,
// or that an added output was not written, is a test failure.
Result<PlanExplanation> RunOnPath(const AttentionShape& shape, const AttentionOptions& options,
                                  const Path& path, const AttentionTensors& tensors);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_RUN_ON_PATH_H_
