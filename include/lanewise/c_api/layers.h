// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/layers.h through a C ABI.

#ifndef LANEWISE_C_API_LAYERS_H_
#define LANEWISE_C_API_LAYERS_H_

#include <stdbool.h>
#include <stddef.h>  // size_t
#include <stdint.h>  // int64_t

#include "lanewise/c_api/attention.h"
#include "lanewise/c_api/base.h"
#include "lanewise/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::MultiHeadShape. Start from `= {0}`.
typedef struct lanewise_multi_head_shape {
  int64_t d_model;
  int64_t heads;
  int64_t kv_heads;    // 0: heads
  int64_t dim;         // 0: d_model / heads
  int64_t kv_d_model;  // 0: d_model
} lanewise_multi_head_shape;

// lanewise::MultiHeadWeights: matrices of sizes [1, 1, outputs, inputs]. Start from `= {0}`.
typedef struct lanewise_multi_head_weights {
  lanewise_tensor q;    // [heads * dim, d_model]
  lanewise_tensor k;    // [kv_heads * dim, kv_d_model]
  lanewise_tensor v;    // [kv_heads * dim, kv_d_model]
  lanewise_tensor qkv;  // in place of the three: [(heads + 2 * kv_heads) * dim, d_model]
  lanewise_tensor out;  // [d_model, heads * dim]

  lanewise_float_array q_bias;    // [heads * dim]
  lanewise_float_array k_bias;    // [kv_heads * dim]
  lanewise_float_array v_bias;    // [kv_heads * dim]
  lanewise_float_array qkv_bias;  // [(heads + 2 * kv_heads) * dim], with qkv
  lanewise_float_array out_bias;  // [d_model]
} lanewise_multi_head_weights;

// lanewise::MultiHeadAttention, and lanewise::MakeMultiHeadAttention to make one. `runtime` is
// optional: null stands for the default. Plans of a layer may outlive it.
typedef struct lanewise_multi_head_attention lanewise_multi_head_attention;
LANEWISE_EXPORT lanewise_status lanewise_multi_head_attention_create(
    const lanewise_multi_head_shape* shape, const lanewise_multi_head_weights* weights,
    const lanewise_runtime* runtime, lanewise_multi_head_attention** layer, lanewise_error* error);
LANEWISE_EXPORT lanewise_status
lanewise_multi_head_attention_destroy(lanewise_multi_head_attention* layer);

// With the defaults filled in.
LANEWISE_EXPORT lanewise_status lanewise_multi_head_attention_shape(
    const lanewise_multi_head_attention* layer, lanewise_multi_head_shape* shape);

// lanewise::MultiHeadCall.
typedef struct lanewise_multi_head_call {
  int64_t batch;
  int64_t queries;
  bool cross;
  int64_t keys;
  lanewise_data_type x_type;
  lanewise_data_type x_kv_type;
  lanewise_data_type out_type;
} lanewise_multi_head_call;

// One batch item of self-attention, sizes 0, f32.
LANEWISE_EXPORT lanewise_status lanewise_multi_head_call_init(lanewise_multi_head_call* call);

// lanewise::MultiHeadTensors, with shapes and aliasing as there. Start from `= {0}`.
typedef struct lanewise_multi_head_tensors {
  lanewise_tensor x;     // [batch, 1, queries, d_model]
  lanewise_tensor x_kv;  // [batch, 1, keys, kv_d_model], with `cross`
  lanewise_tensor out;   // [batch, 1, queries, d_model]
  // What the options of the plan ask for. Its q, k, v and out stay absent.
  lanewise_attention_tensors attention;
} lanewise_multi_head_tensors;

// lanewise::MultiHeadPlan, and lanewise::MultiHeadAttention::Plan to make one. `options` is
// optional: null stands for the defaults.
typedef struct lanewise_multi_head_plan lanewise_multi_head_plan;
LANEWISE_EXPORT lanewise_status lanewise_multi_head_plan_create(
    const lanewise_multi_head_attention* layer, const lanewise_multi_head_call* call,
    const lanewise_attention_options* options, lanewise_multi_head_plan** plan,
    lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_multi_head_plan_destroy(lanewise_multi_head_plan* plan);

LANEWISE_EXPORT lanewise_status
lanewise_multi_head_plan_workspace_bytes(const lanewise_multi_head_plan* plan, size_t* bytes);

// lanewise::MultiHeadPlan::Run. One workspace for each call at a time.
LANEWISE_EXPORT lanewise_status lanewise_multi_head_plan_run(
    const lanewise_multi_head_plan* plan, const lanewise_multi_head_tensors* tensors,
    lanewise_workspace* workspace, lanewise_error* error);

// A text that tells what the plan decided and why, step by step.
LANEWISE_EXPORT lanewise_status
lanewise_multi_head_plan_explain(const lanewise_multi_head_plan* plan, char* text, size_t capacity,
                                 size_t* length, lanewise_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_LAYERS_H_
