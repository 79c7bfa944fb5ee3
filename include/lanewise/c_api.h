// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/attention.h and lanewise/kv_cache.h through a C ABI. Each function and field here does
// what its namesake there does, which is where formulas, edge cases, accuracy and cost are written
// down; comments here tell only what differs. C99 and C++; link lanewise::c (CMake) or lanewise-c
// (pkg-config).
//
//   lanewise_attention_options options;
//   lanewise_attention_options_init(&options);
//   options.causal = true;
//   lanewise_attention_tensors tensors = {0};
//   lanewise_tensor_init(&tensors.q, q, LANEWISE_F32, (int64_t[4]){1, 8, 100, 64});
//   ...                                                              // k, v and out
//   lanewise_error error;
//   if (lanewise_attention(&tensors, &options, NULL, &error) != LANEWISE_OK) puts(error.message);
//
// Every function is thread-safe and throws nothing. All but two, whose results are static texts,
// return a status; those that do more than fill in a structure also take an `error`, which may be
// null. A null pointer for any other argument is LANEWISE_INVALID_ARGUMENT, unless the argument is
// said to be optional. Structures have to be initialised as their comments say: fields may be added
// in later versions.

#ifndef LANEWISE_C_API_H_
#define LANEWISE_C_API_H_

#include <stdbool.h>
#include <stddef.h>  // size_t
#include <stdint.h>  // int64_t

#include "lanewise/export.h"
#include "lanewise/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::StatusCode.
typedef int32_t lanewise_status;
enum {
  LANEWISE_OK = 0,
  LANEWISE_INVALID_ARGUMENT = 1,
  LANEWISE_UNSUPPORTED = 2,
  LANEWISE_OUT_OF_MEMORY = 3
};

// "ok", "invalid argument", "unsupported", "out of memory"; "unknown" for other numbers. Static.
LANEWISE_EXPORT const char* lanewise_status_name(lanewise_status status);

// What went wrong, one line that names the argument, what was found and what was expected, cut off
// where it does not fit. Needs no initialisation: a call that takes it always sets it, to "" on
// success.
typedef struct lanewise_error {
  char message[512];
} lanewise_error;

// lanewise::DataType.
typedef int32_t lanewise_data_type;
enum { LANEWISE_F32 = 0, LANEWISE_F16 = 1, LANEWISE_BF16 = 2, LANEWISE_BOOL = 3 };

// lanewise::Tensor: sizes and strides in elements, the last stride 1. All zeros: absent. The
// library writes only to tensors that are outputs.
typedef struct lanewise_tensor {
  void* data;
  lanewise_data_type type;
  int64_t sizes[4];
  int64_t strides[4];
} lanewise_tensor;

// A tensor without padding. `data` is const so that inputs can be; of an output it must not be. May
// be null when any of the four sizes is 0. Sizes whose strides overflow are an error.
LANEWISE_EXPORT lanewise_status lanewise_tensor_init(lanewise_tensor* tensor, const void* data,
                                                     lanewise_data_type type,
                                                     const int64_t sizes[4]);

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

// lanewise::Runtime.
typedef struct lanewise_runtime {
  int32_t threads;
  const char* target;  // null or "": the best. Need not outlive the call.
  const char* note;    // null or "": none. Likewise.
} lanewise_runtime;

// lanewise::DefaultRuntime(). Its texts are static.
LANEWISE_EXPORT lanewise_status lanewise_runtime_init(lanewise_runtime* runtime);

// Read-only one-dimensional arrays. All zeros: absent.
typedef struct lanewise_float_array {
  const float* data;
  int64_t size;
} lanewise_float_array;
typedef struct lanewise_int64_array {
  const int64_t* data;
  int64_t size;
} lanewise_int64_array;

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

// lanewise::AttentionPlan and lanewise::Workspace. To be destroyed with the functions below, which
// accept null; not while a call uses them.
typedef struct lanewise_plan lanewise_plan;
typedef struct lanewise_workspace lanewise_workspace;

// lanewise::PlanAttention. `options` and `runtime` are optional: null stands for the defaults. On
// failure *plan is null.
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

// Copies a text that tells what the plan decided and why, as snprintf does: at most `capacity`
// bytes with the terminating 0, cut off if it does not fit. *length is the length of the whole text
// without the 0. `text` is optional if capacity is 0, `length` always.
LANEWISE_EXPORT lanewise_status lanewise_plan_explain(const lanewise_plan* plan, char* text,
                                                      size_t capacity, size_t* length,
                                                      lanewise_error* error);

// On failure *workspace is null.
LANEWISE_EXPORT lanewise_status lanewise_workspace_create(size_t size_bytes,
                                                          lanewise_workspace** workspace,
                                                          lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_workspace_destroy(lanewise_workspace* workspace);

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

// lanewise::KvCache. What attention needs is kv_len[b] = length[b] - oldest[b] and
// kv_first[b] = oldest[b] % slots, where a cache that is no ring has 0 in place of oldest[b].
typedef struct lanewise_kv_cache {
  lanewise_tensor k;  // [batch, kv_heads, slots, dim]; paged: [pages, kv_heads, page_size, dim]
  lanewise_tensor v;  // likewise with value_dim
  int64_t* length;    // [batch]
  int64_t* oldest;    // [batch]; null: no ring
  int64_t batch;
  int64_t window_left;
  lanewise_page_table page_table;
} lanewise_kv_cache;

// No arrays, no ring, no pages: all zeros, window_left LANEWISE_UNLIMITED.
LANEWISE_EXPORT lanewise_status lanewise_kv_cache_init(lanewise_kv_cache* cache);

// lanewise::AppendKv. `tokens` is optional.
LANEWISE_EXPORT lanewise_status lanewise_append_kv(const lanewise_kv_cache* cache,
                                                   const lanewise_tensor* k,
                                                   const lanewise_tensor* v,
                                                   const lanewise_int64_array* tokens,
                                                   lanewise_error* error);

// lanewise::RewindKv.
LANEWISE_EXPORT lanewise_status lanewise_rewind_kv(const lanewise_kv_cache* cache,
                                                   int64_t batch_item, int64_t length,
                                                   lanewise_error* error);

// lanewise::AvailableTargets(), best first, separated by spaces: "AVX3 AVX2 SSE4". Copies as
// lanewise_plan_explain does.
LANEWISE_EXPORT lanewise_status lanewise_available_targets(char* text, size_t capacity,
                                                           size_t* length, lanewise_error* error);

// The version of the library that runs, which may be later than LANEWISE_VERSION_MAJOR, _MINOR and
// _PATCH of this header: "0.1.0". Static.
LANEWISE_EXPORT const char* lanewise_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_H_
