// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A layer with generated parameters, and calls of it on guarded arrays.

#ifndef LANEWISE_TESTS_LAYERS_LAYER_CASE_H_
#define LANEWISE_TESTS_LAYERS_LAYER_CASE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/layers.h"
#include "src/core/element_bytes.h"
#include "src/reference/multi_head.h"
#include "src/reference/tolerance.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"
#include "tests/support/paths.h"

namespace lanewise::testing {

inline Runtime OneThread(const std::string& target = "") {
  return {.threads = 1, .target = target, .note = ""};
}

// Parameters of a shape whose defaults are filled in.
class Parameters {
 public:
  explicit Parameters(const MultiHeadShape& shape, bool biases = true,
                      DataType type = DataType::kF32)
      : shape_(shape),
        in_({1, 1, (shape.heads + 2 * shape.kv_heads) * shape.dim, shape.d_model}, DenseStrides, {},
            type),
        kv_({1, 1, 2 * shape.kv_heads * shape.dim, shape.kv_d_model}, PaddedStrides, {}, type),
        out_({1, 1, shape.d_model, shape.heads * shape.dim}, PaddedStrides, {}, type) {
    uint32_t seed = 21;
    for (Array* array : {&in_, &kv_, &out_}) {
      const Sizes sizes = array->view().sizes;
      array->Set(Gen(seed++, Count(sizes), 1 / std::sqrt(static_cast<float>(sizes[3]))));
    }
    if (!biases) return;
    in_bias_ = Gen(24, in_.view().sizes[2], 0.5F);
    kv_bias_ = Gen(25, kv_.view().sizes[2], 0.5F);
    out_bias_ = Gen(26, shape.d_model);
  }

  // q, k and v apart. With a kv_d_model of its own k and v are other matrices than in Fused().
  MultiHeadWeights Apart() const {
    const int64_t q = shape_.heads * shape_.dim;
    const int64_t k = shape_.kv_heads * shape_.dim;
    const bool own = shape_.kv_d_model != shape_.d_model;
    MultiHeadWeights weights;
    weights.q = Rows(in_.view(), 0, q);
    weights.k = own ? Rows(kv_.view(), 0, k) : Rows(in_.view(), q, k);
    weights.v = own ? Rows(kv_.view(), k, k) : Rows(in_.view(), q + k, k);
    weights.out = out_.view();
    if (in_bias_.empty()) return weights;
    const float* kv_bias = own ? kv_bias_.data() : in_bias_.data() + q;
    weights.q_bias = {in_bias_.data(), q};
    weights.k_bias = {kv_bias, k};
    weights.v_bias = {kv_bias + k, k};
    weights.out_bias = {out_bias_.data(), shape_.d_model};
    return weights;
  }

  MultiHeadWeights Fused() const {
    MultiHeadWeights weights;
    weights.qkv = in_.view();
    weights.out = out_.view();
    if (in_bias_.empty()) return weights;
    weights.qkv_bias = {in_bias_.data(), static_cast<int64_t>(in_bias_.size())};
    weights.out_bias = {out_bias_.data(), shape_.d_model};
    return weights;
  }

 private:
  static ConstTensor Rows(const ConstTensor& matrix, int64_t first, int64_t count) {
    ConstTensor rows = matrix;
    const int64_t bytes = first * matrix.strides[2] * core::ElementBytes(matrix.type);
    rows.data = static_cast<const char*>(matrix.data) + bytes;
    rows.sizes[2] = count;
    return rows;
  }

  MultiHeadShape shape_;
  Array in_;
  Array kv_;
  Array out_;
  std::vector<float> in_bias_;
  std::vector<float> kv_bias_;
  std::vector<float> out_bias_;
};

// d_model and kv_d_model as given, or heads * dim.
inline MultiHeadShape LayerShape(int64_t heads, int64_t kv_heads, int64_t dim, int64_t d_model = 0,
                                 int64_t kv_d_model = 0) {
  MultiHeadShape shape;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.dim = dim;
  shape.d_model = d_model == 0 ? heads * dim : d_model;
  shape.kv_d_model = kv_d_model == 0 ? shape.d_model : kv_d_model;
  return shape;
}

inline MultiHeadCall SelfCall(int64_t batch, int64_t queries) {
  MultiHeadCall call;
  call.batch = batch;
  call.queries = queries;
  return call;
}

inline MultiHeadCall CrossCall(int64_t batch, int64_t queries, int64_t keys) {
  MultiHeadCall call = SelfCall(batch, queries);
  call.cross = true;
  call.keys = keys;
  return call;
}

inline MultiHeadAttention MakeLayer(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                                    const Runtime& runtime = OneThread()) {
  Result<MultiHeadAttention> layer = MakeMultiHeadAttention(shape, weights, runtime);
  EXPECT_TRUE(layer.ok()) << layer.status().message();
  return *layer;
}

// The arrays of a call; `ragged` sequences are one item.
class LayerCall {
 public:
  LayerCall(const MultiHeadShape& shape, const MultiHeadCall& call,
            StrideRule strides = DenseStrides, bool ragged = false)
      : call_(call),
        x_({ragged ? 1 : call.batch, 1, call.queries, shape.d_model}, strides, {}, call.x_type),
        x_kv_({ragged ? 1 : call.batch, 1, call.cross ? call.keys : 0, shape.kv_d_model}, strides,
              {}, call.x_kv_type),
        out_({ragged ? 1 : call.batch, 1, call.queries, shape.d_model}, strides, {},
             call.out_type) {
    x_.Set(Gen(31, Count(x_.view().sizes)));
    x_kv_.Set(Gen(32, Count(x_kv_.view().sizes)));
  }

  MultiHeadTensors tensors() {
    MultiHeadTensors tensors;
    tensors.x = x_.view();
    if (call_.cross) tensors.x_kv = x_kv_.view();
    tensors.out = out_.view();
    tensors.attention = attention;
    return tensors;
  }

  // In a workspace that holds NaN.
  Status Run(const MultiHeadAttention& layer, const AttentionOptions& options = {}) {
    const Result<MultiHeadPlan> plan = layer.Plan(call_, options);
    if (!plan.ok()) return plan.status();
    Workspace workspace(plan->workspace_bytes());
    std::fill_n(static_cast<float*>(workspace.data()), workspace.size_bytes() / sizeof(float),
                std::nanf(""));
    return plan->Run(tensors(), workspace);
  }

  Array& x() { return x_; }
  Array& x_kv() { return x_kv_; }
  const Array& out() const { return out_; }
  std::vector<uint32_t> Bits() const {
    std::vector<uint32_t> bits;
    for (const float v : out_.Values()) bits.push_back(std::bit_cast<uint32_t>(v));
    return bits;
  }

  AttentionTensors attention = {};  // what options ask for

 private:
  MultiHeadCall call_;
  Array x_;
  Array x_kv_;
  Array out_;
};

// Compares the output of a call that has run with the reference; `unit` is the relative rounding of
// a 16-bit output.
inline void ExpectMatchesReference(const MultiHeadShape& shape, const MultiHeadWeights& apart,
                                   LayerCall& call, const AttentionOptions& options,
                                   const std::string& where, double unit = 0) {
  const auto expected = reference::MultiHead(shape, apart, call.tensors(), options);
  std::vector<double> tolerance;
  for (const double e : expected.out) {
    tolerance.push_back(expected.tolerance + unit * (std::abs(e) + expected.tolerance));
  }
  const auto comparison = reference::Compare(call.out().view(), expected.out, tolerance);
  EXPECT_TRUE(comparison.ok()) << where << ": " << reference::Describe(comparison.worst);
  EXPECT_TRUE(call.out().IsPaddingIntact()) << where;
  EXPECT_LT(expected.tolerance, 3e-3) << where << ": a bound that says nothing";
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_LAYERS_LAYER_CASE_H_
