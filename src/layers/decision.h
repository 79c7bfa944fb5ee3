// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a plan of a layer holds: the plans of its steps, and where their results lie.

#ifndef LANEWISE_SRC_LAYERS_DECISION_H_
#define LANEWISE_SRC_LAYERS_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lanewise/layers.h"
#include "src/kernels/convert.h"
#include "src/layers/layer.h"
#include "src/parallel/parallel.h"

namespace lanewise {
namespace layers {

// Rows of f32 in the workspace.
struct ProjectedRows {
  size_t offset = 0;   // bytes from its beginning
  int64_t stride = 0;  // floats from one row to the next
};

// The workspace, part by part.
struct WorkspaceLayout {
  size_t staged = 0;    // offset of rows of x, x_kv or out that do not lie evenly, one at a time
  ProjectedRows q;      // [items * queries, heads * dim]
  ProjectedRows kv;     // [items * keys, 2 * kv_heads * dim]: keys, then values
  ProjectedRows heads;  // [items * queries, heads * dim]: the results of all heads
  size_t inner = 0;     // offset of the workspace of a step
  size_t size_bytes = 0;
};

// The plans of the steps.
struct Steps {
  GemmPlan q;
  GemmPlan kv;
  AttentionPlan attention;
  GemmPlan out;
};

}  // namespace layers

struct MultiHeadPlan::Decision {
  Decision(layers::Steps steps_in, int threads) : steps(std::move(steps_in)), team(threads) {}

  std::shared_ptr<const MultiHeadAttention::Layer> layer;
  MultiHeadCall call;  // `keys` and `x_kv_type` also without `cross`
  bool ragged = false;
  layers::Steps steps;
  layers::WorkspaceLayout layout;
  parallel::Team team;  // for staging rows
  int64_t target_id = 0;

  // Of the arrays: sequences of a ragged batch are one item.
  int64_t items() const { return ragged ? 1 : call.batch; }
};

}  // namespace lanewise

#endif  // LANEWISE_SRC_LAYERS_DECISION_H_
