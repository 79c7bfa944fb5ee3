// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a library might change behind the back of its process.

#ifndef LANEWISE_TESTS_SUPPORT_PROCESS_STATE_H_
#define LANEWISE_TESTS_SUPPORT_PROCESS_STATE_H_

#include <string>

namespace lanewise::testing {

// As text, to be compared: floating-point modes, affinity, scheduling, signal handlers, signal mask
// and alternate stack, locale, environment, working directory, file creation mask, limits, open
// files. Of the process, and of the calling thread where threads have their own.
std::string ProcessState();

// The same of a thread that starts now.
std::string ProcessStateOfANewThread();

// Threads of the process.
int ThreadCount();

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_PROCESS_STATE_H_
