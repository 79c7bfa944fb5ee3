// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a call, numbered, and where they lie.

#ifndef LANEWISE_SRC_SOFTMAX_ROW_GRID_H_
#define LANEWISE_SRC_SOFTMAX_ROW_GRID_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lanewise/tensor.h"

namespace lanewise::softmax {

// Arrays that have a row for each row of the call: in, mask, out.
inline constexpr size_t kRowArrays = 3;

// In elements of the array.
using RowOffsets = std::array<int64_t, kRowArrays>;

// Rows that lie evenly in every array.
struct RowRun {
  RowOffsets first;
  RowOffsets strides;
  int64_t count;
};

// The first three axes of the arrays. Neighbouring axes over which rows lie evenly in all arrays
// are one axis, so that runs are as long as they can be.
class RowGrid {
 public:
  // `sizes` are those of `in`; a mask of size 1 along an axis comes with stride 0.
  RowGrid(const Sizes& sizes, const std::array<Sizes, kRowArrays>& strides) {
    for (size_t axis = 0; axis < 3; ++axis) {
      Axis next = {sizes[axis], {}};
      for (size_t i = 0; i < kRowArrays; ++i) next.strides[i] = strides[i][axis];
      Append(next);
    }
  }

  int64_t RowCount() const {
    int64_t count = 1;
    for (const Axis& axis : axes_) count *= axis.size;
    return count;
  }

  // Calls run(RowRun) until rows [begin, end) are done.
  template <typename Run>
  void ForEachRun(int64_t begin, int64_t end, const Run& run) const {
    for (int64_t row = begin; row < end;) {
      const Axis& inner = axes_[2];
      const int64_t count = std::min(inner.size - row % inner.size, end - row);
      RowRun rows = {{}, inner.strides, count};
      int64_t rest = row;
      for (size_t axis = 3; axis-- > 0; rest /= axes_[axis].size) {
        const int64_t index = rest % axes_[axis].size;
        for (size_t i = 0; i < kRowArrays; ++i) {
          rows.first[i] += index * axes_[axis].strides[i];
        }
      }
      run(rows);
      row += count;
    }
  }

 private:
  struct Axis {
    int64_t size = 1;
    RowOffsets strides = {};
  };

  // Into the innermost axis, if the rows of `next` and it together lie evenly.
  void Append(const Axis& next) {
    Axis& inner = axes_[2];
    if (next.size == 1) return;
    bool even = true;
    for (size_t i = 0; i < kRowArrays; ++i) {
      even = even && inner.strides[i] == next.size * next.strides[i];
    }
    if (inner.size > 1 && !even) {
      axes_[0] = axes_[1];
      axes_[1] = inner;
      inner = next;
    } else {
      inner = {inner.size * next.size, next.strides};
    }
  }

  std::array<Axis, 3> axes_;  // outermost first
};

}  // namespace lanewise::softmax

#endif  // LANEWISE_SRC_SOFTMAX_ROW_GRID_H_
