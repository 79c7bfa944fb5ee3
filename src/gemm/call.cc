// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/call.h"

#include "src/core/element_bytes.h"
#include "src/gemm/packed_matrix.h"

namespace lanewise::gemm {

Call::Call(const GemmPlan::Decision& decision, const GemmTensors& tensors, void* workspace)
    : decision_(decision),
      tensors_(tensors),
      batch_(decision.shape.batch),
      heads_(decision.shape.heads) {
  if (decision.options.packed_b) {
    const PackedMatrix::Layout& layout = *tensors.packed_b->layout();
    shares_batch_ = layout.batch == 1;
    shares_heads_ = layout.heads == 1;
  } else {
    shares_batch_ = batch_ == 1 || tensors.b.strides[0] == 0;
    shares_heads_ = heads_ == 1 || tensors.b.strides[1] == 0;
  }
  char* const memory = static_cast<char*>(workspace);
  sums_ = reinterpret_cast<float*>(memory);
  b_blocks_ = reinterpret_cast<float*>(memory + decision.sums_bytes);
  const size_t shared =
      decision.sums_bytes + decision.b_block_bytes * static_cast<size_t>(decision.b_blocks);
  scratch_ = reinterpret_cast<float*>(memory + shared);
}

int64_t Call::MatrixOf(int64_t group, int64_t member) const {
  const int64_t member_heads = shares_heads_ ? heads_ : 1;
  const int64_t group_heads = heads_ / member_heads;
  const int64_t batch = shares_batch_ ? member / member_heads : group / group_heads;
  const int64_t head = shares_heads_ ? member % member_heads : group % group_heads;
  return batch * heads_ + head;
}

Matrix<const char> Call::View(const ConstTensor& tensor, int64_t matrix) const {
  const int64_t bytes = core::ElementBytes(tensor.type);
  const int64_t offset = matrix / heads_ * tensor.strides[0] + matrix % heads_ * tensor.strides[1];
  return {static_cast<const char*>(tensor.data) + offset * bytes, tensor.strides[2] * bytes, bytes};
}

const char* Call::PackedPanel(int64_t matrix, Range steps, int64_t panel) const {
  const PackedMatrix::Layout& layout = *tensors_.packed_b->layout();
  const int64_t batch = layout.batch == 1 ? 0 : matrix / heads_;
  const int64_t head = layout.heads == 1 ? 0 : matrix % heads_;
  return layout.Panel(batch * layout.heads + head, steps.begin, steps.size, panel);
}

kernels::GemmEnd Call::End(int64_t matrix, int64_t row, int64_t column) const {
  const GemmOptions& options = decision_.options;
  kernels::GemmEnd end = {};
  end.c = const_cast<char*>(View(tensors_.c, matrix).At(row, column));
  end.c_stride = tensors_.c.strides[2];
  end.c_type = decision_.shape.c_type;
  end.alpha = options.alpha;
  end.beta = options.beta;
  if (options.bias) end.bias = tensors_.bias.data + column;
  if (options.residual) {
    end.residual = View(tensors_.residual, matrix).At(row, column);
    end.residual_stride = tensors_.residual.strides[2];
  }
  return end;
}

void Call::CopyA(int64_t matrix, Range rows, Range steps, float* to, int64_t stride) const {
  const Matrix<const char> a = A(matrix);
  const int64_t a_stride = tensors_.a.strides[2];
  if (decision_.options.transpose_a) {
    decision_.a_moves.transpose({a.At(steps.begin, rows.begin), a_stride,
                                 static_cast<size_t>(steps.size), static_cast<size_t>(rows.size),
                                 to, stride});
  } else {
    decision_.copy_a({a.At(rows.begin, steps.begin), a_stride, to, stride,
                      static_cast<size_t>(rows.size), static_cast<size_t>(steps.size)});
  }
}

}  // namespace lanewise::gemm
