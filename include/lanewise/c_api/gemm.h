// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/gemm.h through a C ABI.

#ifndef LANEWISE_C_API_GEMM_H_
#define LANEWISE_C_API_GEMM_H_

#include <stdbool.h>
#include <stddef.h>  // size_t
#include <stdint.h>  // int64_t

#include "lanewise/c_api/base.h"
#include "lanewise/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::GemmShape.
typedef struct lanewise_gemm_shape {
  int64_t batch;
  int64_t heads;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  lanewise_data_type a_type;
  lanewise_data_type b_type;
  lanewise_data_type c_type;
} lanewise_gemm_shape;

// One batch item, one head, sizes 0, f32.
LANEWISE_EXPORT lanewise_status lanewise_gemm_shape_init(lanewise_gemm_shape* shape);

// lanewise::GemmOptions.
typedef struct lanewise_gemm_options {
  bool transpose_a;
  bool transpose_b;
  float alpha;
  float beta;

  // Inputs that a call brings.
  bool bias;
  bool residual;
  bool packed_b;
} lanewise_gemm_options;

// C = A B: nothing set, alpha 1, beta 0.
LANEWISE_EXPORT lanewise_status lanewise_gemm_options_init(lanewise_gemm_options* options);

// lanewise::PackedMatrix, and lanewise::PackB to make one. `runtime` is optional: null stands for
// the default.
typedef struct lanewise_packed_matrix lanewise_packed_matrix;
LANEWISE_EXPORT lanewise_status lanewise_packed_matrix_create(const lanewise_tensor* b,
                                                              bool transpose_b,
                                                              const lanewise_runtime* runtime,
                                                              lanewise_packed_matrix** packed_b,
                                                              lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_packed_matrix_destroy(lanewise_packed_matrix* packed_b);

LANEWISE_EXPORT lanewise_status
lanewise_packed_matrix_size_bytes(const lanewise_packed_matrix* packed_b, size_t* bytes);

// lanewise::GemmTensors, with shapes and aliasing as there. Start from `= {0}`.
typedef struct lanewise_gemm_tensors {
  lanewise_tensor a;          // [batch, heads, rows, depth], or the last two exchanged
  lanewise_tensor b;          // [batch, heads, depth, columns], likewise
  lanewise_tensor c;          // [batch, heads, rows, columns]
  lanewise_float_array bias;  // [columns]
  lanewise_tensor residual;   // type and sizes of c
  const lanewise_packed_matrix* packed_b;
} lanewise_gemm_tensors;

// lanewise::GemmPlan, and lanewise::PlanGemm to make one. `options` and `runtime` are optional:
// null stands for the defaults.
typedef struct lanewise_gemm_plan lanewise_gemm_plan;
LANEWISE_EXPORT lanewise_status lanewise_gemm_plan_create(const lanewise_gemm_shape* shape,
                                                          const lanewise_gemm_options* options,
                                                          const lanewise_runtime* runtime,
                                                          lanewise_gemm_plan** plan,
                                                          lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_gemm_plan_destroy(lanewise_gemm_plan* plan);

LANEWISE_EXPORT lanewise_status lanewise_gemm_plan_workspace_bytes(const lanewise_gemm_plan* plan,
                                                                   size_t* bytes);

// lanewise::GemmPlan::Run. One workspace for each call at a time.
LANEWISE_EXPORT lanewise_status lanewise_gemm_plan_run(const lanewise_gemm_plan* plan,
                                                       const lanewise_gemm_tensors* tensors,
                                                       lanewise_workspace* workspace,
                                                       lanewise_error* error);

// A text that tells what the plan decided and why.
LANEWISE_EXPORT lanewise_status lanewise_gemm_plan_explain(const lanewise_gemm_plan* plan,
                                                           char* text, size_t capacity,
                                                           size_t* length, lanewise_error* error);

// lanewise::Gemm: plans, allocates, runs. `options` and `runtime` are optional: null stands for the
// defaults.
LANEWISE_EXPORT lanewise_status lanewise_gemm(const lanewise_gemm_tensors* tensors,
                                              const lanewise_gemm_options* options,
                                              const lanewise_runtime* runtime,
                                              lanewise_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_GEMM_H_
