// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of files in another element type.

#ifndef LANEWISE_TOOLS_CONVERTED_H_
#define LANEWISE_TOOLS_CONVERTED_H_

#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "tools/npy.h"

namespace lanewise::tools {

// `array`, of f32, f16 or bf16 elements, with elements of `type`, one of the same three: rounded to
// nearest, ties to even; exact where `type` holds the numbers. Errors: those of
// machine::FindTarget.
Result<npy::Array> Converted(npy::Array array, DataType type);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_CONVERTED_H_
