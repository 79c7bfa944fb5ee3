// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a cache of keys and values or an append to it.

#ifndef LANEWISE_SRC_ATTENTION_KV_CACHE_CHECK_H_
#define LANEWISE_SRC_ATTENTION_KV_CACHE_CHECK_H_

#include "lanewise/kv_cache.h"

namespace lanewise::attention {

// The cache by itself: arrays, table, lengths.
Status CheckKvCache(const KvCache& cache);

// The cache, the appended arrays and both together: room, page ids, overlap.
Status CheckAppendKv(const KvCache& cache, const ConstTensor& k, const ConstTensor& v,
                     const ArrayView<int64_t>& tokens);

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_KV_CACHE_CHECK_H_
