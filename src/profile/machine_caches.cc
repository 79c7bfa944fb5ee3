// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/profile/machine_caches.h"

#include "src/machine/caches.h"

namespace lanewise::profile {

const CacheBytes& MachineCaches() {
  static const CacheBytes bytes = [] {
    const machine::Caches caches = machine::DetectCaches();
    return CacheBytes{caches.l1d.bytes, caches.l2.bytes};
  }();
  return bytes;
}

}  // namespace lanewise::profile
