// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The tolerances of the public cases. Bounds derived from the data of a case are
// reference::Tolerance.

#ifndef LANEWISE_TESTS_SUPPORT_TOLERANCE_H_
#define LANEWISE_TESTS_SUPPORT_TOLERANCE_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lanewise/tensor.h"

namespace lanewise::testing {

// "T" for results of `type` where the largest |v| is `largest_value`.
inline double PublicTolerance(DataType type, double largest_value) {
  const double m = std::max(1.0, largest_value);
  switch (type) {
    case DataType::kF32:
      return 1e-5 * m;
    case DataType::kF16:
      return 0x1p-9 * m;
    case DataType::kBF16:
      return 0x1p-6 * m;
    case DataType::kBool:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// "T32" for the values `v`; non-finite ones do not count.
inline double T32(const std::vector<float>& v) {
  double largest = 0.0;
  for (const float value : v) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
  }
  return PublicTolerance(DataType::kF32, largest);
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_TOLERANCE_H_
