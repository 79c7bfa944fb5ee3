// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One run of a plan: its matrices, which of them share a B, and the scratch of its workers.

#ifndef LANEWISE_SRC_GEMM_CALL_H_
#define LANEWISE_SRC_GEMM_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lanewise/gemm.h"
#include "src/gemm/decision.h"
#include "src/kernels/gemm.h"
#include "src/parallel/parallel.h"

namespace lanewise::gemm {

// [begin, begin + size) of rows, columns or depth.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

// Range `index` of those that cut `total` into `block`s.
inline Range BlockOf(int64_t index, int64_t block, int64_t total) {
  return {index * block, std::min(block, total - index * block)};
}

// Who computes: all workers of a team, or one worker of it alone.
class Crew {
 public:
  explicit Crew(const parallel::Team& team) : team_(&team) {}
  explicit Crew(int worker) : worker_(worker) {}

  // body(worker, begin, end) over ranges of [0, count).
  template <typename Body>
  void Run(int64_t count, int64_t grain, const Body& body) const {
    if (team_ != nullptr) {
      team_->Run(count, grain, parallel::RangeBody(body));
    } else if (count > 0) {
      body(worker_, int64_t{0}, count);
    }
  }
  // Which of the blocks of B in the workspace is the crew's.
  int b_block() const { return worker_; }
  int workers() const { return team_ != nullptr ? team_->workers() : 1; }

 private:
  const parallel::Team* team_ = nullptr;
  int worker_ = 0;
};

// A read-only or writable matrix of an array, in bytes.
template <typename Byte>
struct Matrix {
  Byte* data = nullptr;
  int64_t row_bytes = 0;      // from row to row
  int64_t element_bytes = 0;  // from column to column

  Byte* At(int64_t row, int64_t column) const {
    return data + row * row_bytes + column * element_bytes;
  }
};

class Call {
 public:
  // The tensors have been checked; the workspace is large enough.
  Call(const GemmPlan::Decision& decision, const GemmTensors& tensors, void* workspace);

  const GemmPlan::Decision& decision() const { return decision_; }
  const GemmTensors& tensors() const { return tensors_; }

  // Matrices are numbered by batch item and head. Those that share a B form a group: an array of B
  // that broadcasts an axis, or a packed B of size 1 there, serves all matrices along that axis.
  int64_t groups() const { return (shares_batch_ ? 1 : batch_) * (shares_heads_ ? 1 : heads_); }
  int64_t group_size() const { return (shares_batch_ ? batch_ : 1) * (shares_heads_ ? heads_ : 1); }
  int64_t MatrixOf(int64_t group, int64_t member) const;

  Matrix<const char> A(int64_t matrix) const { return View(tensors_.a, matrix); }
  Matrix<const char> B(int64_t matrix) const { return View(tensors_.b, matrix); }
  // Panel `panel` of a packed B, in the depth block `steps`.
  const char* PackedPanel(int64_t matrix, Range steps, int64_t panel) const;

  // The end of a product that begins at this row and column of C.
  kernels::GemmEnd End(int64_t matrix, int64_t row, int64_t column) const;

  float* sums(int64_t matrix) const {
    return sums_ + matrix * decision_.shape.rows * decision_.sums_stride();
  }
  float* b_block(const Crew& crew) const {
    return b_blocks_ + static_cast<size_t>(crew.b_block()) * decision_.b_block_bytes / 4;
  }
  float* scratch(int worker) const {
    return scratch_ + static_cast<size_t>(worker) * decision_.worker_bytes / 4;
  }

  // Copies rows of op(A) [rows, steps] to `to`, widened and row by row, `stride` floats apart.
  void CopyA(int64_t matrix, Range rows, Range steps, float* to, int64_t stride) const;

 private:
  Matrix<const char> View(const ConstTensor& tensor, int64_t matrix) const;

  const GemmPlan::Decision& decision_;
  const GemmTensors& tensors_;
  int64_t batch_;
  int64_t heads_;
  bool shares_batch_;
  bool shares_heads_;
  float* sums_;
  float* b_blocks_;
  float* scratch_;
};

}  // namespace lanewise::gemm

#endif  // LANEWISE_SRC_GEMM_CALL_H_
