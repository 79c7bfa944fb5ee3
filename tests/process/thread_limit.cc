// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The definition of pthread_create in a program comes before those of its libraries.

#include "tests/process/thread_limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <limits>
#include <memory>

namespace {

std::atomic<int> allowed{std::numeric_limits<int>::max()};
std::atomic<int> refused{0};

// A thread that counts while it lives.
struct Counted {
  void* (*start)(void*);
  void* argument;
};

void* RunCounted(void* data) {
  const std::unique_ptr<Counted> counted(static_cast<Counted*>(data));
  void* const result = counted->start(counted->argument);
  ++allowed;
  return result;
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (allowed.fetch_sub(1) <= 0) {
    ++allowed;
    ++refused;
    return EAGAIN;
  }
  auto counted = std::make_unique<Counted>(Counted{start, argument});
  const int error = next(thread, attributes, RunCounted, counted.get());
  if (error == 0) {
    // The thread's now.
    static_cast<void>(counted.release());
  } else {
    ++allowed;
  }
  return error;
}

namespace lanewise::testing {

void LimitThreads(int more) {
  allowed = more;
  refused = 0;
}

int RefusedThreads() { return refused; }

}  // namespace lanewise::testing
