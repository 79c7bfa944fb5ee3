// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/thread_supply.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

namespace lanewise::parallel {
namespace {

// What a thread of the scheduler takes.
constexpr size_t kStackBytes = size_t{4} << 20;

void* WaitAtGate(void* gate) {
  const std::lock_guard<std::mutex> passed(*static_cast<std::mutex*>(gate));
  return nullptr;
}

// Starts up to `wanted` threads that live at the same time, then ends them. How many there were.
int TryToStart(int wanted) noexcept {
  const std::unique_ptr<pthread_t[]> threads(new (std::nothrow)
                                                 pthread_t[static_cast<size_t>(wanted)]);
  pthread_attr_t attributes;
  if (threads == nullptr || pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // They inherit the mask: no signal handler of the application runs on them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::mutex gate;
  int started = 0;
  {
    const std::lock_guard<std::mutex> closed(gate);
    while (started < wanted && pthread_create(&threads[static_cast<size_t>(started)], &attributes,
                                              WaitAtGate, &gate) == 0) {
      ++started;
    }
  }
  for (int i = 0; i < started; ++i) pthread_join(threads[static_cast<size_t>(i)], nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

std::atomic<int> available{0};
std::atomic<bool> exhausted{false};

}  // namespace

int StartableThreads(int wanted) noexcept {
  if (available.load() < wanted && !exhausted.load()) {
    static std::mutex trying;
    const std::lock_guard<std::mutex> lock(trying);
    const int missing = wanted - available.load();
    if (missing > 0 && !exhausted.load()) {
      const int started = TryToStart(missing);
      available += started;
      exhausted = started < missing;
    }
  }
  return std::min(wanted, available.load());
}

}  // namespace lanewise::parallel
