// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Picks the function of one SIMD target out of a table made by HWY_EXPORT, without touching
// Highway's process-wide choice: two plans of one process may use different targets.

#ifndef LANEWISE_SRC_KERNELS_DISPATCH_H_
#define LANEWISE_SRC_KERNELS_DISPATCH_H_

#include <cstddef>
#include <cstdint>

#include "hwy/targets.h"

namespace lanewise::kernels {

// `table` is HWY_DISPATCH_TABLE(Function); `target` one HWY_* bit that the machine supports.
template <typename Function, size_t kSize>
Function FunctionForTarget(Function const (&table)[kSize], int64_t target) {
  if constexpr (kSize == 1) {  // built for a single target
    return table[0];
  } else {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return table[chosen.GetIndex()];
  }
}

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_DISPATCH_H_
