// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/kv_cache.h"

#include <string>

#include "lanewise/kv_cache.h"
#include "src/c_api/boundary.h"

namespace {

using lanewise::Status;
using lanewise::c_api::Call;
using lanewise::c_api::FromC;

lanewise::KvCache FromC(const lanewise_kv_cache& cache) {
  lanewise::KvCache result;
  result.k = FromC(cache.k);
  result.v = FromC(cache.v);
  result.length = cache.length;
  result.oldest = cache.oldest;
  result.batch = cache.batch;
  result.window_left = cache.window_left;
  result.page_table = FromC(cache.page_table);
  return result;
}

// What KvCache::slots takes for granted.
Status CheckSlots(const lanewise::KvCache& cache) {
  int64_t slots = 0;
  if (!__builtin_mul_overflow(cache.page_table.pages_per_item, cache.k.sizes[2], &slots)) return {};
  return Status::InvalidArgument(
      "cache.page_table: found " + std::to_string(cache.page_table.pages_per_item) +
      " pages_per_item of " + std::to_string(cache.k.sizes[2]) + " slots, expected less");
}

// What KvCache::KvLen and KvFirst take for granted.
Status CheckItem(const lanewise::KvCache& cache, int64_t batch_item) {
  if (batch_item < 0 || batch_item >= cache.batch) {
    return Status::InvalidArgument("batch_item: found " + std::to_string(batch_item) +
                                   ", expected one of the " + std::to_string(cache.batch) +
                                   " of the cache");
  }
  if (cache.length == nullptr) {
    return Status::InvalidArgument("cache.length: data is null, expected " +
                                   std::to_string(cache.batch) + " entries");
  }
  if (Status s = CheckSlots(cache); !s.ok() || !cache.is_ring()) return s;
  if (cache.slots() > 0) return {};
  return Status::InvalidArgument("cache.k: found " + std::to_string(cache.slots()) +
                                 " slots, expected at least 1 in a ring");
}

}  // namespace

lanewise_status lanewise_kv_cache_init(lanewise_kv_cache* cache) {
  if (cache == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *cache = {};
  cache->window_left = LANEWISE_UNLIMITED;
  return LANEWISE_OK;
}

lanewise_status lanewise_kv_cache_slots(const lanewise_kv_cache* cache, int64_t* slots,
                                        lanewise_error* error) {
  return Call(error, {{"cache", cache}, {"slots", slots}}, [&] {
    const lanewise::KvCache from = FromC(*cache);
    Status status = CheckSlots(from);
    if (status.ok()) *slots = from.slots();
    return status;
  });
}

lanewise_status lanewise_kv_cache_kv_len(const lanewise_kv_cache* cache, int64_t batch_item,
                                         int64_t* kv_len, lanewise_error* error) {
  return Call(error, {{"cache", cache}, {"kv_len", kv_len}}, [&] {
    const lanewise::KvCache from = FromC(*cache);
    Status status = CheckItem(from, batch_item);
    if (status.ok()) *kv_len = from.KvLen(batch_item);
    return status;
  });
}

lanewise_status lanewise_kv_cache_kv_first(const lanewise_kv_cache* cache, int64_t batch_item,
                                           int64_t* kv_first, lanewise_error* error) {
  return Call(error, {{"cache", cache}, {"kv_first", kv_first}}, [&] {
    const lanewise::KvCache from = FromC(*cache);
    Status status = CheckItem(from, batch_item);
    if (status.ok()) *kv_first = from.KvFirst(batch_item);
    return status;
  });
}

lanewise_status lanewise_append_kv(const lanewise_kv_cache* cache, const lanewise_tensor* k,
                                   const lanewise_tensor* v, const lanewise_int64_array* tokens,
                                   lanewise_error* error) {
  return Call(error, {{"cache", cache}, {"k", k}, {"v", v}}, [&] {
    lanewise::ArrayView<int64_t> counts;
    if (tokens != nullptr) counts = FromC(*tokens);
    return lanewise::AppendKv(FromC(*cache), FromC(*k), FromC(*v), counts);
  });
}

lanewise_status lanewise_rewind_kv(const lanewise_kv_cache* cache, int64_t batch_item,
                                   int64_t length, lanewise_error* error) {
  return Call(error, {{"cache", cache}},
              [&] { return lanewise::RewindKv(FromC(*cache), batch_item, length); });
}
