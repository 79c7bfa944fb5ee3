// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/gemm.h"

#include "lanewise/gemm.h"
#include "src/c_api/boundary.h"

struct lanewise_packed_matrix {
  lanewise::PackedMatrix matrix;
};

struct lanewise_gemm_plan {
  lanewise::GemmPlan plan;
};

namespace {

using lanewise::c_api::Call;
using lanewise::c_api::Create;
using lanewise::c_api::FromC;

lanewise::GemmShape FromC(const lanewise_gemm_shape& shape) {
  lanewise::GemmShape result;
  result.batch = shape.batch;
  result.heads = shape.heads;
  result.rows = shape.rows;
  result.columns = shape.columns;
  result.depth = shape.depth;
  result.a_type = FromC(shape.a_type);
  result.b_type = FromC(shape.b_type);
  result.c_type = FromC(shape.c_type);
  return result;
}

lanewise::GemmOptions FromC(const lanewise_gemm_options* options) {
  lanewise::GemmOptions result;
  if (options == nullptr) return result;
  result.transpose_a = options->transpose_a;
  result.transpose_b = options->transpose_b;
  result.alpha = options->alpha;
  result.beta = options->beta;
  result.bias = options->bias;
  result.residual = options->residual;
  result.packed_b = options->packed_b;
  return result;
}

lanewise::GemmTensors FromC(const lanewise_gemm_tensors& tensors) {
  lanewise::GemmTensors result;
  result.a = FromC(tensors.a);
  result.b = FromC(tensors.b);
  result.c = FromC(tensors.c);
  result.bias = FromC(tensors.bias);
  result.residual = FromC(tensors.residual);
  if (tensors.packed_b != nullptr) result.packed_b = &tensors.packed_b->matrix;
  return result;
}

}  // namespace

lanewise_status lanewise_gemm_shape_init(lanewise_gemm_shape* shape) {
  if (shape == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *shape = {};
  shape->batch = shape->heads = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_gemm_options_init(lanewise_gemm_options* options) {
  if (options == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *options = {};
  options->alpha = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_packed_matrix_create(const lanewise_tensor* b, bool transpose_b,
                                              const lanewise_runtime* runtime,
                                              lanewise_packed_matrix** packed_b,
                                              lanewise_error* error) {
  return Create(packed_b, {{"b", b}, {"packed_b", packed_b}}, error,
                [&] { return lanewise::PackB(FromC(*b), transpose_b, FromC(runtime)); });
}

lanewise_status lanewise_packed_matrix_destroy(lanewise_packed_matrix* packed_b) {
  delete packed_b;
  return LANEWISE_OK;
}

lanewise_status lanewise_packed_matrix_size_bytes(const lanewise_packed_matrix* packed_b,
                                                  size_t* bytes) {
  if (packed_b == nullptr || bytes == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *bytes = packed_b->matrix.size_bytes();
  return LANEWISE_OK;
}

lanewise_status lanewise_gemm_plan_create(const lanewise_gemm_shape* shape,
                                          const lanewise_gemm_options* options,
                                          const lanewise_runtime* runtime,
                                          lanewise_gemm_plan** plan, lanewise_error* error) {
  return Create(plan, {{"shape", shape}, {"plan", plan}}, error,
                [&] { return lanewise::PlanGemm(FromC(*shape), FromC(options), FromC(runtime)); });
}

lanewise_status lanewise_gemm_plan_destroy(lanewise_gemm_plan* plan) {
  delete plan;
  return LANEWISE_OK;
}

lanewise_status lanewise_gemm_plan_workspace_bytes(const lanewise_gemm_plan* plan, size_t* bytes) {
  return lanewise::c_api::WorkspaceBytes(plan, bytes);
}

lanewise_status lanewise_gemm_plan_run(const lanewise_gemm_plan* plan,
                                       const lanewise_gemm_tensors* tensors,
                                       lanewise_workspace* workspace, lanewise_error* error) {
  return Call(error, {{"plan", plan}, {"tensors", tensors}, {"workspace", workspace}},
              [&] { return plan->plan.Run(FromC(*tensors), workspace->workspace); });
}

lanewise_status lanewise_gemm_plan_explain(const lanewise_gemm_plan* plan, char* text,
                                           size_t capacity, size_t* length, lanewise_error* error) {
  return lanewise::c_api::Explain(plan, {text, capacity, length}, error);
}

lanewise_status lanewise_gemm(const lanewise_gemm_tensors* tensors,
                              const lanewise_gemm_options* options, const lanewise_runtime* runtime,
                              lanewise_error* error) {
  return Call(error, {{"tensors", tensors}},
              [&] { return lanewise::Gemm(FromC(*tensors), FromC(options), FromC(runtime)); });
}
