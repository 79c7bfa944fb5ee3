// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/reference/score.h"

#include <algorithm>  // max
#include <cmath>      // tanh
#include <cstddef>    // size_t
#include <cstdint>    // int64_t
#include <limits>

namespace lanewise::reference {
namespace {

// Element (row, column) of a matrix of parameters.
double At(const ConstTensor& matrix, size_t row, size_t column) {
  return static_cast<const float*>(
      matrix.data)[static_cast<int64_t>(row) * matrix.strides[2] + static_cast<int64_t>(column)];
}

double Size(const std::vector<double>& x) { return static_cast<double>(x.size()); }

}  // namespace

void QueryScores::Sum::Add(double term) {
  value += term;
  magnitude += std::abs(term);
}

QueryScores::Sum QueryScores::RowTimes(const ConstTensor& matrix, size_t row,
                                       const std::vector<double>& x) {
  Sum sum;
  for (size_t d = 0; d < x.size(); ++d) sum.Add(At(matrix, row, d) * x[d]);
  return sum;
}

QueryScores::QueryScores(const AttentionTensors& tensors, const AttentionOptions& options,
                         const RowIndex& at)
    : tensors_(tensors), options_(options), scale_(ScaleOf(options, tensors.q.sizes[3])) {
  ReadRow(tensors.q, at, q_);
  if (options.score == AttentionScore::kBilinear) {
    projected_.resize(static_cast<size_t>(tensors.w.sizes[3]));
    for (size_t c = 0; c < projected_.size(); ++c) {
      for (size_t d = 0; d < q_.size(); ++d) projected_[c].Add(q_[d] * At(tensors.w, d, c));
    }
  } else if (options.score == AttentionScore::kAdditive) {
    for (size_t h = 0; h < static_cast<size_t>(tensors.w_out.size); ++h) {
      projected_.push_back(options.wq ? RowTimes(tensors.wq, h, q_) : Sum{q_[h], std::abs(q_[h])});
    }
  }
}

RawScore QueryScores::Of(const std::vector<double>& k) const {
  switch (options_.score) {
    case AttentionScore::kDot:
      return OfDot(k);
    case AttentionScore::kBilinear:
      return OfBilinear(k);
    case AttentionScore::kAdditive:
      return OfAdditive(k);
    case AttentionScore::kGaussian:
      return OfGaussian(k);
  }
  return {};
}

// s = scale * q·k
RawScore QueryScores::OfDot(const std::vector<double>& k) const {
  Sum sum;
  RawScore score;
  for (size_t d = 0; d < q_.size(); ++d) {
    sum.Add(q_[d] * k[d]);
    score.subnormal += std::abs(k[d]);
    score.largest = std::max(score.largest, std::abs(scale_ * q_[d]));
  }
  score.value = scale_ * sum.value;
  score.magnitude = std::abs(scale_) * sum.magnitude;
  score.largest = std::max(score.largest, score.magnitude);
  return score;
}

// s = scale * qᵀ W k
RawScore QueryScores::OfBilinear(const std::vector<double>& k) const {
  RawScore score;
  for (const double value : q_) score.largest = std::max(score.largest, std::abs(scale_ * value));
  for (size_t c = 0; c < k.size(); ++c) {
    const Sum& projected = projected_[c];
    double weights = 0;
    for (size_t d = 0; d < q_.size(); ++d) weights += std::abs(At(tensors_.w, d, c));
    score.value += scale_ * projected.value * k[c];
    score.magnitude += std::abs(scale_ * k[c]) * projected.magnitude;
    score.subnormal += std::abs(k[c]) * (Size(q_) + weights);
    score.largest = std::max(score.largest, std::abs(scale_) * projected.magnitude);
  }
  score.largest = std::max(score.largest, score.magnitude);
  return score;
}

// s = scale * w_outᵀ tanh(W_q q + W_k k); without a matrix the row counts as it is.
RawScore QueryScores::OfAdditive(const std::vector<double>& k) const {
  RawScore score;
  for (size_t h = 0; h < projected_.size(); ++h) {
    const Sum& q = projected_[h];
    const Sum key = options_.wk ? RowTimes(tensors_.wk, h, k) : Sum{k[h], std::abs(k[h])};
    const double weight = scale_ * double{tensors_.w_out.data[h]};
    const double term = weight * std::tanh(q.value + key.value);
    score.value += term;
    score.magnitude += std::abs(term);
    score.projection += std::abs(weight) * ((options_.wq ? Size(q_) + 2 : 1) * q.magnitude +
                                            (options_.wk ? Size(k) + 2 : 1) * key.magnitude);
    score.subnormal += std::abs(weight) * (Size(q_) + Size(k) + 2) + 1;
    score.largest = std::max({score.largest, q.magnitude + key.magnitude, std::abs(weight)});
  }
  score.largest = std::max(score.largest, score.magnitude);
  return score;
}

// s = -‖q - k‖² / (2 bandwidth²); scale is 1 / bandwidth².
RawScore QueryScores::OfGaussian(const std::vector<double>& k) const {
  double distance = 0;
  for (size_t d = 0; d < q_.size(); ++d) distance += (q_[d] - k[d]) * (q_[d] - k[d]);
  RawScore score;
  score.value = -scale_ * distance / 2;
  score.magnitude = scale_ * distance / 2;
  score.subnormal = scale_ * Size(q_) + distance + 1;
  score.largest = std::max(distance, score.magnitude);
  return score;
}

}  // namespace lanewise::reference
