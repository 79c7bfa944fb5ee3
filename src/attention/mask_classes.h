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
#include "src/attention/visibility.h"

namespace lanewise::attention {

enum class TileClass : uint8_t { kEmpty, kPartial, kFull };

// The keys of a tile from the first to the last that any of its rows may see, and whether all of
// its rows may see all of those.
struct MaskPart {
  TileClass part_class = TileClass::kFull;
  KeyRange keys;
};

// The parts of the tiles of a mask: the rows of a lane group of HeadGroup rows x a key block. Kv
// heads that share the mask share the table.
class MaskClasses {
 public:
  MaskClasses() = default;  // no mask: every tile is full

  // Entries of a table; nothing on overflow.
  static std::optional<int64_t> TableSize(const AttentionShape& shape, const LanesDecision& lanes);

  // Of a table: a part in units of keys, rounded outwards, which fit a byte.
  struct Entry {
    TileClass part_class;
    uint8_t begin;
    uint8_t end;
  };

  // `mask` has size 1 on broadcast axes; `table` has TableSize entries and outlives this.
  MaskClasses(const ConstTensor& mask, const AttentionShape& shape, const LanesDecision& lanes,
              Entry* table);

  // Rows of tiles, the unit of work of Classify: [0, RowCount()).
  int64_t RowCount() const { return planes_ * row_tiles_; }
  void Classify(int64_t row) const;

  // Of the keys of block `key_tile`, what lane group `row_tile` of a batch item and kv head may
  // see.
  MaskPart Of(int64_t batch, int64_t kv_head, int64_t row_tile, int64_t key_tile,
              KeyRange block) const {
    if (table_ == nullptr) return {TileClass::kFull, block};
    const int64_t plane =
        (mask_.sizes[0] == 1 ? 0 : batch) * kv_heads_ + (mask_.sizes[1] == 1 ? 0 : kv_head);
    const Entry& entry =
        table_[(plane * row_tiles_ + row_tile) * key_tiles_ + (key_tiles_ == 1 ? 0 : key_tile)];
    if (mask_.sizes[3] == 1) return {entry.part_class, block};
    return {entry.part_class, Intersection(block, {block.begin + entry.begin * unit_,
                                                   block.begin + entry.end * unit_})};
  }

 private:
  Entry Classified(const uint8_t* plane, int64_t first_head, KeyRange rows, KeyRange keys) const;

  ConstTensor mask_;
  int64_t kv_heads_ = 0;  // with masks of their own
  int64_t heads_ = 0;     // that share a kv head
  int64_t rows_ = 0;      // of a kv head
  int64_t tile_rows_ = 0;
  int64_t tile_keys_ = 0;
  int64_t unit_ = 1;
  int64_t planes_ = 0;
  int64_t row_tiles_ = 0;
  int64_t key_tiles_ = 0;
  Entry* table_ = nullptr;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_MASK_CLASSES_H_
