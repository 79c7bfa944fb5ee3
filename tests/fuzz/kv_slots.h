// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The keys and values of a case where a cache would have them: in a ring, in pages, or both.

#ifndef LANEWISE_TESTS_FUZZ_KV_SLOTS_H_
#define LANEWISE_TESTS_FUZZ_KV_SLOTS_H_

#include <cstdint>

#include "tests/fuzz/fuzz_case.h"
#include "tests/support/attention_case.h"

namespace lanewise::testing {

// Whether the case lays its keys out in any other way than one after the other.
bool HasKvSlots(const FuzzCase& c);

// All that holds no valid key is unwritten, which is NaN, and ids of pages without one are those of
// no page. The order of the pages, how many of the pool belong to nobody and how many ids too many
// an item has depend on the seed.
class KvSlots {
 public:
  // `prepared` has the same keys in a row, and the other arrays of `c`.
  KvSlots(const FuzzCase& c, const PreparedCase& prepared);

  // As PreparedCase::Run.
  AttentionRun Run(const Path& path) const;

 private:
  void AssignPages(const FuzzCase& c);
  void CopyRows(const FuzzCase& c, const ConstTensor& from, const Tensor& to) const;
  // The indices of a row of k and v: page or item, head, row.
  Sizes PlaceOf(const FuzzCase& c, int64_t batch, int64_t kv_head, int64_t key) const;

  const PreparedCase& prepared_;
  GuardedArray<int64_t> kv_first_;  // [batch], or nothing
  GuardedArray<int32_t> page_ids_;  // [batch, pages_per_item], or nothing
  int64_t pages_per_item_;
  bool is_paged_;
  Array k_;
  Array v_;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_KV_SLOTS_H_
