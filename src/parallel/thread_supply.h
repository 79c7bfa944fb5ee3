// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How many threads the system lets this process start.

#ifndef LANEWISE_SRC_PARALLEL_THREAD_SUPPLY_H_
#define LANEWISE_SRC_PARALLEL_THREAD_SUPPLY_H_

namespace lanewise::parallel {

// At most `wanted` threads, and as many of them as could be started at once when it was first
// tried. The first call for a number starts that many threads, which do nothing, and ends them;
// later calls cost a load. A process that could not start all of them is not tried again: limits of
// containers and users stay.
int StartableThreads(int wanted) noexcept;

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_THREAD_SUPPLY_H_
