// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/reference/multi_head.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "src/reference/attention.h"
#include "src/reference/gemm.h"
#include "src/reference/tolerance.h"

namespace lanewise::reference {
namespace {

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

std::vector<float> Rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Rows [items, rows, heads * dim] as [items, heads, rows, dim].
ConstTensor Heads(const std::vector<float>& rows, const ConstTensor& x, int64_t heads,
                  int64_t dim) {
  const int64_t width = heads * dim;
  return {rows.data(), {x.sizes[0], heads, x.sizes[2], dim}, {x.sizes[2] * width, dim, width, 1}};
}

// x times the transposed weights, plus bias: [items, rows, outputs].
GemmResult Project(const ConstTensor& x, const ConstTensor& weights, const ArrayView<float>& bias) {
  GemmTensors tensors;
  tensors.a = x;
  tensors.b = weights;
  tensors.b.sizes = {x.sizes[0], 1, weights.sizes[2], weights.sizes[3]};
  tensors.b.strides[0] = 0;
  tensors.c.sizes = {x.sizes[0], 1, x.sizes[2], weights.sizes[2]};
  tensors.bias = bias;
  GemmOptions options;
  options.transpose_b = true;
  options.bias = bias.data != nullptr;
  return reference::Gemm(tensors, options);
}

// The largest Σ|w| of a row.
double LargestRowSum(const ConstTensor& weights) {
  double largest = 0;
  std::vector<double> row;
  for (int64_t i = 0; i < weights.sizes[2]; ++i) {
    ReadRow(weights, {0, 0, i}, row);
    double sum = 0;
    for (const double w : row) sum += std::abs(w);
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

MultiHeadResult MultiHead(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                          const MultiHeadTensors& tensors, const AttentionOptions& options) {
  const ConstTensor& x = tensors.x;
  const ConstTensor& x_kv = tensors.x_kv.data == nullptr ? x : tensors.x_kv;
  const GemmResult q = Project(x, weights.q, weights.q_bias);
  const GemmResult k = Project(x_kv, weights.k, weights.k_bias);
  const GemmResult v = Project(x_kv, weights.v, weights.v_bias);
  const std::vector<float> q_rows = Rounded(q.c);
  const std::vector<float> k_rows = Rounded(k.c);
  const std::vector<float> v_rows = Rounded(v.c);

  AttentionTensors inner = tensors.attention;
  inner.q = Heads(q_rows, x, shape.heads, shape.dim);
  inner.k = Heads(k_rows, x_kv, shape.kv_heads, shape.dim);
  inner.v = Heads(v_rows, x_kv, shape.kv_heads, shape.dim);
  const AttentionResult attention = reference::Attention(inner, options);
  const AttentionTolerance attention_tolerance = Tolerance(inner, options, attention);

  // [items, heads, rows, dim] to [items, rows, heads * dim].
  std::vector<float> heads(attention.out.size());
  size_t from = 0;
  for (int64_t item = 0; item < x.sizes[0]; ++item) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t row = 0; row < x.sizes[2]; ++row) {
        for (int64_t d = 0; d < shape.dim; ++d) {
          const int64_t to = ((item * x.sizes[2] + row) * shape.heads + h) * shape.dim + d;
          heads[static_cast<size_t>(to)] = static_cast<float>(attention.out[from++]);
        }
      }
    }
  }
  const ConstTensor concatenated(heads.data(),
                                 {x.sizes[0], 1, x.sizes[2], shape.heads * shape.dim});
  GemmResult out = Project(concatenated, weights.out, weights.out_bias);

  // How far a score is off for queries and keys that are off, and what that does to a weight.
  const double score_error =
      std::abs(ScaleOf(options, shape.dim)) * static_cast<double>(shape.dim) *
      (Largest(q.c) * Largest(k.tolerance) + Largest(k.c) * Largest(q.tolerance));
  const double head_error = std::expm1(2 * score_error) * 2 * Largest(v.c) + Largest(v.tolerance) +
                            Largest(attention_tolerance.out);
  MultiHeadResult result;
  result.tolerance = LargestRowSum(weights.out) * head_error + Largest(out.tolerance);
  result.out = std::move(out.c);
  result.lse = attention.lse;
  result.weights = attention.weights;
  return result;
}

}  // namespace lanewise::reference
