// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/mask_classes.h"

#include <algorithm>

#include "src/core/sizes.h"

namespace lanewise::attention {
namespace {

int64_t CountTrue(const uint8_t* bytes, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += bytes[i] != 0;
  return total;
}

}  // namespace

std::optional<int64_t> MaskClasses::TableSize(const AttentionShape& shape,
                                              const LanesDecision& lanes) {
  const int64_t tile_rows = static_cast<int64_t>(lanes.kernel.lanes);
  const auto rows = core::CheckedProduct({shape.heads, shape.queries});
  if (!rows) return std::nullopt;
  const int64_t kv_rows = shape.kv_heads == 0 ? 0 : *rows / shape.kv_heads;
  return core::CheckedProduct({shape.batch, shape.kv_heads, core::DivideUp(kv_rows, tile_rows),
                               core::DivideUp(shape.keys, lanes.kv_block)});
}

MaskClasses::MaskClasses(const ConstTensor& mask, const AttentionShape& shape,
                         const LanesDecision& lanes, TileClass* table)
    : mask_(mask),
      kv_heads_(mask.sizes[1] == 1 ? 1 : shape.kv_heads),
      heads_(shape.kv_heads == 0 ? 0 : shape.heads / shape.kv_heads),
      rows_(heads_ * shape.queries),
      tile_rows_(static_cast<int64_t>(lanes.kernel.lanes)),
      tile_keys_(lanes.kv_block),
      planes_(mask.sizes[0] * kv_heads_),
      row_tiles_(core::DivideUp(rows_, tile_rows_)),
      key_tiles_(core::DivideUp(mask.sizes[3], tile_keys_)),
      table_(table) {}

void MaskClasses::Classify(int64_t row) const {
  const int64_t plane = row / row_tiles_;
  const int64_t first_head = plane % kv_heads_ * heads_;
  const int64_t first_row = row % row_tiles_ * tile_rows_;
  const int64_t end_row = std::min(first_row + tile_rows_, rows_);
  const uint8_t* base =
      static_cast<const uint8_t*>(mask_.data) + plane / kv_heads_ * mask_.strides[0];
  for (int64_t tile = 0; tile < key_tiles_; ++tile) {
    const int64_t first_key = tile * tile_keys_;
    const int64_t keys = std::min(tile_keys_, mask_.sizes[3] - first_key);
    int64_t total = 0;
    const uint8_t* counted = nullptr;  // the mask row of the previous row, which heads may share
    int64_t count = 0;
    for (int64_t r = first_row; r < end_row; ++r) {
      const int64_t head = mask_.sizes[1] == 1 ? 0 : first_head + r % heads_;
      const int64_t query = mask_.sizes[2] == 1 ? 0 : r / heads_;
      const uint8_t* bytes = base + head * mask_.strides[1] + query * mask_.strides[2] + first_key;
      if (bytes != counted) count = CountTrue(bytes, keys);
      counted = bytes;
      total += count;
    }
    table_[row * key_tiles_ + tile] = total == 0                              ? TileClass::kEmpty
                                      : total == (end_row - first_row) * keys ? TileClass::kFull
                                                                              : TileClass::kPartial;
  }
}

}  // namespace lanewise::attention
