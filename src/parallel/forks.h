// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whether the task scheduler may be used in this process.

#ifndef LANEWISE_SRC_PARALLEL_FORKS_H_
#define LANEWISE_SRC_PARALLEL_FORKS_H_

namespace lanewise::parallel {

// Sees to it that InForkedChild() is right in children made from now on. False if it cannot.
bool WatchForks() noexcept;

// The scheduler's threads do not exist in a child made by fork(), but its state says they do, and
// a lock that one of them held at that moment stays locked. True in children of a process that
// called WatchForks() before, and in theirs.
bool InForkedChild() noexcept;

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_FORKS_H_
