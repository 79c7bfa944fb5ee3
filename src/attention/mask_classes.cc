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

MaskClasses::MaskClasses(const ConstTensor& mask, int64_t tile_rows, int64_t tile_keys,
                         TileClass* table)
    : mask_(mask),
      tile_rows_(tile_rows),
      tile_keys_(tile_keys),
      planes_(mask.sizes[0] * mask.sizes[1]),
      row_tiles_(core::DivideUp(mask.sizes[2], tile_rows)),
      key_tiles_(core::DivideUp(mask.sizes[3], tile_keys)),
      table_(table) {}

void MaskClasses::Classify(int64_t row) const {
  const int64_t plane = row / row_tiles_;
  const int64_t first_query = row % row_tiles_ * tile_rows_;
  const int64_t queries = std::min(tile_rows_, mask_.sizes[2] - first_query);
  const uint8_t* base = static_cast<const uint8_t*>(mask_.data) +
                        plane / mask_.sizes[1] * mask_.strides[0] +
                        plane % mask_.sizes[1] * mask_.strides[1] + first_query * mask_.strides[2];
  for (int64_t tile = 0; tile < key_tiles_; ++tile) {
    const int64_t first_key = tile * tile_keys_;
    const int64_t keys = std::min(tile_keys_, mask_.sizes[3] - first_key);
    int64_t total = 0;
    for (int64_t query = 0; query < queries; ++query) {
      total += CountTrue(base + query * mask_.strides[2] + first_key, keys);
    }
    table_[row * key_tiles_ + tile] = total == 0                ? TileClass::kEmpty
                                      : total == queries * keys ? TileClass::kFull
                                                                : TileClass::kPartial;
  }
}

}  // namespace lanewise::attention
