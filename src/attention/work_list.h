// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Numbers units of work over sequences and kv heads, each sequence with its own count.

#ifndef LANEWISE_SRC_ATTENTION_WORK_LIST_H_
#define LANEWISE_SRC_ATTENTION_WORK_LIST_H_

#include <algorithm>
#include <cstdint>

namespace lanewise::attention {

class WorkList {
 public:
  // A unit: number `index` of the `count` of a sequence and kv head.
  struct Unit {
    int64_t batch;
    int64_t kv_head;
    int64_t index;
    int64_t count;
  };

  WorkList() = default;

  // `before` has room for batch + 1 numbers and outlives this. With heads_first the kv heads of a
  // unit follow each other, otherwise the units of a kv head.
  WorkList(int64_t* before, int64_t batch, int64_t kv_heads, bool heads_first)
      : before_(before), batch_(batch), kv_heads_(kv_heads), heads_first_(heads_first) {
    before_[0] = 0;
  }

  // Sets the count of each kv head of a sequence; called in order of the sequences.
  void Set(int64_t batch, int64_t count) { before_[batch + 1] = before_[batch] + count; }

  int64_t size() const { return before_ == nullptr ? 0 : before_[batch_] * kv_heads_; }

  Unit operator[](int64_t index) const {
    // The units of a sequence, over all its kv heads, follow each other.
    const int64_t* next = std::upper_bound(before_, before_ + batch_ + 1, index / kv_heads_);
    Unit unit;
    unit.batch = next - before_ - 1;
    unit.count = next[0] - next[-1];
    const int64_t rest = index - next[-1] * kv_heads_;
    unit.kv_head = heads_first_ ? rest % kv_heads_ : rest / unit.count;
    unit.index = heads_first_ ? rest / kv_heads_ : rest % unit.count;
    return unit;
  }

  // The number of the first unit of a sequence and kv head; not with heads_first.
  int64_t FirstOf(int64_t batch, int64_t kv_head) const {
    return before_[batch] * kv_heads_ + kv_head * (before_[batch + 1] - before_[batch]);
  }

 private:
  int64_t* before_ = nullptr;  // [batch + 1]: units of one kv head before each sequence
  int64_t batch_ = 0;
  int64_t kv_heads_ = 0;
  bool heads_first_ = false;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_WORK_LIST_H_
