// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/call.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "src/core/sizes.h"

namespace lanewise::attention {
namespace {

int64_t TileRows(const AttentionPlan::Decision& decision) {
  return decision.q_groups * static_cast<int64_t>(decision.kernel.lanes);
}

// The two inner axes of a batch item's head, from row `first_row`; null for an absent array.
template <typename Element, typename Void>
Element* HeadView(const BasicTensor<Void>& tensor, int64_t batch, int64_t head, int64_t first_row) {
  if (tensor.data == nullptr) return nullptr;
  return static_cast<Element*>(tensor.data) + batch * tensor.strides[0] + head * tensor.strides[1] +
         first_row * tensor.strides[2];
}

// The same of an array whose axes of size 1 broadcast.
template <typename Element>
Element* BroadcastView(const ConstTensor& tensor, int64_t batch, int64_t head) {
  return HeadView<Element>(tensor, tensor.sizes[0] == 1 ? 0 : batch,
                           tensor.sizes[1] == 1 ? 0 : head, 0);
}

}  // namespace

ConstTensor Broadcast(const ConstTensor& tensor) {
  ConstTensor broadcast = tensor;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (tensor.strides[axis] == 0 && tensor.sizes[axis] > 1) broadcast.sizes[axis] = 1;
  }
  return broadcast;
}

std::optional<int64_t> Call::SharedBytes(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  if (decision.options.ragged) {
    return core::CheckedProduct({shape.batch + 1, static_cast<int64_t>(sizeof(int64_t))});
  }
  if (!decision.options.mask) return 0;
  const Sizes tiles = {shape.batch, shape.heads,
                       core::DivideUp(shape.queries, static_cast<int64_t>(decision.kernel.lanes)),
                       core::DivideUp(shape.keys, decision.kv_block)};
  return core::CheckedProduct({tiles[0], tiles[1], tiles[2], tiles[3]});
}

Call::Call(const AttentionPlan::Decision& decision, const AttentionTensors& tensors, void* shared)
    : decision_(decision), tensors_(tensors) {
  const AttentionShape& shape = decision.shape;
  const AttentionOptions& options = decision.options;
  if (options.bias) bias_ = Broadcast(tensors.bias);
  if (options.mask) {
    mask_ = Broadcast(tensors.mask);
    mask_classes_ = MaskClasses(mask_, static_cast<int64_t>(decision.kernel.lanes),
                                decision.kv_block, static_cast<TileClass*>(shared));
  }
  heads_first_ = (options.mask && mask_.sizes[1] == 1) || (options.bias && bias_.sizes[1] == 1);

  int64_t tiles_per_head = 0;  // of all sequences
  if (options.ragged) {
    first_tile_ = static_cast<int64_t*>(shared);
    first_tile_[0] = 0;
    for (int64_t b = 0; b < shape.batch; ++b) first_tile_[b + 1] = first_tile_[b] + TilesOf(b);
    tiles_per_head = first_tile_[shape.batch];
  } else if (shape.batch > 0) {
    tiles_per_head = shape.batch * TilesOf(0);
  }
  const bool writes = shape.value_dim > 0 || options.lse || (options.weights && shape.keys > 0);
  tile_count_ = writes ? tiles_per_head * shape.heads : 0;
}

int64_t Call::TilesOf(int64_t batch) const {
  const int64_t queries = decision_.options.ragged
                              ? tensors_.q_offsets.data[batch + 1] - tensors_.q_offsets.data[batch]
                              : decision_.shape.queries;
  return core::DivideUp(queries, TileRows(decision_));
}

TileView Call::Tile(int64_t index) const {
  const AttentionShape& shape = decision_.shape;
  const AttentionOptions& options = decision_.options;
  TileView tile;

  // The sequence: tiles of a sequence, over all its heads, follow each other.
  int64_t tiles = TilesOf(0);
  if (options.ragged) {
    const int64_t* next =
        std::upper_bound(first_tile_, first_tile_ + shape.batch + 1, index / shape.heads);
    tile.batch = next - first_tile_ - 1;
    tiles = next[0] - next[-1];
    index -= next[-1] * shape.heads;
  } else {
    tile.batch = index / (tiles * shape.heads);
    index -= tile.batch * tiles * shape.heads;
  }
  // Late rows first: with a causal mask theirs are the long tiles.
  tile.head = heads_first_ ? index % shape.heads : index / tiles;
  const int64_t from_end = heads_first_ ? index / shape.heads : index % tiles;
  tile.first_query = (tiles - 1 - from_end) * TileRows(decision_);

  int64_t q_row = 0;
  int64_t k_row = 0;
  int64_t array_batch = tile.batch;
  tile.queries = shape.queries;
  tile.keys = shape.keys;
  if (options.ragged) {
    array_batch = 0;
    q_row = tensors_.q_offsets.data[tile.batch];
    k_row = tensors_.k_offsets.data[tile.batch];
    tile.queries = tensors_.q_offsets.data[tile.batch + 1] - q_row;
    tile.keys = tensors_.k_offsets.data[tile.batch + 1] - k_row;
  }
  const int64_t kv_head = tile.head / (shape.heads / shape.kv_heads);
  tile.q = HeadView<const float>(tensors_.q, array_batch, tile.head, q_row);
  tile.k = HeadView<const float>(tensors_.k, array_batch, kv_head, k_row);
  tile.v = HeadView<const float>(tensors_.v, array_batch, kv_head, k_row);
  tile.out = HeadView<float>(tensors_.out, array_batch, tile.head, q_row);
  if (options.lse) tile.lse = HeadView<float>(tensors_.lse, array_batch, tile.head, q_row);
  if (options.weights) {
    tile.weights = HeadView<float>(tensors_.weights, array_batch, tile.head, 0);
  }
  if (options.bias) tile.bias = BroadcastView<const float>(bias_, tile.batch, tile.head);
  if (options.mask) tile.mask = BroadcastView<const uint8_t>(mask_, tile.batch, tile.head);
  if (options.alibi_slopes) tile.alibi_slope = tensors_.alibi_slopes.data[tile.head];
  tile.sink =
      options.sinks ? tensors_.sinks.data[tile.head] : -std::numeric_limits<float>::infinity();
  tile.visibility = Visibility(options, tile.queries,
                               options.kv_len ? tensors_.kv_len.data[tile.batch] : tile.keys);
  tile.group_count =
      std::min(decision_.q_groups, core::DivideUp(tile.queries - tile.first_query,
                                                  static_cast<int64_t>(decision_.kernel.lanes)));
  return tile;
}

}  // namespace lanewise::attention
