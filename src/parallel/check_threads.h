// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What Runtime::threads may be.

#ifndef LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_
#define LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_

#include "lanewise/status.h"

namespace lanewise::parallel {

Status CheckThreads(int threads);

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_CHECK_THREADS_H_
