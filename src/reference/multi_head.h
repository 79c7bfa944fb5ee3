// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The multi-head attention layer by definition.

#ifndef LANEWISE_SRC_REFERENCE_MULTI_HEAD_H_
#define LANEWISE_SRC_REFERENCE_MULTI_HEAD_H_

#include <vector>

#include "lanewise/layers.h"

namespace lanewise::reference {

struct MultiHeadResult {
  std::vector<double> out;      // [batch, 1, queries, d_model], dense
  std::vector<double> lse;      // [batch, heads, queries]
  std::vector<double> weights;  // [batch, heads, queries, keys], with options.weights
  // For every element of out: of f32 arithmetic with the largest magnitudes that occur, to first
  // order.
  double tolerance = 0;
};

// What lanewise/layers.h documents, for a shape with its defaults filled in and weights given as q,
// k and v. Projected rows and the results of heads are rounded to f32, as in the layer. x_kv is x
// in self-attention. The caller guarantees that everything fits.
MultiHeadResult MultiHead(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                          const MultiHeadTensors& tensors, const AttentionOptions& options);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_MULTI_HEAD_H_
