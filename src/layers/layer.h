// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a layer holds.

#ifndef LANEWISE_SRC_LAYERS_LAYER_H_
#define LANEWISE_SRC_LAYERS_LAYER_H_

#include <cstdint>
#include <vector>

#include "lanewise/layers.h"

namespace lanewise {

// Keys and values are made by one product, queries by another, so that the same parameters serve
// self- and cross-attention.
struct MultiHeadAttention::Layer {
  MultiHeadShape shape;  // defaults filled in
  Runtime runtime;
  PackedMatrix q;             // [d_model, heads * dim]
  PackedMatrix kv;            // [kv_d_model, 2 * kv_heads * dim]: keys, then values
  PackedMatrix out;           // [heads * dim, d_model]
  std::vector<float> q_bias;  // empty: none
  std::vector<float> kv_bias;
  std::vector<float> out_bias;

  int64_t q_columns() const { return shape.heads * shape.dim; }
  int64_t k_columns() const { return shape.kv_heads * shape.dim; }
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_LAYERS_LAYER_H_
