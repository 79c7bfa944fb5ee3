// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/converted.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/kernels/convert.h"
#include "src/machine/targets.h"

namespace lanewise::tools {

Result<npy::Array> Converted(npy::Array array, DataType type) {
  if (array.type == type) return array;
  const Result<int64_t> target = machine::FindTarget("");
  if (!target.ok()) return target.status();
  npy::Array converted = npy::Array::Zeros(array.shape, type);
  const int64_t count = array.ElementCount();
  const kernels::ConvertRows convert = kernels::ConvertRowsFor(*target, array.type, type);
  convert({array.data.data(), count, converted.data.data(), count, 1, static_cast<size_t>(count)});
  return converted;
}

}  // namespace lanewise::tools
