// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What follows from the score function of a request.

#ifndef LANEWISE_SRC_ATTENTION_SCORE_H_
#define LANEWISE_SRC_ATTENTION_SCORE_H_

#include <cmath>
#include <cstdint>

#include "lanewise/attention.h"

namespace lanewise::attention {

// "dot", "bilinear", "additive" or "gaussian"; null for no score.
constexpr const char* ScoreName(AttentionScore score) {
  switch (score) {
    case AttentionScore::kDot:
      return "dot";
    case AttentionScore::kBilinear:
      return "bilinear";
    case AttentionScore::kAdditive:
      return "additive";
    case AttentionScore::kGaussian:
      return "gaussian";
  }
  return nullptr;
}

// `shape` with key_dim and, for additive scores, hidden in place of 0.
inline AttentionShape WithScoreSizes(AttentionShape shape, AttentionScore score) {
  if (shape.key_dim == 0) shape.key_dim = shape.dim;
  if (score == AttentionScore::kAdditive && shape.hidden == 0) shape.hidden = shape.dim;
  return shape;
}

// Length of queries and keys where they meet. `shape` is complete, as above.
inline int64_t ScoreDim(const AttentionShape& shape, AttentionScore score) {
  return score == AttentionScore::kAdditive ? shape.hidden : shape.key_dim;
}

// Whether the queries of a lane group are multiplied by weights.
inline bool ProjectsQueries(const AttentionOptions& options) {
  return options.score == AttentionScore::kBilinear || options.wq;
}

// The square of its reciprocal, the scale of Gaussian scores, is still finite.
inline constexpr float kSmallestBandwidth = 5.5e-20f;

// The factor of the score that the kernel folds into queries, or into w_out.
inline float ScaleOf(const AttentionShape& shape, const AttentionOptions& options) {
  switch (options.score) {
    case AttentionScore::kDot:
      return options.scale.value_or(1.0f / std::sqrt(static_cast<float>(shape.dim)));
    case AttentionScore::kBilinear:
    case AttentionScore::kAdditive:
      break;
    case AttentionScore::kGaussian: {
      const double bandwidth = *options.bandwidth;
      return static_cast<float>(1 / (bandwidth * bandwidth));
    }
  }
  return options.scale.value_or(1.0f);
}

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_SCORE_H_
