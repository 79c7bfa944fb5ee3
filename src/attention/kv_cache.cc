// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

#include "src/attention/kv_cache_check.h"
#include "src/attention/kv_slots.h"
#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/kernels/convert.h"
#include "src/machine/targets.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace {

using attention::Positions;

// The rows of one array, k or v, that an append brings.
struct NewRows {
  const ConstTensor& from;
  const Tensor& to;
  kernels::ConvertRows convert;
};

template <typename Void>
Void* RowOf(const BasicTensor<Void>& tensor, int64_t item, int64_t head, int64_t row) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
  const int64_t element =
      item * tensor.strides[0] + head * tensor.strides[1] + row * tensor.strides[2];
  return static_cast<Byte*>(tensor.data) + element * core::ElementBytes(tensor.type);
}

// Stores the last rows of a batch item, one for each of `positions`.
void StoreItem(const KvCache& cache, const NewRows& rows, int64_t item,
               const Positions& positions) {
  if (rows.from.sizes[3] == 0) return;
  const int64_t first_row = rows.from.sizes[2] - positions.end;  // of position 0
  for (int64_t head = 0; head < rows.from.sizes[1]; ++head) {
    attention::ForEachPageRows(cache, item, positions, [&](const attention::PageRows& part) {
      rows.convert({.from = RowOf(rows.from, item, head, first_row + part.position),
                    .from_stride = rows.from.strides[2],
                    .to = RowOf(rows.to, part.page, head, part.row),
                    .to_stride = rows.to.strides[2],
                    .row_count = static_cast<size_t>(part.count),
                    .columns = static_cast<size_t>(rows.from.sizes[3])});
    });
  }
}

Status Append(const KvCache& cache, const ConstTensor& k, const ConstTensor& v,
              const ArrayView<int64_t>& tokens) {
  if (Status s = attention::CheckAppendKv(cache, k, v, tokens); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(DefaultRuntime().target);
  if (!target.ok()) return target.status();
  const NewRows arrays[] = {{k, cache.k, kernels::ConvertRowsFor(*target, k.type, cache.k.type)},
                            {v, cache.v, kernels::ConvertRowsFor(*target, v.type, cache.v.type)}};
  for (int64_t b = 0; b < cache.batch; ++b) {
    const int64_t count = attention::TokensOf(tokens, k.sizes[2], b);
    const Positions stored = attention::StoredPositions(cache, b, count);
    for (const NewRows& rows : arrays) StoreItem(cache, rows, b, stored);
    cache.length[b] += count;
    if (cache.is_ring()) {
      cache.oldest[b] = std::max(cache.oldest[b], cache.length[b] - cache.slots());
    }
  }
  return {};
}

// That a ring still holds what the token at `length` will see.
Status CheckRingHolds(const KvCache& cache, int64_t item, int64_t length) {
  if (!cache.is_ring() || length == 0 || length == cache.length[item]) return {};
  const int64_t left = cache.window_left == kUnlimited ? cache.slots() - 1 : cache.window_left;
  const int64_t needed = std::max(length - left, int64_t{0});
  if (cache.oldest[item] <= needed) return {};
  const int64_t least = std::min(core::SaturatingSum(cache.oldest[item], left), cache.length[item]);
  return Status::InvalidArgument(
      fmt::format("length: found {} for batch item {}, expected 0 or {} to {}: of the positions "
                  "from {} on that the next token would see, the ring holds those from {} on",
                  length, item, least, cache.length[item], needed, cache.oldest[item]));
}

Status Rewind(const KvCache& cache, int64_t item, int64_t length) {
  if (Status s = attention::CheckKvCache(cache); !s.ok()) return s;
  if (item < 0 || item >= cache.batch) {
    return Status::InvalidArgument(fmt::format(
        "batch_item: found {}, expected one of the {} of the cache", item, cache.batch));
  }
  if (length < 0 || length > cache.length[item]) {
    return Status::InvalidArgument(
        fmt::format("length: found {} for batch item {}, expected 0 to {}, its present length",
                    length, item, cache.length[item]));
  }
  if (Status s = CheckRingHolds(cache, item, length); !s.ok()) return s;
  cache.length[item] = length;
  if (cache.is_ring() && length == 0) cache.oldest[item] = 0;
  return {};
}

}  // namespace

Status AppendKv(const KvCache& cache, const ConstTensor& k, const ConstTensor& v,
                const ArrayView<int64_t>& tokens) noexcept {
  const parallel::DefaultFloatModes modes;
  try {
    return Append(cache, k, v, tokens);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

Status RewindKv(const KvCache& cache, int64_t batch_item, int64_t length) noexcept {
  try {
    return Rewind(cache, batch_item, length);
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
