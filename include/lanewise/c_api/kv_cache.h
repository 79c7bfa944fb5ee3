// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/kv_cache.h through a C ABI.

#ifndef LANEWISE_C_API_KV_CACHE_H_
#define LANEWISE_C_API_KV_CACHE_H_

#include <stdint.h>  // int64_t

#include "lanewise/c_api/attention.h"
#include "lanewise/c_api/base.h"
#include "lanewise/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::KvCache.
typedef struct lanewise_kv_cache {
  lanewise_tensor k;  // [batch, kv_heads, slots, dim]; paged: [pages, kv_heads, page_size, dim]
  lanewise_tensor v;  // likewise with value_dim
  int64_t* length;    // [batch]
  int64_t* oldest;    // [batch]; null: no ring
  int64_t batch;
  int64_t window_left;
  lanewise_page_table page_table;
} lanewise_kv_cache;

// No arrays, no ring, no pages: all zeros, window_left LANEWISE_UNLIMITED.
LANEWISE_EXPORT lanewise_status lanewise_kv_cache_init(lanewise_kv_cache* cache);

// lanewise::KvCache::slots, KvLen and KvFirst. Errors: a batch_item outside the batch, no `length`,
// a ring without slots, slots beyond 64 bits.
LANEWISE_EXPORT lanewise_status lanewise_kv_cache_slots(const lanewise_kv_cache* cache,
                                                        int64_t* slots, lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_kv_cache_kv_len(const lanewise_kv_cache* cache,
                                                         int64_t batch_item, int64_t* kv_len,
                                                         lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_kv_cache_kv_first(const lanewise_kv_cache* cache,
                                                           int64_t batch_item, int64_t* kv_first,
                                                           lanewise_error* error);

// lanewise::AppendKv. `tokens` is optional.
LANEWISE_EXPORT lanewise_status lanewise_append_kv(const lanewise_kv_cache* cache,
                                                   const lanewise_tensor* k,
                                                   const lanewise_tensor* v,
                                                   const lanewise_int64_array* tokens,
                                                   lanewise_error* error);

// lanewise::RewindKv.
LANEWISE_EXPORT lanewise_status lanewise_rewind_kv(const lanewise_kv_cache* cache,
                                                   int64_t batch_item, int64_t length,
                                                   lanewise_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_KV_CACHE_H_
