// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What Runtime::threads may be.

#ifndef LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_
#define LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_

#include "lanewise/status.h"

namespace lanewise::parallel {

// A machine with more threads than this does not exist; a count beyond it is a mistake.
inline constexpr int kMaxThreads = 4096;

Status CheckThreads(int threads);

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_
