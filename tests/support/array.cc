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

void FillUnwritten(GuardedArray<float>& memory) {
  std::fill_n(memory.data(), memory.size(), std::bit_cast<float>(kUnwrittenBits));
}
void FillUnwritten(GuardedArray<uint8_t>& memory) {
  std::fill_n(memory.data(), memory.size(), kUnwrittenByte);
}

}  // namespace

template <typename T>
BasicArray<T>::BasicArray(const Sizes& sizes, StrideRule strides, const Placement& placement)
    : sizes_(sizes),
      strides_(strides(sizes)),
      lead_(placement.lead),
      memory_(lead_ + Span(sizes_, strides_), placement.guard) {
  FillUnwritten(memory_);
}

template <typename T>
void BasicArray<T>::Set(const std::vector<T>& values) {
  ForEach([&](size_t offset, size_t index) { memory_[offset] = values.at(index); });
}

template <typename T>
std::vector<T> BasicArray<T>::Values() const {
  std::vector<T> values(static_cast<size_t>(Count(sizes_)));
  ForEach([&](size_t offset, size_t index) { values[index] = memory_[offset]; });
  return values;
}

template <typename T>
bool BasicArray<T>::IsPaddingIntact() const {
  std::vector<bool> is_element(memory_.size(), false);
  ForEach([&](size_t offset, size_t /*index*/) { is_element[offset] = true; });
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (!is_element[i] && !IsUnwritten(memory_[i])) return false;
  }
  return true;
}

template class BasicArray<float>;
template class BasicArray<uint8_t>;

}  // namespace lanewise::testing
