// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Aligned arrays and SplitMix64 (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195): a
// generator of one line, so that a hundred megabytes are filled in a fraction of a second.

#include "tune/random_floats.h"

#include <cstdlib>
#include <limits>
#include <string>

namespace lanewise::tune {
namespace {

constexpr size_t kAlignment = 128;

uint64_t NextRandom(uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15U;
  uint64_t bits = state;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31);
}

}  // namespace

void FloatArray::Free::operator()(float* data) const noexcept { std::free(data); }

Result<FloatArray> FloatArray::Allocate(int64_t count) {
  if (count < 0) {
    return Status::InvalidArgument("count: got " + std::to_string(count) + ", expected 0 or more");
  }
  constexpr size_t kMaxCount = (std::numeric_limits<size_t>::max() - kAlignment) / sizeof(float);
  const auto size = static_cast<size_t>(count);
  if (size > kMaxCount) return Status::OutOfMemory();

  const size_t size_bytes = (size * sizeof(float) / kAlignment + 1) * kAlignment;
  FloatArray array;
  array.data_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, size_bytes)));
  if (array.data_ == nullptr) return Status::OutOfMemory();
  array.size_ = size;
  return array;
}

Result<FloatArray> RandomFloats(int64_t count, uint64_t seed) {
  Result<FloatArray> array = FloatArray::Allocate(count);
  if (!array.ok()) return array;
  uint64_t state = seed;
  for (size_t i = 0; i < array->size(); ++i) {
    // The top 24 bits: as many as a float holds exactly.
    const auto top = static_cast<int32_t>(NextRandom(state) >> 40);
    array->data()[i] = static_cast<float>(top) * 0x1p-23F - 1.0F;
  }
  return array;
}

}  // namespace lanewise::tune
