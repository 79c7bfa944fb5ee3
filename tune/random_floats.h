// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The data that measurements run on: private arrays of random numbers, the same in every process.

#ifndef LANEWISE_TUNE_RANDOM_FLOATS_H_
#define LANEWISE_TUNE_RANDOM_FLOATS_H_

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t
#include <memory>   // unique_ptr

#include "lanewise/status.h"

namespace lanewise::tune {

// An array that owns its memory, 128-byte aligned so that no vector load straddles a cache line.
class FloatArray {
 public:
  FloatArray() noexcept = default;

  // Uninitialized. Errors: kInvalidArgument for a negative count, kOutOfMemory.
  static Result<FloatArray> Allocate(int64_t count);

  float* data() const noexcept { return data_.get(); }
  size_t size() const noexcept { return size_; }
  size_t size_bytes() const noexcept { return size_ * sizeof(float); }

 private:
  struct Free {
    void operator()(float* data) const noexcept;
  };
  std::unique_ptr<float[], Free> data_;
  size_t size_ = 0;
};

// `count` numbers, uniform in [-1, 1), determined by `seed`.
Result<FloatArray> RandomFloats(int64_t count, uint64_t seed);

}  // namespace lanewise::tune

#endif  // LANEWISE_TUNE_RANDOM_FLOATS_H_
