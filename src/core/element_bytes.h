// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The size of an element of each type.

#ifndef LANEWISE_SRC_CORE_ELEMENT_BYTES_H_
#define LANEWISE_SRC_CORE_ELEMENT_BYTES_H_

#include "lanewise/tensor.h"

namespace lanewise::core {

constexpr int ElementBytes(DataType type) {
  switch (type) {
    case DataType::kF32:
      return 4;
    case DataType::kF16:
    case DataType::kBF16:
      return 2;
    case DataType::kBool:
      return 1;
  }
  return 0;
}

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_ELEMENT_BYTES_H_
