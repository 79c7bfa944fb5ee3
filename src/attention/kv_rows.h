// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Where the key or value rows of one sequence and kv head lie: evenly, in a ring, or in pages.

#ifndef LANEWISE_SRC_ATTENTION_KV_ROWS_H_
#define LANEWISE_SRC_ATTENTION_KV_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "lanewise/attention.h"
#include "src/core/element_bytes.h"

namespace lanewise::attention {

// Rows that follow each other in memory, a stride apart.
struct RowRun {
  const char* data = nullptr;
  int64_t count = 0;
};

class KvRows {
 public:
  KvRows() = default;

  // `tensor`, with `slots` slots a sequence; its key 0 lies in slot `first_slot`. Without pages
  // the sequence is item `item`, and its slots begin at row `first_row`.
  KvRows(const ConstTensor& tensor, int64_t item, int64_t kv_head, int64_t first_row, int64_t slots)
      : data_(static_cast<const char*>(tensor.data)),
        element_bytes_(core::ElementBytes(tensor.type)),
        stride_(tensor.strides[2]),
        slots_(slots) {
    data_ += Bytes(item * tensor.strides[0] + kv_head * tensor.strides[1] + first_row * stride_);
  }

  // Keys begin at slot `first_slot` and go round.
  void SetRing(int64_t first_slot) { first_slot_ = first_slot; }

  // `ids` are those of the sequence's pages; tensor and kv_head as above, item 0, first_row 0.
  void SetPages(const ConstTensor& tensor, const int32_t* ids) {
    ids_ = ids;
    page_size_ = tensor.sizes[2];
    page_stride_ = tensor.strides[0];
  }

  int64_t stride() const { return stride_; }
  int64_t stride_bytes() const { return Bytes(stride_); }
  int64_t Bytes(int64_t elements) const { return elements * element_bytes_; }

  // The row of `key` and those that follow it evenly, up to the last slot.
  RowRun At(int64_t key) const {
    int64_t slot = first_slot_ + key;
    if (slot >= slots_) slot -= slots_;
    RowRun run = {data_, slots_ - slot};
    if (ids_ == nullptr) {
      run.data += Bytes(slot * stride_);
      return run;
    }
    const int64_t row = slot % page_size_;
    run.data += Bytes(ids_[slot / page_size_] * page_stride_ + row * stride_);
    run.count = std::min(run.count, page_size_ - row);
    return run;
  }

 private:
  const char* data_ = nullptr;
  int64_t element_bytes_ = 0;
  int64_t stride_ = 0;
  int64_t slots_ = 0;
  int64_t first_slot_ = 0;
  const int32_t* ids_ = nullptr;  // null: no pages
  int64_t page_size_ = 0;
  int64_t page_stride_ = 0;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_KV_ROWS_H_
