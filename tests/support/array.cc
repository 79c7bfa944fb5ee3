// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Strided reading and writing of guarded memory.

#include "tests/support/array.h"

#include <cstring>

#include "tests/support/half.h"

namespace lanewise::testing {
namespace {

// Elements from the first to the last one of the view.
size_t Span(const Sizes& sizes, const Sizes& strides) {
  if (Count(sizes) == 0) return 0;
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return static_cast<size_t>(last) + 1;
}

template <typename Element>
Element Load(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof(element));
  return element;
}

template <typename Element>
void Store(Element element, std::byte* to) {
  std::memcpy(to, &element, sizeof(element));
}

bool IsHalf(DataType type) { return type == DataType::kF16 || type == DataType::kBF16; }

// One element, widened or rounded.
void ReadElement(DataType type, const std::byte* from, float& value) {
  if (!IsHalf(type)) {
    value = Load<float>(from);
  } else if (const uint16_t bits = Load<uint16_t>(from); bits == kUnwrittenHalf) {
    value = std::bit_cast<float>(kUnwrittenBits);
  } else {
    value = static_cast<float>(FromHalf(type, bits));
  }
}
void ReadElement(DataType /*type*/, const std::byte* from, uint8_t& value) {
  value = Load<uint8_t>(from);
}

void WriteElement(DataType type, float value, std::byte* to) {
  if (!IsHalf(type)) {
    Store(value, to);
  } else {
    Store(IsUnwritten(value) ? kUnwrittenHalf : ToHalf(type, double{value}), to);
  }
}
void WriteElement(DataType /*type*/, uint8_t value, std::byte* to) { Store(value, to); }

template <typename T>
T UnwrittenValue() {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(kUnwrittenBits);
  } else {
    return kUnwrittenByte;
  }
}

}  // namespace

template <typename T>
BasicArray<T>::BasicArray(const Sizes& sizes, StrideRule strides, const Placement& placement,
                          DataType type)
    : sizes_(sizes),
      strides_(strides(sizes)),
      type_(type),
      lead_(placement.lead),
      memory_(Offset(lead_ + Span(sizes_, strides_)), placement.guard) {
  for (size_t i = 0; i < ElementCount(); ++i) Write(i, UnwrittenValue<T>());
}

template <typename T>
T BasicArray<T>::Read(size_t element) const {
  T value;
  ReadElement(type_, memory_.data() + Offset(element), value);
  return value;
}

template <typename T>
void BasicArray<T>::Write(size_t element, T value) {
  WriteElement(type_, value, memory_.data() + Offset(element));
}

template <typename T>
void BasicArray<T>::Set(const std::vector<T>& values) {
  ForEach([&](size_t element, size_t index) { Write(element, values.at(index)); });
}

template <typename T>
std::vector<T> BasicArray<T>::Values() const {
  std::vector<T> values(static_cast<size_t>(Count(sizes_)));
  ForEach([&](size_t element, size_t index) { values[index] = Read(element); });
  return values;
}

template <typename T>
bool BasicArray<T>::IsPaddingIntact() const {
  std::vector<bool> is_element(ElementCount(), false);
  ForEach([&](size_t element, size_t /*index*/) { is_element[element] = true; });
  for (size_t i = 0; i < is_element.size(); ++i) {
    if (!is_element[i] && !IsUnwritten(Read(i))) return false;
  }
  return true;
}

template class BasicArray<float>;
template class BasicArray<uint8_t>;

}  // namespace lanewise::testing
