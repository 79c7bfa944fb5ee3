// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A cache of keys and values that grows as tokens are generated: one block of slots for each
// sequence, a ring that keeps the latest tokens, or pages out of a pool. All memory is the
// caller's.

#ifndef LANEWISE_KV_CACHE_H_
#define LANEWISE_KV_CACHE_H_

#include <cstdint>  // int64_t

#include "lanewise/attention.h"
#include "lanewise/export.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise {

// The arrays of a cache. Tokens of a batch item have the positions 0, 1, 2, ... in the order in
// which they are appended; item b holds those at oldest[b] <= position < length[b], where oldest[b]
// is 0 unless the cache is a ring. Position p lies in slot p, in a ring in slot p % slots().
//
//   std::vector<int64_t> length(batch, 0);
//   lanewise::KvCache cache;
//   cache.k = lanewise::Tensor(k_memory, {batch, kv_heads, slots, dim});
//   cache.v = lanewise::Tensor(v_memory, {batch, kv_heads, slots, value_dim});
//   cache.length = length.data();
//   cache.batch = batch;
//
// Each step appends its keys and values, then attends to all that the cache holds:
//
//   if (Status s = lanewise::AppendKv(cache, k, v); !s.ok()) return s;
//   options.causal = options.kv_len = true;
//   lanewise::AttentionTensors tensors = {q, cache.k, cache.v, out};
//   for (int64_t b = 0; b < batch; ++b) kv_len[b] = cache.KvLen(b);
//   tensors.kv_len = {kv_len.data(), batch};
//
// A ring also needs the slot of its oldest token (options.kv_first = true):
//
//   for (int64_t b = 0; b < batch; ++b) kv_first[b] = cache.KvFirst(b);
//   tensors.kv_first = {kv_first.data(), batch};
//
// and a paged cache its pages (options.paged = true), with AttentionShape::keys = cache.slots():
//
//   tensors.page_table = cache.page_table;
//
// The result is bit for bit that of the same keys and values in one block. Attention counts
// positions from the oldest token that the cache holds; an explicit query_offset must do so too.
struct KvCache {
  // f32, f16 or bf16 each; any strides in which no two elements of k, or of v, coincide. Alignment
  // to an element is enough. k and v may lie between each other in memory, and v may be a part of k
  // if what is appended to it is the same part.
  Tensor k;  // [batch, kv_heads, slots, dim]; paged: the pool, [pages, kv_heads, page_size, dim]
  Tensor v;  // [batch, kv_heads, slots, value_dim]; paged: likewise

  // [batch] each; zeros at first. AppendKv and RewindKv keep them up to date; whoever else changes
  // them has to keep max(0, length[b] - slots()) <= oldest[b] <= length[b].
  int64_t* length = nullptr;
  // Given: the cache is a ring, in which a token beyond the capacity takes the place of the oldest.
  int64_t* oldest = nullptr;
  int64_t batch = 0;

  // Of a ring: the window.left of the attention that reads it, from 0 to slots() - 1. Slots that
  // it leaves over are what RewindKv can take back and what a step of several queries needs: the
  // first of t queries sees its whole window if slots() >= window_left + t. kUnlimited:
  // slots() - 1.
  int64_t window_left = kUnlimited;

  // With pages_per_item above 0, k and v are pools of pages, and the slots of batch item b are the
  // rows of its pages in the order of the table. Ids of pages that nothing is written to are not
  // read. A page that an append writes to must belong to one batch item only, which is not
  // checked; a page that is only read may be shared.
  PageTable page_table = {};

  bool is_ring() const noexcept { return oldest != nullptr; }
  bool is_paged() const noexcept { return page_table.pages_per_item != 0; }
  // Tokens that a batch item can hold.
  int64_t slots() const noexcept {
    return is_paged() ? page_table.pages_per_item * k.sizes[2] : k.sizes[2];
  }

  // What AttentionTensors::kv_len and kv_first need for batch item b: the number of tokens held,
  // and the slot of the first of them.
  int64_t KvLen(int64_t b) const noexcept { return length[b] - (is_ring() ? oldest[b] : 0); }
  int64_t KvFirst(int64_t b) const noexcept { return is_ring() ? oldest[b] % slots() : 0; }
};

// Appends tokens to each batch item and advances `length` (and `oldest`):
//
//   cache.k[b, h, slot(length[b] + i)] = k[b, h, i]      likewise v, for each new token i
//
// k is [batch, kv_heads, tokens, dim] and v [batch, kv_heads, tokens, value_dim], each f32, f16 or
// bf16 with free strides. Their memory may not meet that of the cache. Equal types copy bits, NaN
// payloads included; others round to nearest, ties to even, by way of f32, and keep subnormals.
//
// `tokens`, if given, is [batch]: item b appends the last tokens[b] of the rows only, and the rows
// before are not read. So the last rows line up, as those of queries do: in a step with as many
// queries as rows, every query of an appended token is at its position.
//
// Edges: of more tokens than a ring has slots, the last ones stay. Zero batch, kv_heads, tokens,
// dim or value_dim: nothing is written to the arrays of that size, `length` advances. Slots that no
// token goes to, and padding, are not touched.
//
// Cost: copying or converting the rows on the calling thread; no allocation, no lock held.
// Thread-safe for caches that share no memory; other calls on the same cache have to wait.
//
// Errors, all before any byte is written, for whichever batch item: kInvalidArgument for more
// tokens than a cache that is no ring has room for (the message names capacity and length), a null
// pointer, a type that is none of the three, a negative size, sizes that do not fit each other,
// strides under which elements of the cache coincide, memory that meets other memory, a length or
// oldest that cannot be, tokens[b] below 0 or above the rows, a page id outside the pool; and those
// of a plan for a LANEWISE_TARGET that this machine cannot run.
LANEWISE_EXPORT Status AppendKv(const KvCache& cache, const ConstTensor& k, const ConstTensor& v,
                                const ArrayView<int64_t>& tokens = {}) noexcept;

// Takes back the tokens of one batch item at positions `length` and later, so that the next append
// continues there: a rejected draft, another answer to the same prompt. To 0 empties the item.
// Writes length[batch_item] (and for 0 oldest[batch_item]) alone.
//
// A ring that has wrapped cannot get back what was overwritten, so it goes back to `length` only
// while it holds all that the next token will see: the positions from length - window_left on. With
// window_left absent that is one token at a time. To 0 and to the present length always work.
//
// Cost: O(batch); no allocation. Thread-safe as AppendKv.
//
// Errors, before anything is written: kInvalidArgument for a batch_item outside the batch, a length
// below 0 or above the present one, a ring that has overwritten what would be needed, and for the
// cache itself as AppendKv.
LANEWISE_EXPORT Status RewindKv(const KvCache& cache, int64_t batch_item, int64_t length) noexcept;

}  // namespace lanewise

#endif  // LANEWISE_KV_CACHE_H_
