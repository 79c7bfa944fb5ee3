// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/attention.h"

#include <vector>

#include "lanewise/attention.h"
#include "src/c_api/boundary.h"

struct lanewise_plan {
  lanewise::AttentionPlan plan;
};

namespace lanewise::c_api {

static_assert(LANEWISE_UNLIMITED == kUnlimited);
static_assert(LANEWISE_SCORE_DOT == static_cast<int>(AttentionScore::kDot));
static_assert(LANEWISE_SCORE_BILINEAR == static_cast<int>(AttentionScore::kBilinear));
static_assert(LANEWISE_SCORE_ADDITIVE == static_cast<int>(AttentionScore::kAdditive));
static_assert(LANEWISE_SCORE_GAUSSIAN == static_cast<int>(AttentionScore::kGaussian));

AttentionOptions FromC(const lanewise_attention_options* options) {
  AttentionOptions result;
  if (options == nullptr) return result;
  result.score = static_cast<AttentionScore>(options->score);
  if (options->has_scale) result.scale = options->scale;
  if (options->has_bandwidth) result.bandwidth = options->bandwidth;
  result.wq = options->wq;
  result.wk = options->wk;
  result.causal = options->causal;
  result.top_left = options->top_left;
  if (options->has_query_offset) result.query_offset = options->query_offset;
  result.window = {options->window_left, options->window_right};
  if (options->has_softcap) result.softcap = options->softcap;
  result.mask = options->mask;
  result.bias = options->bias;
  result.alibi_slopes = options->alibi_slopes;
  result.sinks = options->sinks;
  result.kv_len = options->kv_len;
  result.kv_first = options->kv_first;
  result.paged = options->paged;
  result.ragged = options->ragged;
  result.lse = options->lse;
  result.weights = options->weights;
  return result;
}

AttentionTensors FromC(const lanewise_attention_tensors& tensors) {
  AttentionTensors result;
  result.q = FromC(tensors.q);
  result.k = FromC(tensors.k);
  result.v = FromC(tensors.v);
  result.out = FromC(tensors.out);
  result.lse = FromC(tensors.lse);
  result.weights = FromC(tensors.weights);
  result.mask = FromC(tensors.mask);
  result.bias = FromC(tensors.bias);
  result.alibi_slopes = FromC(tensors.alibi_slopes);
  result.sinks = FromC(tensors.sinks);
  result.kv_len = FromC(tensors.kv_len);
  result.kv_first = FromC(tensors.kv_first);
  result.page_table = FromC(tensors.page_table);
  result.q_offsets = FromC(tensors.q_offsets);
  result.k_offsets = FromC(tensors.k_offsets);
  result.w = FromC(tensors.w);
  result.wq = FromC(tensors.wq);
  result.wk = FromC(tensors.wk);
  result.w_out = FromC(tensors.w_out);
  return result;
}

}  // namespace lanewise::c_api

namespace {

using lanewise::c_api::Call;
using lanewise::c_api::Create;
using lanewise::c_api::FromC;

lanewise::AttentionShape FromC(const lanewise_attention_shape& shape) {
  lanewise::AttentionShape result;
  result.batch = shape.batch;
  result.heads = shape.heads;
  result.kv_heads = shape.kv_heads;
  result.queries = shape.queries;
  result.keys = shape.keys;
  result.dim = shape.dim;
  result.value_dim = shape.value_dim;
  result.key_dim = shape.key_dim;
  result.hidden = shape.hidden;
  result.q_type = FromC(shape.q_type);
  result.k_type = FromC(shape.k_type);
  result.v_type = FromC(shape.v_type);
  result.out_type = FromC(shape.out_type);
  return result;
}

}  // namespace

lanewise_status lanewise_attention_shape_init(lanewise_attention_shape* shape) {
  if (shape == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *shape = {};
  shape->batch = shape->heads = shape->kv_heads = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_attention_options_init(lanewise_attention_options* options) {
  if (options == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *options = {};
  options->window_left = options->window_right = LANEWISE_UNLIMITED;
  return LANEWISE_OK;
}

lanewise_status lanewise_plan_create(const lanewise_attention_shape* shape,
                                     const lanewise_attention_options* options,
                                     const lanewise_runtime* runtime, lanewise_plan** plan,
                                     lanewise_error* error) {
  return Create(plan, {{"shape", shape}, {"plan", plan}}, error, [&] {
    return lanewise::PlanAttention(FromC(*shape), FromC(options), FromC(runtime));
  });
}

lanewise_status lanewise_plan_destroy(lanewise_plan* plan) {
  delete plan;
  return LANEWISE_OK;
}

lanewise_status lanewise_plan_workspace_bytes(const lanewise_plan* plan, size_t* bytes) {
  return lanewise::c_api::WorkspaceBytes(plan, bytes);
}

lanewise_status lanewise_plan_run(const lanewise_plan* plan,
                                  const lanewise_attention_tensors* tensors,
                                  lanewise_workspace* workspace, lanewise_error* error) {
  return Call(error, {{"plan", plan}, {"tensors", tensors}, {"workspace", workspace}},
              [&] { return plan->plan.Run(FromC(*tensors), workspace->workspace); });
}

lanewise_status lanewise_plan_explain(const lanewise_plan* plan, char* text, size_t capacity,
                                      size_t* length, lanewise_error* error) {
  return lanewise::c_api::Explain(plan, {text, capacity, length}, error);
}

lanewise_status lanewise_attention(const lanewise_attention_tensors* tensors,
                                   const lanewise_attention_options* options,
                                   const lanewise_runtime* runtime, lanewise_error* error) {
  return Call(error, {{"tensors", tensors}},
              [&] { return lanewise::Attention(FromC(*tensors), FromC(options), FromC(runtime)); });
}

lanewise_status lanewise_merge_attention(const lanewise_attention_part* parts, int64_t part_count,
                                         const lanewise_tensor* out, const lanewise_tensor* lse,
                                         lanewise_error* error) {
  return Call(error, {{"parts", parts}, {"out", out}}, [&] {
    std::vector<lanewise::AttentionPart> list;
    if (part_count > 0) list.resize(static_cast<size_t>(part_count));
    for (size_t i = 0; i < list.size(); ++i) list[i] = {FromC(parts[i].out), FromC(parts[i].lse)};
    return lanewise::MergeAttention(list.data(), part_count, FromC(*out),
                                    lse == nullptr ? lanewise::Tensor() : FromC(*lse));
  });
}
