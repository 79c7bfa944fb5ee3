// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Calls from several threads at once.

#ifndef LANEWISE_TESTS_SUPPORT_CONCURRENCY_H_
#define LANEWISE_TESTS_SUPPORT_CONCURRENCY_H_

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.h"

namespace lanewise::testing {

// Thread counts of a plan. The thread sanitizer cannot see how a oneTBB library that is not built
// with it hands work to its threads, and would report every task as a race. What plans share, and
// what callers share, does not depend on the count.
inline std::vector<int> PlanThreads() {
  return kThreadSanitizer ? std::vector<int>{1} : std::vector<int>{1, 2, 0};
}

// Calls call(i) `rounds` times on a thread for each i below `callers`, all at once; the number of
// calls that returned false.
template <typename Call>
int FailuresAtOnce(size_t callers, int rounds, const Call& call) {
  std::atomic<bool> go = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] {
      while (!go) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round) {
        if (!call(i)) ++failures;
      }
    });
  }
  go = true;
  for (std::thread& thread : threads) thread.join();
  return failures;
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_CONCURRENCY_H_
