// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The score functions by their definitions (lanewise::AttentionScore), before softcap and what
// follows it.

#ifndef LANEWISE_SRC_REFERENCE_SCORE_H_
#define LANEWISE_SRC_REFERENCE_SCORE_H_

#include <cstddef>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/attention.h"

namespace lanewise::reference {

// A raw score, and what bounds the rounding errors of f32 arithmetic on its way (tolerance.h).
struct RawScore {
  double value = 0;
  double magnitude = 0;   // sum of the magnitudes of its terms
  double projection = 0;  // of additive scores: what errors of the projected rows make
  double subnormal = 0;   // what errors of the smallest subnormal in rounded factors make
  double largest = 0;     // the largest magnitude of an intermediate result
};

// The score function of one query with its parameters.
class QueryScores {
 public:
  // Of query row `at`.
  QueryScores(const AttentionTensors& tensors, const AttentionOptions& options, const RowIndex& at);

  // With one key row.
  RawScore Of(const std::vector<double>& k) const;

 private:
  RawScore OfDot(const std::vector<double>& k) const;
  RawScore OfBilinear(const std::vector<double>& k) const;
  RawScore OfAdditive(const std::vector<double>& k) const;
  RawScore OfGaussian(const std::vector<double>& k) const;

  // A sum, and the sum of the magnitudes of its terms.
  struct Sum {
    double value = 0;
    double magnitude = 0;

    void Add(double term);
  };

  // Row `row` of a matrix times `x`.
  static Sum RowTimes(const ConstTensor& matrix, size_t row, const std::vector<double>& x);

  const AttentionTensors& tensors_;
  const AttentionOptions& options_;
  double scale_;
  std::vector<double> q_;
  std::vector<Sum> projected_;  // bilinear: qᵀ W; additive: W_q q, or q
};

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_SCORE_H_
