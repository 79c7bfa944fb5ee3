// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/attention.h through a C ABI.

#ifndef LANEWISE_C_API_ATTENTION_H_
#define LANEWISE_C_API_ATTENTION_H_

#include <stdbool.h>
#include <stddef.h>  // size_t
#include <stdint.h>  // int64_t

#include "lanewise/c_api/base.h"
#include "lanewise/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::AttentionShape.
typedef struct lanewise_attention_shape {
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;
  int64_t queries;
  int64_t keys;
  int64_t dim;
  int64_t value_dim;
  int64_t key_dim;  // 0: dim
  int64_t hidden;   // 0: dim
  lanewise_data_type q_type;
  lanewise_data_type k_type;
  lanewise_data_type v_type;
  lanewise_data_type out_type;
} lanewise_attention_shape;

// One batch item, one head, sizes 0, f32.
LANEWISE_EXPORT lanewise_status lanewise_attention_shape_init(lanewise_attention_shape* shape);

// No limit on that side of a window.
#define LANEWISE_UNLIMITED ((int64_t)-1)

// lanewise::AttentionScore.
typedef int32_t lanewise_attention_score;
enum {
  LANEWISE_SCORE_DOT = 0,
  LANEWISE_SCORE_BILINEAR = 1,
  LANEWISE_SCORE_ADDITIVE = 2,
  LANEWISE_SCORE_GAUSSIAN = 3
};

// lanewise::AttentionOptions. A value counts only if its `has_` field is true.
typedef struct lanewise_attention_options {
  lanewise_attention_score score;
  bool has_scale;
  float scale;
  bool has_bandwidth;
  float bandwidth;
  bool wq;
  bool wk;

  bool causal;
  bool top_left;
  bool has_query_offset;
  int64_t query_offset;
  int64_t window_left;
  int64_t window_right;

  bool has_softcap;
  float softcap;

  // Arrays that a call brings.
  bool mask;
  bool bias;
  bool alibi_slopes;
  bool sinks;
  bool kv_len;
  bool kv_first;
  bool paged;
  bool ragged;

  // Outputs that a call wants.
  bool lse;
  bool weights;
} lanewise_attention_options;

// Full attention with scale 1/sqrt(dim): nothing set, both sides of the window unlimited.
LANEWISE_EXPORT lanewise_status
lanewise_attention_options_init(lanewise_attention_options* options);

// lanewise::PageTable. All zeros: absent.
typedef struct lanewise_page_table {
  const int32_t* ids;  // [batch, pages_per_item]
  int64_t batch;
  int64_t pages_per_item;
} lanewise_page_table;

// lanewise::AttentionTensors, with shapes and aliasing as there. Start from `= {0}`.
typedef struct lanewise_attention_tensors {
  lanewise_tensor q;        // [batch, heads, queries, dim]
  lanewise_tensor k;        // [batch, kv_heads, keys, key_dim]
  lanewise_tensor v;        // [batch, kv_heads, keys, value_dim]
  lanewise_tensor out;      // [batch, heads, queries, value_dim]
  lanewise_tensor lse;      // f32 [batch, heads, queries, 1]
  lanewise_tensor weights;  // f32 [batch, heads, queries, keys]
  // bool, [batch or 1, heads or 1, queries or 1, keys or 1]. TRUE = MAY ATTEND: a byte that is not
  // 0 lets the query see the key, 0 hides it.
  lanewise_tensor mask;
  lanewise_tensor bias;               // f32, sizes as of `mask`
  lanewise_float_array alibi_slopes;  // [heads]
  lanewise_float_array sinks;         // [heads]
  lanewise_int64_array kv_len;        // [batch]
  lanewise_int64_array kv_first;      // [batch]
  lanewise_page_table page_table;     // k and v: [pages, kv_heads, page_size, ...]
  lanewise_int64_array q_offsets;     // [batch + 1]
  lanewise_int64_array k_offsets;     // [batch + 1]
  lanewise_tensor w;                  // f32 [1, 1, dim, key_dim]
  lanewise_tensor wq;                 // f32 [1, 1, hidden, dim]
  lanewise_tensor wk;                 // f32 [1, 1, hidden, key_dim]
  lanewise_float_array w_out;         // [hidden]
} lanewise_attention_tensors;

// lanewise::AttentionPlan, and lanewise::PlanAttention to make one. `options` and `runtime` are
// optional: null stands for the defaults.
typedef struct lanewise_plan lanewise_plan;
LANEWISE_EXPORT lanewise_status lanewise_plan_create(const lanewise_attention_shape* shape,
                                                     const lanewise_attention_options* options,
                                                     const lanewise_runtime* runtime,
                                                     lanewise_plan** plan, lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_plan_destroy(lanewise_plan* plan);

LANEWISE_EXPORT lanewise_status lanewise_plan_workspace_bytes(const lanewise_plan* plan,
                                                              size_t* bytes);

// lanewise::AttentionPlan::Run. One workspace for each call at a time.
LANEWISE_EXPORT lanewise_status lanewise_plan_run(const lanewise_plan* plan,
                                                  const lanewise_attention_tensors* tensors,
                                                  lanewise_workspace* workspace,
                                                  lanewise_error* error);

// A text that tells what the plan decided and why.
LANEWISE_EXPORT lanewise_status lanewise_plan_explain(const lanewise_plan* plan, char* text,
                                                      size_t capacity, size_t* length,
                                                      lanewise_error* error);

// lanewise::Attention: plans, allocates, runs. `options` and `runtime` are optional: null stands
// for the defaults.
LANEWISE_EXPORT lanewise_status lanewise_attention(const lanewise_attention_tensors* tensors,
                                                   const lanewise_attention_options* options,
                                                   const lanewise_runtime* runtime,
                                                   lanewise_error* error);

// lanewise::AttentionPart.
typedef struct lanewise_attention_part {
  lanewise_tensor out;
  lanewise_tensor lse;
} lanewise_attention_part;

// lanewise::MergeAttention; allocates as many bytes as `parts` has. `lse` is optional.
LANEWISE_EXPORT lanewise_status lanewise_merge_attention(const lanewise_attention_part* parts,
                                                         int64_t part_count,
                                                         const lanewise_tensor* out,
                                                         const lanewise_tensor* lse,
                                                         lanewise_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_ATTENTION_H_
