// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How a packed B lies in memory: for each batch item and head, for each depth block, its panels.
// A panel is [depth of the block, columns of the target's first tile], in the type of the array.

#ifndef LANEWISE_SRC_GEMM_PACKED_MATRIX_H_
#define LANEWISE_SRC_GEMM_PACKED_MATRIX_H_

#include <cstdint>

#include "lanewise/gemm.h"
#include "src/core/element_bytes.h"
#include "src/core/sizes.h"

namespace lanewise {

struct PackedMatrix::Layout {
  DataType type = DataType::kF32;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t target_id = 0;
  int64_t tile_columns = 0;
  int64_t depth_block = 0;
  Workspace memory;

  int64_t panels() const { return core::DivideUp(columns, tile_columns); }
  int64_t matrix_elements() const { return panels() * tile_columns * depth; }
  // Panel `panel` of the depth block that begins at `begin` and has `steps` steps. The next one
  // follows it.
  char* Panel(int64_t matrix, int64_t begin, int64_t steps, int64_t panel) const {
    const int64_t element =
        matrix * matrix_elements() + (begin * panels() + steps * panel) * tile_columns;
    return static_cast<char*>(memory.data()) + element * core::ElementBytes(type);
  }
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_GEMM_PACKED_MATRIX_H_
