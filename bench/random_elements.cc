// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/random_elements.h"

#include <cstddef>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/kernels/convert.h"
#include "src/machine/targets.h"

namespace lanewise::bench {

Result<tune::FloatArray> RandomElements(DataType type, int64_t count, uint64_t seed) {
  Result<tune::FloatArray> floats = tune::RandomFloats(count, seed);
  if (!floats.ok() || type == DataType::kF32) return floats;
  const Result<int64_t> target = machine::FindTarget("");
  if (!target.ok()) return target.status();
  Result<tune::FloatArray> rounded = tune::FloatArray::Allocate(core::DivideUp(count, 2));
  if (!rounded.ok()) return rounded;
  if (count % 2 != 0) rounded->data()[count / 2] = 0;
  const kernels::ConvertRows convert = kernels::ConvertRowsFor(*target, DataType::kF32, type);
  convert({floats->data(), count, rounded->data(), count, 1, static_cast<size_t>(count)});
  return rounded;
}

template <typename AnyTensor>
Result<tune::FloatArray> RandomTensor(DataType type, const Sizes& sizes, uint64_t seed,
                                      AnyTensor& tensor) {
  const auto count = core::CheckedProduct({sizes[0], sizes[1], sizes[2], sizes[3]});
  if (!count) return Status::OutOfMemory();
  Result<tune::FloatArray> array = RandomElements(type, *count, seed);
  if (array.ok()) tensor = AnyTensor(array->data(), type, sizes);
  return array;
}
template Result<tune::FloatArray> RandomTensor(DataType, const Sizes&, uint64_t, Tensor&);
template Result<tune::FloatArray> RandomTensor(DataType, const Sizes&, uint64_t, ConstTensor&);

tune::ReadArray ReadAll(const ConstTensor& tensor) {
  constexpr int64_t kWordBytes = 4;
  int64_t bytes = core::ElementBytes(tensor.type);
  for (const int64_t size : tensor.sizes) bytes *= size;
  return {tensor.data, static_cast<size_t>(core::RoundUp(bytes, kWordBytes))};
}

}  // namespace lanewise::bench
