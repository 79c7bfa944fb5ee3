// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The key or value rows of one block as f32 rows that lie evenly, which is what the `lanes` kernels
// read: in place where they lie so, otherwise copied and widened into scratch.

#ifndef LANEWISE_SRC_ATTENTION_STAGED_ROWS_H_
#define LANEWISE_SRC_ATTENTION_STAGED_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "src/attention/kv_rows.h"
#include "src/attention/visibility.h"
#include "src/kernels/convert.h"

namespace lanewise::attention {

class StagedRows {
 public:
  // `widen` converts the rows' type to f32, null if they are; `copy` copies f32. `scratch` holds a
  // block of rows.
  StagedRows(kernels::ConvertRows widen, kernels::ConvertRows copy, int64_t columns, float* scratch)
      : widen_(widen), copy_(copy), columns_(columns), scratch_(scratch) {}

  // Makes `keys` of `rows` available, at most a block of them. Rows far apart are copied, too, if
  // `gathers`.
  void Stage(const KvRows& rows, KeyRange keys, bool gathers) {
    first_ = keys.begin;
    const RowRun run = rows.At(keys.begin);
    const bool far = gathers && rows.stride() >= 2 * columns_;
    if (widen_ == nullptr && run.count >= keys.size() && !far) {
      data_ = reinterpret_cast<const float*>(run.data);
      stride_ = rows.stride();
      return;
    }
    data_ = scratch_;
    stride_ = columns_;
    for (int64_t key = keys.begin; key < keys.end;) {
      const RowRun part = rows.At(key);
      const int64_t count = std::min(part.count, keys.end - key);
      (widen_ != nullptr ? widen_ : copy_)(
          {part.data, rows.stride(), scratch_ + (key - first_) * columns_, columns_,
           static_cast<size_t>(count), static_cast<size_t>(columns_)});
      key += count;
    }
  }

  const float* Row(int64_t key) const { return data_ + (key - first_) * stride_; }
  int64_t stride() const { return stride_; }
  // Whether the rows of the block are read where they are.
  bool in_place() const { return data_ != scratch_; }

 private:
  kernels::ConvertRows widen_;
  kernels::ConvertRows copy_;
  int64_t columns_;
  float* scratch_;  // [kv_block, columns]

  const float* data_ = nullptr;
  int64_t first_ = 0;
  int64_t stride_ = 0;
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_STAGED_ROWS_H_
