// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a dense mask does to whole tiles, found out once a call and mask, not once a head: tiles
// that it empties are never touched, tiles that it leaves whole are computed as if there were none.

#ifndef LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_
#define LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_

#include <cstdint>

#include "lanewise/tensor.h"

namespace lanewise::attention {

enum class TileClass : uint8_t { kEmpty, kPartial, kFull };

// Classes of the tiles of `rows` queries x `keys` keys that a mask falls into.
class MaskClasses {
 public:
  MaskClasses() = default;  // no mask: every tile is full

  // `table` holds a class for each tile and outlives this.
  MaskClasses(const ConstTensor& mask, int64_t tile_rows, int64_t tile_keys, TileClass* table);

  // Rows of tiles, the unit of work of Classify: [0, RowCount()).
  int64_t RowCount() const { return planes_ * row_tiles_; }
  void Classify(int64_t row) const;

  // Class of the tile at query tile `row_tile` and key tile `key_tile` (multiples of the tile's
  // sizes) of a batch item and head.
  TileClass Of(int64_t batch, int64_t head, int64_t row_tile, int64_t key_tile) const {
    if (table_ == nullptr) return TileClass::kFull;
    const int64_t plane =
        (mask_.sizes[0] == 1 ? 0 : batch) * mask_.sizes[1] + (mask_.sizes[1] == 1 ? 0 : head);
    const int64_t row = plane * row_tiles_ + (row_tiles_ == 1 ? 0 : row_tile);
    return table_[row * key_tiles_ + (key_tiles_ == 1 ? 0 : key_tile)];
  }

 private:
  ConstTensor mask_;
  int64_t tile_rows_ = 0;
  int64_t tile_keys_ = 0;
  int64_t planes_ = 0;
  int64_t row_tiles_ = 0;
  int64_t key_tiles_ = 0;
  TileClass* table_ = nullptr;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_
