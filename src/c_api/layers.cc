// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/layers.h"

#include "lanewise/layers.h"
#include "src/c_api/boundary.h"

struct lanewise_multi_head_attention {
  lanewise::MultiHeadAttention layer;
};

struct lanewise_multi_head_plan {
  lanewise::MultiHeadPlan plan;
};

namespace {

using lanewise::c_api::Call;
using lanewise::c_api::Create;
using lanewise::c_api::FromC;

lanewise::MultiHeadShape FromC(const lanewise_multi_head_shape& shape) {
  lanewise::MultiHeadShape result;
  result.d_model = shape.d_model;
  result.heads = shape.heads;
  result.kv_heads = shape.kv_heads;
  result.dim = shape.dim;
  result.kv_d_model = shape.kv_d_model;
  return result;
}

lanewise::MultiHeadWeights FromC(const lanewise_multi_head_weights& weights) {
  lanewise::MultiHeadWeights result;
  result.q = FromC(weights.q);
  result.k = FromC(weights.k);
  result.v = FromC(weights.v);
  result.qkv = FromC(weights.qkv);
  result.out = FromC(weights.out);
  result.q_bias = FromC(weights.q_bias);
  result.k_bias = FromC(weights.k_bias);
  result.v_bias = FromC(weights.v_bias);
  result.qkv_bias = FromC(weights.qkv_bias);
  result.out_bias = FromC(weights.out_bias);
  return result;
}

lanewise::MultiHeadCall FromC(const lanewise_multi_head_call& call) {
  lanewise::MultiHeadCall result;
  result.batch = call.batch;
  result.queries = call.queries;
  result.cross = call.cross;
  result.keys = call.keys;
  result.x_type = FromC(call.x_type);
  result.x_kv_type = FromC(call.x_kv_type);
  result.out_type = FromC(call.out_type);
  return result;
}

lanewise::MultiHeadTensors FromC(const lanewise_multi_head_tensors& tensors) {
  lanewise::MultiHeadTensors result;
  result.x = FromC(tensors.x);
  result.x_kv = FromC(tensors.x_kv);
  result.out = FromC(tensors.out);
  result.attention = FromC(tensors.attention);
  return result;
}

}  // namespace

lanewise_status lanewise_multi_head_attention_create(const lanewise_multi_head_shape* shape,
                                                     const lanewise_multi_head_weights* weights,
                                                     const lanewise_runtime* runtime,
                                                     lanewise_multi_head_attention** layer,
                                                     lanewise_error* error) {
  return Create(layer, {{"shape", shape}, {"weights", weights}, {"layer", layer}}, error, [&] {
    return lanewise::MakeMultiHeadAttention(FromC(*shape), FromC(*weights), FromC(runtime));
  });
}

lanewise_status lanewise_multi_head_attention_destroy(lanewise_multi_head_attention* layer) {
  delete layer;
  return LANEWISE_OK;
}

lanewise_status lanewise_multi_head_attention_shape(const lanewise_multi_head_attention* layer,
                                                    lanewise_multi_head_shape* shape) {
  if (layer == nullptr || shape == nullptr) return LANEWISE_INVALID_ARGUMENT;
  const lanewise::MultiHeadShape& from = layer->layer.shape();
  *shape = {from.d_model, from.heads, from.kv_heads, from.dim, from.kv_d_model};
  return LANEWISE_OK;
}

lanewise_status lanewise_multi_head_call_init(lanewise_multi_head_call* call) {
  if (call == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *call = {};
  call->batch = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_multi_head_plan_create(const lanewise_multi_head_attention* layer,
                                                const lanewise_multi_head_call* call,
                                                const lanewise_attention_options* options,
                                                lanewise_multi_head_plan** plan,
                                                lanewise_error* error) {
  return Create(plan, {{"layer", layer}, {"call", call}, {"plan", plan}}, error,
                [&] { return layer->layer.Plan(FromC(*call), FromC(options)); });
}

lanewise_status lanewise_multi_head_plan_destroy(lanewise_multi_head_plan* plan) {
  delete plan;
  return LANEWISE_OK;
}

lanewise_status lanewise_multi_head_plan_workspace_bytes(const lanewise_multi_head_plan* plan,
                                                         size_t* bytes) {
  return lanewise::c_api::WorkspaceBytes(plan, bytes);
}

lanewise_status lanewise_multi_head_plan_run(const lanewise_multi_head_plan* plan,
                                             const lanewise_multi_head_tensors* tensors,
                                             lanewise_workspace* workspace, lanewise_error* error) {
  return Call(error, {{"plan", plan}, {"tensors", tensors}, {"workspace", workspace}},
              [&] { return plan->plan.Run(FromC(*tensors), workspace->workspace); });
}

lanewise_status lanewise_multi_head_plan_explain(const lanewise_multi_head_plan* plan, char* text,
                                                 size_t capacity, size_t* length,
                                                 lanewise_error* error) {
  return lanewise::c_api::Explain(plan, {text, capacity, length}, error);
}
