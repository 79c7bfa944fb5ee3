// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Strided reading and writing of guarded memory.

#include "tests/support/array.h"

#include <algorithm>

namespace lanewise::testing {
namespace {

// Elements from the first to the last one of the view.
size_t Span(const Sizes& sizes, const Sizes& strides) {
  if (Count(sizes) == 0) return 0;
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return static_cast<size_t>(last) + 1;
}

}  // namespace

Array::Array(const Sizes& sizes, StrideRule strides, const Placement& placement)
    : sizes_(sizes),
      strides_(strides(sizes)),
      lead_(placement.lead),
      memory_(lead_ + Span(sizes_, strides_), placement.guard) {
  std::fill_n(memory_.data(), memory_.size(), std::bit_cast<float>(kUnwrittenBits));
}

void Array::Set(const std::vector<float>& values) {
  ForEach([&](size_t offset, size_t index) { memory_[offset] = values.at(index); });
}

std::vector<float> Array::Values() const {
  std::vector<float> values(static_cast<size_t>(Count(sizes_)));
  ForEach([&](size_t offset, size_t index) { values[index] = memory_[offset]; });
  return values;
}

bool Array::IsPaddingIntact() const {
  std::vector<bool> is_element(memory_.size(), false);
  ForEach([&](size_t offset, size_t /*index*/) { is_element[offset] = true; });
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (!is_element[i] && !IsUnwritten(memory_[i])) return false;
  }
  return true;
}

}  // namespace lanewise::testing
