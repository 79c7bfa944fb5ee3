// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A multi-head layer, its parameters given in either way, and a call of self-attention.

#ifndef LANEWISE_TESTS_C_API_LAYER_CASE_H_
#define LANEWISE_TESTS_C_API_LAYER_CASE_H_

#include <lanewise/c_api/layers.h>

#include "tests/c_api/check.h"

enum {
  kModel = 12,
  kOtherModel = 10,  // of the rows that keys and values are made from, with `cross`
  kHeads = 4,
  kKvHeads = 2,
  kDim = 3,
  kBatch = 2,
  kQueries = 5,
  kKeys = 7,
  kQ = kHeads * kDim,
  kKv = kKvHeads * kDim
};
static float x[kBatch * kQueries * kModel];
static float x_kv[kBatch * kKeys * kOtherModel];
static float qkv[(kQ + 2 * kKv) * kModel];
static float qkv_bias[kQ + 2 * kKv];
static float cross_k[kKv * kOtherModel];
static float cross_v[kKv * kOtherModel];
static float w_out[kModel * kQ];
static float out_bias[kModel];
static float out[kBatch * kQueries * kModel];
static float lse[kBatch * kHeads * kQueries];

static inline void FillInputs(void) {
  Fill(x, kBatch * kQueries * kModel, 1);
  Fill(x_kv, kBatch * kKeys * kOtherModel, 2);
  Fill(qkv, (kQ + 2 * kKv) * kModel, 3);
  Fill(qkv_bias, kQ + 2 * kKv, 4);
  Fill(cross_k, kKv * kOtherModel, 5);
  Fill(cross_v, kKv * kOtherModel, 6);
  Fill(w_out, kModel * kQ, 7);
  Fill(out_bias, kModel, 8);
  memset(out, 0, sizeof(out));
  memset(lse, 0, sizeof(lse));
}

static inline lanewise_tensor Matrix(const float* data, int64_t outputs, int64_t inputs) {
  return Dense(data, LANEWISE_F32, 1, 1, outputs, inputs);
}

static inline lanewise_multi_head_shape Shape(void) {
  lanewise_multi_head_shape shape = {0};
  shape.d_model = kModel;
  shape.heads = kHeads;
  shape.kv_heads = kKvHeads;
  return shape;
}

static inline lanewise_multi_head_weights Fused(void) {
  lanewise_multi_head_weights weights = {0};
  weights.qkv = Matrix(qkv, kQ + 2 * kKv, kModel);
  weights.qkv_bias = (lanewise_float_array){qkv_bias, kQ + 2 * kKv};
  weights.out = Matrix(w_out, kModel, kQ);
  weights.out_bias = (lanewise_float_array){out_bias, kModel};
  return weights;
}

static inline lanewise_multi_head_weights Separate(void) {
  lanewise_multi_head_weights weights = Fused();
  weights.qkv = (lanewise_tensor){0};
  weights.qkv_bias = (lanewise_float_array){NULL, 0};
  weights.q = Matrix(qkv, kQ, kModel);
  weights.k = Matrix(qkv + kQ * kModel, kKv, kModel);
  weights.v = Matrix(qkv + (kQ + kKv) * kModel, kKv, kModel);
  weights.q_bias = (lanewise_float_array){qkv_bias, kQ};
  weights.k_bias = (lanewise_float_array){qkv_bias + kQ, kKv};
  weights.v_bias = (lanewise_float_array){qkv_bias + kQ + kKv, kKv};
  return weights;
}

static inline lanewise_multi_head_call SelfCall(void) {
  lanewise_multi_head_call call;
  CHECK(lanewise_multi_head_call_init(&call) == LANEWISE_OK);
  CHECK(call.batch == 1 && call.queries == 0 && !call.cross && call.keys == 0);
  CHECK(call.x_type == LANEWISE_F32 && call.x_kv_type == LANEWISE_F32);
  CHECK(call.out_type == LANEWISE_F32);
  call.batch = kBatch;
  call.queries = kQueries;
  return call;
}

static inline lanewise_multi_head_tensors SelfTensors(void) {
  lanewise_multi_head_tensors tensors = {0};
  tensors.x = Dense(x, LANEWISE_F32, kBatch, 1, kQueries, kModel);
  tensors.out = Dense(out, LANEWISE_F32, kBatch, 1, kQueries, kModel);
  return tensors;
}

static inline lanewise_attention_options Defaults(void) {
  lanewise_attention_options options;
  CHECK(lanewise_attention_options_init(&options) == LANEWISE_OK);
  return options;
}

static inline lanewise_multi_head_attention* Layer(const lanewise_multi_head_shape* shape,
                                                   const lanewise_multi_head_weights* weights) {
  lanewise_multi_head_attention* layer = NULL;
  lanewise_error error;
  CHECK(lanewise_multi_head_attention_create(shape, weights, NULL, &layer, &error) == LANEWISE_OK);
  CHECK(layer != NULL && error.message[0] == '\0');
  return layer;
}

#endif  // LANEWISE_TESTS_C_API_LAYER_CASE_H_
