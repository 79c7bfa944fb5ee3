// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A limit on threads that binds every user, root included: this program's own pthread_create.

#ifndef LANEWISE_TESTS_PROCESS_THREAD_LIMIT_H_
#define LANEWISE_TESTS_PROCESS_THREAD_LIMIT_H_

namespace lanewise::testing {

// From now on, starting a thread fails with EAGAIN, as the system's own limits make it, while
// `more` threads live that were started after this call.
void LimitThreads(int more);

// How often starting a thread has failed since.
int RefusedThreads();

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_PROCESS_THREAD_LIMIT_H_
