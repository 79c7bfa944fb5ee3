// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/check_threads.h"

#include <fmt/format.h>

namespace lanewise::parallel {

Status CheckThreads(int threads) {
  if (threads >= 0 && threads <= kMaxThreads) return {};
  return Status::InvalidArgument(
      fmt::format("threads: found {}, expected 0 to {}", threads, kMaxThreads));
}

}  // namespace lanewise::parallel
