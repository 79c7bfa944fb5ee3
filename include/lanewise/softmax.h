// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and log-sum-exp of rows.

#ifndef LANEWISE_SOFTMAX_H_
#define LANEWISE_SOFTMAX_H_

#include "lanewise/export.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise {

struct SoftmaxOptions {
  // Factor of the inputs. Zero and negative values are honoured; NaN and infinities are errors.
  float scale = 1;

  // Columns that take part: bool, true = takes part. Each of its sizes is that of `in` or 1, which
  // broadcasts. Absent (no data, no sizes): all do.
  ConstTensor mask = {};
};

// Over the columns j of each row of `in`, [a, b, c, columns], that take part:
//
//   s_j   = scale * in_j
//   out_j = exp(s_j - max_i s_i) / Σ_i exp(s_i - max_i s_i)
//
// and exactly 0 for the others. `in` and `out` have the same sizes and are each f32, f16 or bf16,
// with any strides (last stride 1); a stride of 0 broadcasts an input. `out` may be `in` itself,
// with the same type and strides; otherwise the memory between its first and its last element may
// not meet that of an input.
//
// Edges: a column that does not take part has no influence, whatever it holds. A row without
// columns that take part, or of which all s_j are -inf, gives exactly 0. NaN, or an s_j of +inf,
// gives NaN in all columns of that row that take part; an s_j of -inf otherwise has weight 0. A
// size of 0: success, nothing written.
//
// Accuracy: f32 arithmetic. With u = 2^-24, n columns and
// e_j = u * (2 * |s_j| + 4 * (max_i s_i - s_j) + 48), to first order, an element is off by
// e_j + Σ_i out_i e_i + u * (9n/8 + 8) of itself; errors seen are a few u. Elements more than e^86
// below the largest of their row may be 0. Stores to f16 and bf16 round once, to nearest, ties to
// even; subnormals are kept.
//
// A row of the result depends on that row, the scale, the types and the target, and on nothing
// else: threads and the other rows do not change a bit of it.
//
// Cost: one pass over memory for rows that caches hold, three for longer ones (read, read, write).
// Uses up to runtime.threads threads, whole rows each. Allocates nothing with one thread or for
// fewer than 32768 elements; otherwise what it takes to have that many threads.
// Thread-safe.
//
// Errors, all before any byte is written: kInvalidArgument for a null pointer, a type, size or
// stride that does not fit, overlapping output, a scale that is not finite, an unknown target or
// number of threads; kUnsupported for a target that this build or machine cannot do; kOutOfMemory.
//
//   std::vector<float> logits(32 * 50000);
//   lanewise::Tensor rows(logits.data(), {1, 1, 32, 50000});
//   lanewise::Status status = lanewise::Softmax(rows, rows);  // in place
LANEWISE_EXPORT Status Softmax(const ConstTensor& in, const Tensor& out,
                               const SoftmaxOptions& options = {},
                               const Runtime& runtime = DefaultRuntime()) noexcept;

// ln Σ_j exp(s_j) of each row of `in`, over the columns that take part: `out` is f32
// [a, b, c, 1], with memory of its own. Everything else is as for Softmax.
//
// Edges: a row without columns that take part, of which all s_j are -inf, or of no columns at all,
// gives -inf. NaN, or an s_j of +inf, gives NaN.
//
// Accuracy: with w_j the weights of Softmax, off by
// Σ_j w_j e_j + u * (9n/8 + 8 + 4 * (|out| + max_j |s_j|)).
LANEWISE_EXPORT Status LogSumExp(const ConstTensor& in, const Tensor& out,
                                 const SoftmaxOptions& options = {},
                                 const Runtime& runtime = DefaultRuntime()) noexcept;

}  // namespace lanewise

#endif  // LANEWISE_SOFTMAX_H_
