// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Error bounds of f32 attention and the comparison against them.

#include "src/reference/tolerance.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

namespace lanewise::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Half the distance from 1 to the next float, the largest relative rounding error.
constexpr double kRounding = 0x1p-24;
// The largest error of rounding to a subnormal float.
constexpr double kSubnormalRounding = 0x1p-149;
// Relative to the largest weight of a row. Two powers of e above the point where exp is flushed.
const double kFlushedWeight = std::exp(-86.0);
// Sums of weights times values stay this factor below the overflow of f32, since the running
// maximum may lag behind the true one.
constexpr double kLargestSum = double{FLT_MAX} / 0x1p16;

// Keys begin <= j < end are visible.
struct KeyRange {
  int64_t begin;
  int64_t end;
};

KeyRange VisibleKeys(const AttentionOptions& options, int64_t queries, int64_t keys, int64_t i) {
  if (!options.causal) return {0, keys};
  const int64_t offset = options.query_offset.value_or(options.top_left ? 0 : keys - queries);
  // position = i + offset may leave 64 bits; end = position + 1 within [0, keys] does not.
  if (offset >= keys) return {0, keys};
  return {0, std::clamp(i + offset + 1, int64_t{0}, keys)};
}

const float* Row(const ConstTensor& tensor, int64_t a, int64_t b, int64_t c) {
  return static_cast<const float*>(tensor.data) + a * tensor.strides[0] + b * tensor.strides[1] +
         c * tensor.strides[2];
}

// What is known of the scores of one row.
struct RowWeights {
  std::vector<double> p;        // weight of each visible key
  std::vector<double> p_error;  // p_j * w_j
  double largest_score = 0;     // max |s_j|
  double largest_weight = 0;    // max p_j
  double total_error = 0;       // Σ p_error
  bool overflows = false;
};

// The weights of the keys in `range`, of one batch item and head, for one query.
RowWeights WeighRow(const float* q, const ConstTensor& k, const Sizes& key_index, double scale,
                    double lse, KeyRange range) {
  const int64_t dim = k.sizes[3];
  std::vector<double> score;
  std::vector<double> relative;  // the part of w_j that does not need the maximum
  double highest = -kInfinity;
  RowWeights row;
  for (int64_t j = range.begin; j < range.end; ++j) {
    const float* key = Row(k, key_index[0], key_index[1], j);
    double s = 0;
    double magnitude = 0;
    double key_norm = 0;
    for (int64_t d = 0; d < dim; ++d) {
      const double product = scale * double{q[d]} * double{key[d]};
      s += product;
      magnitude += std::abs(product);
      key_norm += std::abs(double{key[d]});
    }
    row.overflows = row.overflows || magnitude >= double{FLT_MAX} / 2;
    score.push_back(s);
    relative.push_back(kRounding * ((static_cast<double>(dim) + 4) * magnitude + 48) +
                       kSubnormalRounding * key_norm);
    highest = std::max(highest, s);
    if (std::isfinite(s)) row.largest_score = std::max(row.largest_score, std::abs(s));
  }
  for (int64_t d = 0; d < dim; ++d) {
    row.overflows = row.overflows || std::abs(scale * double{q[d]}) >= double{FLT_MAX} / 2;
  }
  row.p.resize(score.size());
  row.p_error.resize(score.size());
  for (size_t j = 0; j < score.size(); ++j) {
    if (score[j] == -kInfinity) continue;  // weight 0, without error
    row.p[j] = std::exp(score[j] - lse);
    const double below = highest - score[j];
    // expm1 keeps the bound valid where it is no longer small.
    const double w =
        std::exp(-below) < kFlushedWeight ? 1.0 : std::expm1(relative[j] + kRounding * 4 * below);
    row.p_error[j] = row.p[j] * w;
    row.total_error += row.p_error[j];
    row.largest_weight = std::max(row.largest_weight, row.p[j]);
  }
  return row;
}

// The bounds of the elements of one output row.
void BoundRow(const RowWeights& row, const ConstTensor& v, const Sizes& value_index, KeyRange range,
              const double* out, double* bound) {
  const double n = static_cast<double>(range.end - range.begin);
  const double length = kRounding * (n + n / 8 + 8);
  const size_t value_dim = static_cast<size_t>(v.sizes[3]);
  std::vector<double> weight_part(value_dim);
  std::vector<double> sum(value_dim);     // Σ p_j |v_jc|
  std::vector<double> spread(value_dim);  // max |v_jc - out_c|, which no weights can exceed
  for (int64_t j = range.begin; j < range.end; ++j) {
    const float* value = Row(v, value_index[0], value_index[1], j);
    const size_t at = static_cast<size_t>(j - range.begin);
    for (size_t c = 0; c < value_dim; ++c) {
      const double distance = std::abs(double{value[c]} - out[c]);
      weight_part[c] += row.p_error[at] * distance;
      sum[c] += row.p[at] * std::abs(double{value[c]});
      spread[c] = std::max(spread[c], distance);
    }
  }
  // Relative to Σ p_j = 1, the sum of the weights may be off by total_error.
  const double normalisation = std::max(1 - row.total_error, 0.5);
  for (size_t c = 0; c < value_dim; ++c) {
    if (row.overflows || sum[c] / row.largest_weight >= kLargestSum) {
      bound[c] = kInfinity;
      continue;
    }
    bound[c] = std::min(weight_part[c] / normalisation, spread[c]) +
               length * (sum[c] + std::abs(out[c])) + (n + 1) * kSubnormalRounding;
  }
}

double ErrorOf(double actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : kInfinity;
  if (actual == expected) return 0;
  if (std::isinf(expected) || !std::isfinite(actual)) return kInfinity;
  return std::abs(actual - expected);
}

double RatioOf(const Comparison::Element& element) {
  if (element.error == 0) return 0;
  // A non-finite expectation has no tolerance: whatever differs from it is a failure.
  if (!std::isfinite(element.expected)) return kInfinity;
  if (element.tolerance == kInfinity) return 0;
  const double ratio = element.error / element.tolerance;
  return std::isnan(ratio) ? kInfinity : ratio;
}

}  // namespace

AttentionTolerance Tolerance(const AttentionTensors& tensors, const AttentionOptions& options,
                             const AttentionResult& expected) {
  const Sizes& q_sizes = tensors.q.sizes;
  const int64_t keys = tensors.k.sizes[2];
  const size_t value_dim = static_cast<size_t>(tensors.v.sizes[3]);
  // The scale is itself a float, rounded once.
  const double scale =
      options.scale ? double{*options.scale} : 1 / std::sqrt(static_cast<double>(q_sizes[3]));
  AttentionTolerance bounds;
  bounds.out.assign(expected.out.size(), 0);
  bounds.lse.assign(expected.lse.size(), 0);
  size_t at = 0;
  for (int64_t b = 0; b < q_sizes[0]; ++b) {
    for (int64_t h = 0; h < q_sizes[1]; ++h) {
      const Sizes kv_index = {b, h / (q_sizes[1] / tensors.k.sizes[1]), 0, 0};
      for (int64_t i = 0; i < q_sizes[2]; ++i, ++at) {
        const double lse = expected.lse[at];
        // No key, or NaN: the result is exact or not a number.
        if (!std::isfinite(lse)) continue;
        const KeyRange range = VisibleKeys(options, q_sizes[2], keys, i);
        const RowWeights row =
            WeighRow(Row(tensors.q, b, h, i), tensors.k, kv_index, scale, lse, range);
        BoundRow(row, tensors.v, kv_index, range, expected.out.data() + at * value_dim,
                 bounds.out.data() + at * value_dim);
        const double n = static_cast<double>(range.end - range.begin);
        bounds.lse[at] = row.overflows ? kInfinity
                                       : row.total_error + kRounding * (n + n / 8 + 8) +
                                             4 * kRounding * (std::abs(lse) + row.largest_score);
      }
    }
  }
  return bounds;
}

Comparison Compare(const ConstTensor& actual, const std::vector<double>& expected,
                   const std::vector<double>& tolerance) {
  Comparison comparison;
  const Sizes& sizes = actual.sizes;
  size_t at = 0;
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) {
        const float* row = sizes[3] > 0 ? Row(actual, a, b, c) : nullptr;
        for (int64_t d = 0; d < sizes[3]; ++d, ++at) {
          Comparison::Element element;
          element.index = {a, b, c, d};
          element.actual = double{row[d]};
          element.expected = expected[at];
          element.error = ErrorOf(element.actual, element.expected);
          element.tolerance = tolerance[at];
          const double ratio = RatioOf(element);
          if (comparison.count == 0 || element.error > comparison.largest.error) {
            comparison.largest = element;
          }
          if (comparison.count == 0 || ratio > comparison.worst_ratio) {
            comparison.worst = element;
            comparison.worst_ratio = ratio;
          }
          if (ratio > 1) ++comparison.failures;
          ++comparison.count;
        }
      }
    }
  }
  return comparison;
}

std::string Describe(const Comparison::Element& element) {
  char text[320];
  std::snprintf(
      text, sizeof(text),
      "element [%lld, %lld, %lld, %lld] is %.9g, expected %.9g: error %.3g, tolerance %.3g",
      static_cast<long long>(element.index[0]), static_cast<long long>(element.index[1]),
      static_cast<long long>(element.index[2]), static_cast<long long>(element.index[3]),
      element.actual, element.expected, element.error, element.tolerance);
  return text;
}

}  // namespace lanewise::reference
