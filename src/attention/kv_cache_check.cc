// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/kv_cache_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>

#include "src/attention/kv_slots.h"
#include "src/core/sizes.h"
#include "src/core/tensor_check.h"

namespace lanewise::attention {
namespace {

struct NamedInput {
  const char* name;
  ConstTensor tensor;
};

Status CheckPairOfTensors(const KvCache& cache) {
  Sizes v_sizes = cache.k.sizes;
  v_sizes[3] = cache.v.sizes[3];
  const struct {
    const char* name;
    const Tensor& tensor;
    const Sizes& sizes;
  } arrays[] = {{"cache.k", cache.k, cache.k.sizes}, {"cache.v", cache.v, v_sizes}};
  for (const auto& [name, tensor, sizes] : arrays) {
    if (Status s = core::CheckNumberType(name, tensor.type); !s.ok()) return s;
    if (Status s = core::CheckSizes(name, tensor.sizes); !s.ok()) return s;
    if (Status s = core::CheckOutput(name, tensor, tensor.type, sizes); !s.ok()) return s;
  }
  return {};
}

Status CheckPageTable(const KvCache& cache) {
  const PageTable& table = cache.page_table;
  const bool fits = table.batch >= 0 && table.pages_per_item >= (table.ids == nullptr ? 0 : 1) &&
                    core::CheckedProduct({table.pages_per_item, cache.k.sizes[2]}) &&
                    core::CheckedProduct({table.pages_per_item, table.batch, 4});
  if (!fits) {
    return Status::InvalidArgument(
        fmt::format("cache.page_table: found batch {} and {} pages_per_item, expected at least 0 "
                    "and 1, and pages of {} slots within 64 bits",
                    table.batch, table.pages_per_item, cache.k.sizes[2]));
  }
  if (cache.is_paged() && table.ids == nullptr && table.batch > 0) {
    return Status::InvalidArgument(
        fmt::format("cache.page_table: ids is null, expected [{}, {}] page ids", table.batch,
                    table.pages_per_item));
  }
  return {};
}

Status CheckRing(const KvCache& cache) {
  const int64_t slots = cache.slots();
  if (!cache.is_ring()) {
    if (cache.window_left == kUnlimited) return {};
    return Status::InvalidArgument(fmt::format(
        "cache.window_left: found {} without oldest, expected {} for a cache that is no ring",
        cache.window_left, kUnlimited));
  }
  if (slots == 0) {
    return Status::InvalidArgument("cache.k: found 0 slots, expected at least 1 in a ring");
  }
  if (cache.window_left < kUnlimited || cache.window_left >= slots) {
    return Status::InvalidArgument(fmt::format(
        "cache.window_left: found {}, expected 0 to {} in a ring of {} slots, or {} for the whole",
        cache.window_left, slots - 1, slots, kUnlimited));
  }
  return {};
}

// Pointers and sizes of the arrays [batch].
Status CheckPerItem(const KvCache& cache) {
  const int64_t items = cache.is_paged() ? cache.page_table.batch : cache.k.sizes[0];
  if (cache.batch != items || !core::CheckedProduct({cache.batch, 8})) {
    return Status::InvalidArgument(
        fmt::format("cache.batch: found {}, expected {}, the batch items of {}", cache.batch, items,
                    cache.is_paged() ? "cache.page_table" : "cache.k"));
  }
  if (cache.length == nullptr && cache.batch > 0) {
    return Status::InvalidArgument(
        fmt::format("cache.length: data is null, expected {} entries", cache.batch));
  }
  return {};
}

Status CheckLengths(const KvCache& cache) {
  const int64_t slots = cache.slots();
  for (int64_t b = 0; b < cache.batch; ++b) {
    const int64_t length = cache.length[b];
    if (length < 0 || (!cache.is_ring() && length > slots)) {
      return Status::InvalidArgument(
          fmt::format("cache.length: found {} for batch item {}, expected {}", length, b,
                      cache.is_ring() ? "at least 0" : fmt::format("0 to {} (the slots)", slots)));
    }
    if (!cache.is_ring()) continue;
    const int64_t least = std::max(length - slots, int64_t{0});
    if (cache.oldest[b] < least || cache.oldest[b] > length) {
      return Status::InvalidArgument(
          fmt::format("cache.oldest: found {} for batch item {}, expected {} to {} (length {}, {} "
                      "slots)",
                      cache.oldest[b], b, least, length, length, slots));
    }
  }
  return {};
}

// That nothing that is written meets anything else. k and v of a cache may lie between each other.
Status CheckAllApart(const KvCache& cache, std::span<const NamedInput> inputs) {
  const struct {
    const char* name;
    Tensor tensor;
  } written[] = {{"cache.k", cache.k},
                 {"cache.v", cache.v},
                 {"cache.length", core::BytesOf(cache.length, cache.batch)},
                 {"cache.oldest", core::BytesOf(cache.oldest, cache.batch)}};
  for (size_t i = 0; i < std::size(written); ++i) {
    if (written[i].tensor.data == nullptr) continue;
    const auto check = [&](const char* name, const ConstTensor& other) -> Status {
      if (other.data == nullptr) return {};
      return core::CheckApart(written[i].name, written[i].tensor, name, other);
    };
    for (size_t j = std::max(i + 1, size_t{2}); j < std::size(written); ++j) {
      if (Status s = check(written[j].name, written[j].tensor); !s.ok()) return s;
    }
    for (const NamedInput& input : inputs) {
      if (Status s = check(input.name, input.tensor); !s.ok()) return s;
    }
  }
  return {};
}

NamedInput PageIds(const PageTable& table) {
  return {"cache.page_table",
          core::BytesOf(ArrayView<int32_t>{table.ids, table.batch * table.pages_per_item})};
}

// All but overlap.
Status CheckFields(const KvCache& cache) {
  if (Status s = CheckPairOfTensors(cache); !s.ok()) return s;
  if (Status s = CheckPageTable(cache); !s.ok()) return s;
  if (Status s = CheckRing(cache); !s.ok()) return s;
  if (Status s = CheckPerItem(cache); !s.ok()) return s;
  return CheckLengths(cache);
}

Status CheckNewRows(const KvCache& cache, const ConstTensor& k, const ConstTensor& v) {
  const struct {
    const char* name;
    const ConstTensor& tensor;
    int64_t columns;
  } arrays[] = {{"k", k, cache.k.sizes[3]}, {"v", v, cache.v.sizes[3]}};
  for (const auto& [name, tensor, columns] : arrays) {
    if (Status s = core::CheckNumberType(name, tensor.type); !s.ok()) return s;
    if (Status s = core::CheckSizes(name, tensor.sizes); !s.ok()) return s;
    const Sizes expected = {cache.batch, cache.k.sizes[1], k.sizes[2], columns};
    if (Status s = core::CheckInput(name, tensor, tensor.type, expected); !s.ok()) return s;
  }
  return {};
}

Status CheckTokens(const ArrayView<int64_t>& tokens, int64_t batch, int64_t rows) {
  if (tokens.data == nullptr && tokens.size == 0) return {};
  if (tokens.size != batch) {
    return Status::InvalidArgument(
        fmt::format("tokens: found {} entries, expected {}", tokens.size, batch));
  }
  if (tokens.data == nullptr) {
    return Status::InvalidArgument(
        fmt::format("tokens: data is null, expected {} entries", tokens.size));
  }
  for (int64_t b = 0; b < batch; ++b) {
    if (tokens.data[b] < 0 || tokens.data[b] > rows) {
      return Status::InvalidArgument(
          fmt::format("tokens: found {} for batch item {}, expected 0 to {} (the rows of k)",
                      tokens.data[b], b, rows));
    }
  }
  return {};
}

// That `count` tokens more fit, and that the pages that they go to exist.
Status CheckRoom(const KvCache& cache, int64_t item, int64_t count, const char* argument) {
  const int64_t length = cache.length[item];
  const int64_t capacity = cache.is_ring() ? INT64_MAX : cache.slots();
  if (count > capacity - length) {
    return Status::InvalidArgument(fmt::format(
        "{}: found {} tokens for batch item {}, which holds {}: a length of {}, expected at most "
        "the capacity of {}",
        argument, count, item, length, core::SaturatingSum(length, count), capacity));
  }
  if (!cache.is_paged()) return {};
  const int64_t pages = cache.k.sizes[0];
  int64_t stray = 0;
  int64_t stray_at = -1;
  ForEachPageRows(cache, item, StoredPositions(cache, item, count), [&](const PageRows& rows) {
    if (stray_at >= 0 || (rows.page >= 0 && rows.page < pages)) return;
    stray = rows.page;
    stray_at = rows.position;
  });
  if (stray_at < 0) return {};
  return Status::InvalidArgument(
      fmt::format("cache.page_table: found page {} for position {} of batch item {}, expected 0 to "
                  "{} (a pool of {} pages)",
                  stray, stray_at, item, pages - 1, pages));
}

}  // namespace

Status CheckKvCache(const KvCache& cache) {
  if (Status s = CheckFields(cache); !s.ok()) return s;
  const NamedInput inputs[] = {PageIds(cache.page_table)};
  return CheckAllApart(cache, inputs);
}

Status CheckAppendKv(const KvCache& cache, const ConstTensor& k, const ConstTensor& v,
                     const ArrayView<int64_t>& tokens) {
  if (Status s = CheckFields(cache); !s.ok()) return s;
  if (Status s = CheckNewRows(cache, k, v); !s.ok()) return s;
  if (Status s = CheckTokens(tokens, cache.batch, k.sizes[2]); !s.ok()) return s;
  const NamedInput inputs[] = {
      PageIds(cache.page_table), {"k", k}, {"v", v}, {"tokens", core::BytesOf(tokens)}};
  if (Status s = CheckAllApart(cache, inputs); !s.ok()) return s;
  for (int64_t b = 0; b < cache.batch; ++b) {
    const int64_t count = TokensOf(tokens, k.sizes[2], b);
    const char* const argument = tokens.data == nullptr ? "k" : "tokens";
    if (Status s = CheckRoom(cache, b, count, argument); !s.ok()) return s;
  }
  return {};
}

}  // namespace lanewise::attention
