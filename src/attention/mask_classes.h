// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a dense mask does to whole tiles, found out once a call and mask, not once a head: tiles
// that it empties are never touched, tiles that it leaves whole are computed as if there were none.

#ifndef LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_
#define LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_

#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "lanewise/tensor.h"
#include "src/attention/decision.h"

namespace lanewise::attention {

enum class TileClass : uint8_t { kEmpty, kPartial, kFull };

// Classes of the tiles of a mask: the rows of a lane group of HeadGroup rows x a key block. Kv
// heads that share the mask share the table.
class MaskClasses {
 public:
  MaskClasses() = default;  // no mask: every tile is full

  // Entries of a table; nothing on overflow.
  static std::optional<int64_t> TableSize(const AttentionShape& shape, const LanesDecision& lanes);

  // `mask` has size 1 on broadcast axes; `table` has TableSize entries and outlives this.
  MaskClasses(const ConstTensor& mask, const AttentionShape& shape, const LanesDecision& lanes,
              TileClass* table);

  // Rows of tiles, the unit of work of Classify: [0, RowCount()).
  int64_t RowCount() const { return planes_ * row_tiles_; }
  void Classify(int64_t row) const;

  // Class of the tile of lane group `row_tile` and key block `key_tile` of a batch item and kv
  // head.
  TileClass Of(int64_t batch, int64_t kv_head, int64_t row_tile, int64_t key_tile) const {
    if (table_ == nullptr) return TileClass::kFull;
    const int64_t plane =
        (mask_.sizes[0] == 1 ? 0 : batch) * kv_heads_ + (mask_.sizes[1] == 1 ? 0 : kv_head);
    return table_[(plane * row_tiles_ + row_tile) * key_tiles_ + (key_tiles_ == 1 ? 0 : key_tile)];
  }

 private:
  ConstTensor mask_;
  int64_t kv_heads_ = 0;  // with masks of their own
  int64_t heads_ = 0;     // that share a kv head
  int64_t rows_ = 0;      // of a kv head
  int64_t tile_rows_ = 0;
  int64_t tile_keys_ = 0;
  int64_t planes_ = 0;
  int64_t row_tiles_ = 0;
  int64_t key_tiles_ = 0;
  TileClass* table_ = nullptr;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_
