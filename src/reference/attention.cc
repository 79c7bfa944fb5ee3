// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One row after the other, one key after the other, nothing clever.

#include "src/reference/attention.h"

#include <bit>      // bit_cast
#include <cmath>    // exp, log, ldexp
#include <cstddef>  // size_t
#include <cstdint>  // bits
#include <limits>

namespace lanewise::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. Exact, subnormals included.
double F16ToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude = 0.0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The upper half of an f32.
double BF16ToDouble(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

struct RowIndex {
  int64_t batch;
  int64_t head;
  int64_t row;
};

// `row` becomes row `at` of `tensor`.
void ReadRow(const ConstTensor& tensor, const RowIndex& at, std::vector<double>& row) {
  const Sizes& strides = tensor.strides;
  const int64_t first = at.batch * strides[0] + at.head * strides[1] + at.row * strides[2];
  row.resize(static_cast<size_t>(tensor.sizes[3]));
  for (size_t d = 0; d < row.size(); ++d) {
    const int64_t index = first + static_cast<int64_t>(d);
    switch (tensor.type) {
      case DataType::kF32:
        row[d] = static_cast<const float*>(tensor.data)[index];
        break;
      case DataType::kF16:
        row[d] = F16ToDouble(static_cast<const uint16_t*>(tensor.data)[index]);
        break;
      case DataType::kBF16:
        row[d] = BF16ToDouble(static_cast<const uint16_t*>(tensor.data)[index]);
        break;
      case DataType::kBool:
        row[d] = static_cast<const uint8_t*>(tensor.data)[index] != 0 ? 1.0 : 0.0;
        break;
    }
  }
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

// The factor of q·k.
double Scale(const AttentionOptions& options, int64_t dim) {
  return options.scale ? double{*options.scale} : 1.0 / std::sqrt(static_cast<double>(dim));
}

// May query i of `queries` see key j of `keys`?
bool MaySee(const AttentionOptions& options, int64_t queries, int64_t keys, int64_t i, int64_t j) {
  if (!options.causal) return true;
  int64_t offset = keys - queries;
  if (options.top_left) offset = 0;
  if (options.query_offset) offset = *options.query_offset;
  // Not j <= i + offset, which overflows for extreme offsets.
  return j - i <= offset;
}

// Appends query row `at` to `result`.
void ComputeRow(const AttentionTensors& tensors, const AttentionOptions& options,
                const RowIndex& at, AttentionResult& result) {
  const int64_t keys = tensors.k.sizes[2];
  const int64_t kv_head = at.head / (tensors.q.sizes[1] / tensors.k.sizes[1]);
  const double scale = Scale(options, tensors.q.sizes[3]);
  std::vector<double> q, k, v;
  ReadRow(tensors.q, at, q);

  std::vector<int64_t> seen;
  std::vector<double> scores;
  double max = -kInfinity;
  for (int64_t j = 0; j < keys; ++j) {
    if (!MaySee(options, tensors.q.sizes[2], keys, at.row, j)) continue;
    ReadRow(tensors.k, {at.batch, kv_head, j}, k);
    const double score = scale * Dot(q, k);
    // NaN loses every comparison; it comes back in exp.
    if (score > max) max = score;
    seen.push_back(j);
    scores.push_back(score);
  }

  double sum = 0.0;
  std::vector<double> out(static_cast<size_t>(tensors.v.sizes[3]), 0.0);
  for (size_t n = 0; n < seen.size(); ++n) {
    // A score of -inf has weight 0 even when there is no larger one.
    const double weight = scores[n] == -kInfinity ? 0.0 : std::exp(scores[n] - max);
    sum += weight;
    ReadRow(tensors.v, {at.batch, kv_head, seen[n]}, v);
    for (size_t c = 0; c < out.size(); ++c) out[c] += weight * v[c];
  }

  // No weight at all, whether for lack of keys or because all scores are -inf: zeros.
  for (const double value : out) result.out.push_back(sum == 0.0 ? 0.0 : value / sum);
  result.lse.push_back(max + std::log(sum));
}

}  // namespace

AttentionResult Attention(const AttentionTensors& tensors, const AttentionOptions& options) {
  AttentionResult result;
  for (int64_t b = 0; b < tensors.q.sizes[0]; ++b) {
    for (int64_t h = 0; h < tensors.q.sizes[1]; ++h) {
      for (int64_t i = 0; i < tensors.q.sizes[2]; ++i) {
        ComputeRow(tensors, options, {b, h, i}, result);
      }
    }
  }
  return result;
}

}  // namespace lanewise::reference
