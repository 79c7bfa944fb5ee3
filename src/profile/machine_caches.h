// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The facts that defaults depend on.

#ifndef LANEWISE_SRC_PROFILE_MACHINE_CACHES_H_
#define LANEWISE_SRC_PROFILE_MACHINE_CACHES_H_

#include <cstdint>

namespace lanewise::profile {

// The cache bytes that the model reads.
struct CacheBytes {
  int64_t l1d = 0;
  int64_t l2 = 0;
};

// Those of this machine, read once per process. Thread-safe.
const CacheBytes& MachineCaches();

}  // namespace lanewise::profile

#endif  // LANEWISE_SRC_PROFILE_MACHINE_CACHES_H_
