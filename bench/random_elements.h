// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of random numbers of every element type.

#ifndef LANEWISE_BENCH_RANDOM_ELEMENTS_H_
#define LANEWISE_BENCH_RANDOM_ELEMENTS_H_

#include <cstdint>

#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "tune/random_floats.h"
#include "tune/yardsticks.h"

namespace lanewise::bench {

// `count` numbers of `type`, uniform in [-1, 1) but for the rounding. An odd number of 16-bit ones
// is followed by a zero.
Result<tune::FloatArray> RandomElements(DataType type, int64_t count, uint64_t seed);

// The same as a dense array: sets `tensor` and returns its memory.
template <typename AnyTensor>
Result<tune::FloatArray> RandomTensor(DataType type, const Sizes& sizes, uint64_t seed,
                                      AnyTensor& tensor);

// The bytes of such an array, in whole words.
tune::ReadArray ReadAll(const ConstTensor& tensor);

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_RANDOM_ELEMENTS_H_
