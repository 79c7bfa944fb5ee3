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

// The smallest range that holds all that are true, of which there are some.
KeyRange RangeOfTrue(const uint8_t* bytes, int64_t count) {
  KeyRange range = {0, count};
  while (bytes[range.begin] == 0) ++range.begin;
  while (bytes[range.end - 1] == 0) --range.end;
  return range;
}

}  // namespace

// Units that a tile has at most.
constexpr int64_t kMostUnits = 128;

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
                         const LanesDecision& lanes, Entry* table)
    : mask_(mask),
      kv_heads_(mask.sizes[1] == 1 ? 1 : shape.kv_heads),
      heads_(shape.kv_heads == 0 ? 0 : shape.heads / shape.kv_heads),
      rows_(heads_ * shape.queries),
      tile_rows_(static_cast<int64_t>(lanes.kernel.lanes)),
      tile_keys_(lanes.kv_block),
      unit_(core::DivideUp(tile_keys_, kMostUnits)),
      planes_(std::min(mask.sizes[0], shape.batch) * std::min(kv_heads_, shape.kv_heads)),
      row_tiles_(core::DivideUp(rows_, tile_rows_)),
      key_tiles_(core::DivideUp(std::min(mask.sizes[3], shape.keys), tile_keys_)),
      table_(table) {}

void MaskClasses::Classify(int64_t row) const {
  const int64_t plane = row / row_tiles_;
  const int64_t first_row = row % row_tiles_ * tile_rows_;
  const KeyRange rows = {first_row, std::min(first_row + tile_rows_, rows_)};
  const uint8_t* const bytes =
      static_cast<const uint8_t*>(mask_.data) + plane / kv_heads_ * mask_.strides[0];
  for (int64_t tile = 0; tile < key_tiles_; ++tile) {
    const KeyRange keys = {tile * tile_keys_, std::min((tile + 1) * tile_keys_, mask_.sizes[3])};
    table_[row * key_tiles_ + tile] = Classified(bytes, plane % kv_heads_ * heads_, rows, keys);
  }
}

// Of a tile of a batch item's plane. Rows may be the same for all heads or queries.
MaskClasses::Entry MaskClasses::Classified(const uint8_t* plane, int64_t first_head, KeyRange rows,
                                           KeyRange keys) const {
  int64_t total = 0;
  KeyRange seen;
  const uint8_t* counted = nullptr;  // the mask row of the previous row
  int64_t count = 0;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t head = mask_.sizes[1] == 1 ? 0 : first_head + r % heads_;
    const int64_t query = mask_.sizes[2] == 1 ? 0 : r / heads_;
    const uint8_t* bytes = plane + head * mask_.strides[1] + query * mask_.strides[2] + keys.begin;
    if (bytes != counted) {
      count = CountTrue(bytes, keys.size());
      if (count != 0) seen = Cover(seen, RangeOfTrue(bytes, keys.size()));
    }
    counted = bytes;
    total += count;
  }
  if (total == 0) return {TileClass::kEmpty, 0, 0};
  const int64_t begin = seen.begin / unit_;
  const int64_t end = core::DivideUp(seen.end, unit_);
  const int64_t size = std::min(end * unit_, keys.size()) - begin * unit_;
  return {total == rows.size() * size ? TileClass::kFull : TileClass::kPartial,
          static_cast<uint8_t>(begin), static_cast<uint8_t>(end)};
}

}  // namespace lanewise::attention
