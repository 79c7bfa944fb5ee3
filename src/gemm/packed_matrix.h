// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How a packed B lies in memory: for each batch item and head, for each depth block, its panels.
// A panel is [depth of the block, columns of the target's first tile], f32.

#ifndef LANEWISE_SRC_GEMM_PACKED_MATRIX_H_
#define LANEWISE_SRC_GEMM_PACKED_MATRIX_H_

#include <cstdint>

#include "lanewise/gemm.h"
#include "src/core/sizes.h"

namespace lanewise {

struct PackedMatrix::Layout {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t target_id = 0;
  int64_t tile_columns = 0;
  int64_t depth_block = 0;
  Workspace memory;

  int64_t panels() const { return core::DivideUp(columns, tile_columns); }
  int64_t matrix_floats() const { return panels() * tile_columns * depth; }
  // Panel `panel` of the depth block that begins at `begin` and has `steps` steps.
  float* Panel(int64_t matrix, int64_t begin, int64_t steps, int64_t panel) const {
    return static_cast<float*>(memory.data()) + matrix * matrix_floats() +
           (begin * panels() + steps * panel) * tile_columns;
  }
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_GEMM_PACKED_MATRIX_H_
