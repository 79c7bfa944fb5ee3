// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Error bounds of attention in f32 arithmetic and the comparison against them.

#include "src/reference/tolerance.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

#include "src/reference/half_format.h"
#include "src/reference/score.h"

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

// One addend of a softmax and how far its score may be off.
struct Addend {
  double score;
  double error;
};

// The weights of the addends of a row.
struct RowWeights {
  std::vector<double> p;
  std::vector<double> p_error;  // p_j * w_j
  double largest_score = 0;     // max |s_j|
  double total_error = 0;       // Σ p_error
};

RowWeights Weigh(const std::vector<Addend>& addends, double lse) {
  double highest = -kInfinity;
  for (const Addend& addend : addends) highest = std::max(highest, addend.score);
  RowWeights row;
  for (const Addend& addend : addends) {
    if (addend.score == -kInfinity) {  // weight 0, without error
      row.p.push_back(0);
      row.p_error.push_back(0);
      continue;
    }
    const double below = highest - addend.score;
    // expm1 keeps the bound valid where it is no longer small.
    const double error = addend.error + kRounding * (4 * below + 48);
    const double p = std::exp(addend.score - lse);
    row.p.push_back(p);
    row.p_error.push_back(error < 1 ? p * std::expm1(error) : std::exp(addend.score - lse + error));
    if (std::exp(-below) < kFlushedWeight) row.p_error.back() = std::max(row.p_error.back(), p);
    row.total_error += row.p_error.back();
    row.largest_score = std::max(row.largest_score, std::abs(addend.score));
  }
  return row;
}

// L of a row with `count` addends.
double SumError(size_t count) {
  const double n = static_cast<double>(count);
  return kRounding * (n + n / 8 + 8);
}

// 1 - Σ p_error, which errors are relative to beyond first order.
double Normalisation(const RowWeights& row) { return std::max(1 - row.total_error, 0.5); }

double LseBound(const RowWeights& row, double lse) {
  return row.total_error + SumError(row.p.size()) +
         4 * kRounding * (std::abs(lse) + row.largest_score);
}

double WeightBound(const RowWeights& row, size_t j) {
  const double denominator = row.total_error + SumError(row.p.size());
  if (!std::isfinite(denominator)) return 1.0;
  return std::min((row.p_error[j] + row.p[j] * denominator) / Normalisation(row), 1.0) +
         kSubnormalRounding;
}

// Collects the bounds of the elements of one output row, addend by addend.
class OutBounds {
 public:
  OutBounds(const double* out, size_t columns) : out_(out), columns_(columns) {}

  void Add(double p, double p_error, const std::vector<double>& value) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (std::isinf(value[c]) && p_error >= p) columns_[c].any = true;
      const double distance = std::abs(value[c] - out_[c]);
      columns_[c].weight_part += distance == 0 ? 0 : p_error * distance;
      columns_[c].sum += p * std::abs(value[c]);
      columns_[c].spread = std::max(columns_[c].spread, distance);
    }
    largest_weight_ = std::max(largest_weight_, p);
  }

  void Write(const RowWeights& row, double* bound) const {
    const double n = static_cast<double>(row.p.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (column.any) {
        bound[c] = kAnything;
        continue;
      }
      bound[c] = column.sum >= kLargestSum * largest_weight_
                     ? kInfinity
                     : std::min(column.weight_part / Normalisation(row), column.spread) +
                           SumError(row.p.size()) * (column.sum + std::abs(out_[c])) +
                           (n + 1) * kSubnormalRounding;
    }
  }

 private:
  struct Column {
    double weight_part = 0;
    double sum = 0;     // Σ p_j |v_jc|
    double spread = 0;  // max |v_jc - out_c|, which no weights can exceed
    bool any = false;   // an infinite v whose weight may be 0: any number may come out, or NaN
  };
  const double* out_;
  std::vector<Column> columns_;
  double largest_weight_ = 0;
};

// Of a raw score: the first lines of e_j.
double RawError(const AttentionTensors& tensors, const AttentionOptions& options,
                const RawScore& raw) {
  const double dim = static_cast<double>(tensors.q.sizes[3]);
  const double subnormal = kSubnormalRounding * raw.subnormal;
  switch (options.score) {
    case AttentionScore::kDot:
      return kRounding * (dim + 4) * raw.magnitude + subnormal;
    case AttentionScore::kBilinear: {
      const double key_dim = static_cast<double>(tensors.k.sizes[3]);
      return kRounding * (dim + key_dim + 6) * raw.magnitude + subnormal;
    }
    case AttentionScore::kAdditive: {
      const double hidden = static_cast<double>(tensors.w_out.size);
      return kRounding * ((hidden + 10) * raw.magnitude + raw.projection) + subnormal;
    }
    case AttentionScore::kGaussian:
      return kRounding * (dim + 8) * raw.magnitude + subnormal;
  }
  return kInfinity;
}

// Of what makes the score of a key out of its raw score.
double EditError(const AttentionOptions& options, const SeenKey& key) {
  double error = 0;
  if (const double cap = options.softcap.value_or(0.0F); cap != 0) {
    // The quotient, or 1 / cap, may be subnormal.
    error +=
        kRounding * 12 * std::abs(key.capped) + kSubnormalRounding * cap * (1 + std::abs(key.raw));
  }
  if (options.bias || options.alibi_slopes) {
    error += kRounding * 6 * (std::abs(key.capped) + std::abs(key.bias) + std::abs(key.alibi));
  }
  return error;
}

// The raw scores of a row for the keys it sees.
std::vector<RawScore> RawScores(const AttentionTensors& tensors, const AttentionOptions& options,
                                const RowIndex& at, const std::vector<SeenKey>& seen) {
  const QueryScores scores(tensors, options, at);
  std::vector<RawScore> raw;
  std::vector<double> k;
  for (const SeenKey& key : seen) {
    ReadRow(tensors.k, {at.batch, KvHeadOf(tensors, at.head), key.key}, k);
    raw.push_back(scores.Of(k));
  }
  return raw;
}

// Does f32 arithmetic on the scores of a row overflow?
bool Overflows(const std::vector<RawScore>& raw, const std::vector<SeenKey>& seen) {
  constexpr double kTooLarge = double{FLT_MAX} / 2;
  for (size_t j = 0; j < seen.size(); ++j) {
    const SeenKey& key = seen[j];
    // -FLT_MAX is the lowest bias in use, so that only true overflow counts.
    if (raw[j].largest >= kTooLarge ||
        std::abs(key.capped) + std::abs(key.bias) + std::abs(key.alibi) >=
            double{FLT_MAX} * (1 + kRounding / 2)) {
      return true;
    }
  }
  return false;
}

// The addends of a row: the keys it sees, then the sink if there is one.
std::vector<Addend> AddendsOf(const AttentionTensors& tensors, const AttentionOptions& options,
                              int64_t head, const std::vector<RawScore>& raw,
                              const std::vector<SeenKey>& seen) {
  std::vector<Addend> addends;
  double highest = -kInfinity;
  for (size_t j = 0; j < seen.size(); ++j) {
    const double error = RawError(tensors, options, raw[j]) + EditError(options, seen[j]);
    addends.push_back({seen[j].score, error});
    highest = std::max(highest, seen[j].score);
  }
  if (options.sinks) {
    const double sink = SinkOf(tensors, options, head);
    addends.push_back({sink, 4 * kRounding * std::max(sink - highest, 0.0)});
  }
  return addends;
}

// Where the bounds of one row go. `weights` may be null.
struct RowOutputs {
  const double* expected_out;
  double expected_lse;
  double* out;
  double* lse;
  double* weights;
};

// Bounds one row whose log-sum-exp is finite.
void BoundRow(const AttentionTensors& tensors, const AttentionOptions& options, const RowIndex& at,
              const RowOutputs& outputs) {
  const std::vector<SeenKey> seen = SeenKeys(tensors, options, at);
  const size_t value_dim = static_cast<size_t>(tensors.v.sizes[3]);
  const std::vector<RawScore> raw = RawScores(tensors, options, at, seen);
  if (Overflows(raw, seen)) {
    std::fill_n(outputs.out, value_dim, kInfinity);
    *outputs.lse = kInfinity;
    if (outputs.weights == nullptr) return;
    for (const SeenKey& key : seen) outputs.weights[key.key] = kInfinity;
    return;
  }
  const RowWeights row =
      Weigh(AddendsOf(tensors, options, at.head, raw, seen), outputs.expected_lse);
  OutBounds out(outputs.expected_out, value_dim);
  std::vector<double> value(value_dim, 0.0);
  if (options.sinks) out.Add(0, row.p_error.back(), value);
  for (size_t j = 0; j < seen.size(); ++j) {
    ReadRow(tensors.v, {at.batch, KvHeadOf(tensors, at.head), seen[j].key}, value);
    out.Add(row.p[j], row.p_error[j], value);
    if (outputs.weights != nullptr) outputs.weights[seen[j].key] = WeightBound(row, j);
  }
  out.Write(row, outputs.out);
  for (size_t c = 0; c < value_dim; ++c) {
    if (outputs.out[c] == kAnything) continue;
    outputs.out[c] +=
        StoreError(tensors.out.type, std::abs(outputs.expected_out[c]) + outputs.out[c]);
  }
  *outputs.lse = LseBound(row, outputs.expected_lse);
}

void BoundMergedRow(const std::vector<AttentionPart>& parts, const RowIndex& at,
                    const RowOutputs& outputs) {
  std::vector<Addend> addends;
  std::vector<double> value;
  for (const AttentionPart& part : parts) {
    ReadRow(part.lse, at, value);
    addends.push_back({value[0], 0});
  }
  const RowWeights row = Weigh(addends, outputs.expected_lse);
  OutBounds out(outputs.expected_out, static_cast<size_t>(parts[0].out.sizes[3]));
  for (size_t p = 0; p < parts.size(); ++p) {
    if (addends[p].score == -kInfinity) continue;
    ReadRow(parts[p].out, at, value);
    out.Add(row.p[p], row.p_error[p], value);
  }
  out.Write(row, outputs.out);
  *outputs.lse = LseBound(row, outputs.expected_lse);
}

// Bounds of `expected`, whose out has `sizes`, by bound_row(row, outputs). Rows without a key or
// with NaN are exact or not a number: 0.
template <typename BoundOneRow>
AttentionTolerance BoundRows(const Sizes& sizes, const AttentionResult& expected,
                             const BoundOneRow& bound_row) {
  AttentionTolerance bounds;
  bounds.out.assign(expected.out.size(), 0);
  bounds.lse.assign(expected.lse.size(), 0);
  bounds.weights.assign(expected.weights.size(), 0);
  const size_t columns = static_cast<size_t>(sizes[3]);
  const size_t keys = expected.lse.empty() ? 0 : expected.weights.size() / expected.lse.size();
  size_t n = 0;
  for (int64_t b = 0; b < sizes[0]; ++b) {
    for (int64_t h = 0; h < sizes[1]; ++h) {
      for (int64_t i = 0; i < sizes[2]; ++i, ++n) {
        if (!std::isfinite(expected.lse[n])) continue;
        bound_row(RowIndex{b, h, i},
                  RowOutputs{expected.out.data() + n * columns, expected.lse[n],
                             bounds.out.data() + n * columns, &bounds.lse[n],
                             keys == 0 ? nullptr : bounds.weights.data() + n * keys});
      }
    }
  }
  return bounds;
}

double ErrorOf(double actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : kInfinity;
  if (actual == expected) return 0;
  if (std::isinf(expected) || !std::isfinite(actual)) return kInfinity;
  return std::abs(actual - expected);
}

// Is the infinity found where a number is expected within the bound? Numbers from half a step below
// the end of the type round to it, and that half step is part of the bound.
bool IsRoundedToInfinity(DataType type, double actual, double expected, double tolerance) {
  const HalfFormat* format = HalfFormatOf(type);
  return format != nullptr && std::isinf(actual) && std::isfinite(expected) &&
         std::signbit(actual) == std::signbit(expected) &&
         std::abs(expected) + tolerance >= format->end;
}

double RatioOf(const Comparison::Element& element) {
  if (element.error == 0 || element.tolerance == kAnything) return 0;
  // A non-finite expectation has no tolerance: whatever differs from it is a failure.
  if (!std::isfinite(element.expected)) return kInfinity;
  if (element.tolerance == kInfinity) return 0;
  const double ratio = element.error / element.tolerance;
  return std::isnan(ratio) ? kInfinity : ratio;
}

}  // namespace

AttentionTolerance Tolerance(const AttentionTensors& tensors, const AttentionOptions& options,
                             const AttentionResult& expected) {
  Sizes sizes = tensors.q.sizes;
  sizes[3] = tensors.v.sizes[3];
  return BoundRows(sizes, expected, [&](const RowIndex& at, const RowOutputs& outputs) {
    BoundRow(tensors, options, at, outputs);
  });
}

AttentionTolerance MergeTolerance(const std::vector<AttentionPart>& parts,
                                  const AttentionResult& expected) {
  return BoundRows(
      parts[0].out.sizes, expected,
      [&](const RowIndex& at, const RowOutputs& outputs) { BoundMergedRow(parts, at, outputs); });
}

Comparison Compare(const ConstTensor& actual, const std::vector<double>& expected,
                   const std::vector<double>& tolerance) {
  Comparison comparison;
  const Sizes& sizes = actual.sizes;
  size_t at = 0;
  std::vector<double> row;
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) {
        ReadRow(actual, {a, b, c}, row);
        for (int64_t d = 0; d < sizes[3]; ++d, ++at) {
          Comparison::Element element;
          element.index = {a, b, c, d};
          element.actual = row[static_cast<size_t>(d)];
          element.expected = expected[at];
          element.tolerance = tolerance[at];
          element.error =
              IsRoundedToInfinity(actual.type, element.actual, element.expected, element.tolerance)
                  ? 0
                  : ErrorOf(element.actual, element.expected);
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
