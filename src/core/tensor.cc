// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/tensor.h"

namespace lanewise {

std::string_view DataTypeName(DataType type) noexcept {
  switch (type) {
    case DataType::kF32:
      return "f32";
    case DataType::kF16:
      return "f16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kBool:
      return "bool";
  }
  return "unknown";
}

}  // namespace lanewise
