// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "src/reference/attention.h"
#include "src/reference/half_format.h"

namespace lanewise::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 0x1p-24;
constexpr double kSubnormalRounding = 0x1p-149;
// Relative to the largest element of a row; smaller ones may be flushed.
const double kFlushed = std::exp(-86.0);

bool TakesPart(const ConstTensor& mask, const RowIndex& at, int64_t column) {
  if (mask.data == nullptr) return true;
  const int64_t index[4] = {at.batch, at.head, at.row, column};
  int64_t offset = 0;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (mask.sizes[axis] != 1) offset += index[axis] * mask.strides[axis];
  }
  return static_cast<const uint8_t*>(mask.data)[offset] != 0;
}

// Appends a row to `result`. `scores` are those of the columns that take part, `seen` says which.
void AddRow(const std::vector<double>& scores, const std::vector<bool>& seen, DataType out_type,
            SoftmaxResult& result) {
  double highest = -kInfinity;
  double magnitude = 0;
  bool is_nan = false;
  for (const double s : scores) {
    is_nan = is_nan || std::isnan(s) || s == kInfinity;
    highest = std::max(highest, s);
    if (std::isfinite(s)) magnitude = std::max(magnitude, std::abs(s));
  }
  double sum = 0;
  for (const double s : scores) sum += s == -kInfinity ? 0 : std::exp(s - highest);
  const double lse = is_nan     ? std::numeric_limits<double>::quiet_NaN()
                     : sum == 0 ? -kInfinity
                                : highest + std::log(sum);

  const double n = static_cast<double>(seen.size());
  const auto error_of = [&](double s) {
    return kRounding * (2 * std::abs(s) + 4 * (highest - s) + 48);
  };
  double sum_error = kRounding * (9 * n / 8 + 8);
  for (const double s : scores) {
    if (s != -kInfinity && !is_nan) {
      const double p = std::exp(s - lse);
      sum_error += highest - s > 86 ? p : p * error_of(s);
    }
  }
  size_t next = 0;
  for (const bool takes_part : seen) {
    const double s = takes_part ? scores[next++] : -kInfinity;
    const bool has_weight = takes_part && (is_nan || s != -kInfinity);
    const double p = has_weight ? std::exp(s - lse) : 0.0;
    // expm1 keeps the bound valid where it is no longer small.
    double bound = p == 0 ? 0 : p * std::expm1(error_of(s) + sum_error) + kSubnormalRounding;
    if (has_weight && std::exp(s - highest) < kFlushed) bound = std::max(bound, p);
    result.out.push_back(is_nan && takes_part ? lse : p);
    result.out_tolerance.push_back(bound + (p == 0 ? 0 : StoreError(out_type, p + bound)));
  }
  result.lse.push_back(lse);
  result.lse_tolerance.push_back(sum_error + 4 * kRounding * (std::abs(lse) + magnitude));
}

}  // namespace

SoftmaxResult Softmax(const ConstTensor& in, const SoftmaxOptions& options, DataType out_type) {
  SoftmaxResult result;
  std::vector<double> row;
  for (int64_t a = 0; a < in.sizes[0]; ++a) {
    for (int64_t b = 0; b < in.sizes[1]; ++b) {
      for (int64_t c = 0; c < in.sizes[2]; ++c) {
        ReadRow(in, {a, b, c}, row);
        std::vector<double> scores;
        std::vector<bool> seen;
        for (int64_t j = 0; j < in.sizes[3]; ++j) {
          seen.push_back(TakesPart(options.mask, {a, b, c}, j));
          if (seen.back()) {
            scores.push_back(double{options.scale} * row[static_cast<size_t>(j)]);
          }
        }
        AddRow(scores, seen, out_type, result);
      }
    }
  }
  return result;
}

}  // namespace lanewise::reference
