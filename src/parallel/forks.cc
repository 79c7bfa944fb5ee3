// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/forks.h"

#include <pthread.h>

#include <atomic>

namespace lanewise::parallel {
namespace {

std::atomic<bool> in_forked_child{false};

}  // namespace

bool WatchForks() noexcept {
  static const bool watching =
      pthread_atfork(nullptr, nullptr, [] { in_forked_child.store(true); }) == 0;
  return watching;
}

bool InForkedChild() noexcept { return in_forked_child.load(); }

}  // namespace lanewise::parallel
