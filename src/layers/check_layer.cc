// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What can be wrong with the shape and the parameters of a layer.

#include <fmt/format.h>

#include <algorithm>

#include "src/core/sizes.h"
#include "src/core/tensor_check.h"
#include "src/layers/check.h"

namespace lanewise::layers {
namespace {

Status CheckAtLeast(const char* name, int64_t value, int64_t smallest) {
  if (value >= smallest) return {};
  return Status::InvalidArgument(
      fmt::format("{}: found {}, expected at least {}", name, value, smallest));
}

// Null with no sizes is absent.
bool IsGiven(const ConstTensor& tensor) {
  return tensor.data != nullptr || tensor.sizes != ConstTensor().sizes;
}

Status CheckMatrix(const char* name, const ConstTensor& matrix, int64_t outputs, int64_t inputs) {
  if (Status s = core::CheckNumberType(name, matrix.type); !s.ok()) return s;
  return core::CheckInput(name, matrix, matrix.type, {1, 1, outputs, inputs});
}

Status CheckBias(const char* name, const ArrayView<float>& bias, int64_t size) {
  if (bias.data == nullptr && bias.size == 0) return {};
  return core::CheckEntries(name, bias, size);
}

// Exactly one of the two ways to give the input projections.
Status CheckWhichWeights(const MultiHeadWeights& weights) {
  const struct {
    const char* name;
    bool fused;
    bool given;
  } parts[] = {{"q", false, IsGiven(weights.q)},
               {"k", false, IsGiven(weights.k)},
               {"v", false, IsGiven(weights.v)},
               {"q_bias", false, weights.q_bias.data != nullptr},
               {"k_bias", false, weights.k_bias.data != nullptr},
               {"v_bias", false, weights.v_bias.data != nullptr},
               {"qkv_bias", true, weights.qkv_bias.data != nullptr}};
  const bool fused = IsGiven(weights.qkv);
  for (const auto& part : parts) {
    if (part.given && part.fused != fused) {
      return Status::InvalidArgument(fmt::format(
          "{}: found {} qkv, expected one of qkv (with qkv_bias) and q, k, v (with their biases)",
          part.name, fused ? "together with" : "without"));
    }
  }
  return {};
}

}  // namespace

Result<MultiHeadShape> CompleteShape(const MultiHeadShape& shape) {
  if (Status s = CheckAtLeast("d_model", shape.d_model, 1); !s.ok()) return s;
  if (Status s = CheckAtLeast("heads", shape.heads, 1); !s.ok()) return s;
  if (Status s = CheckAtLeast("kv_heads", shape.kv_heads, 0); !s.ok()) return s;
  if (Status s = CheckAtLeast("dim", shape.dim, 0); !s.ok()) return s;
  if (Status s = CheckAtLeast("kv_d_model", shape.kv_d_model, 0); !s.ok()) return s;
  MultiHeadShape completed = shape;
  if (shape.kv_heads == 0) completed.kv_heads = shape.heads;
  if (shape.kv_d_model == 0) completed.kv_d_model = shape.d_model;
  if (shape.dim == 0) {
    if (shape.d_model % shape.heads != 0) {
      return Status::InvalidArgument(
          fmt::format("d_model: found {}, expected a multiple of heads ({}), or dim to be given",
                      shape.d_model, shape.heads));
    }
    completed.dim = shape.d_model / shape.heads;
  }
  if (shape.heads % completed.kv_heads != 0) {
    return Status::InvalidArgument(fmt::format(
        "kv_heads: found {}, expected a divisor of heads ({})", shape.kv_heads, shape.heads));
  }
  const int64_t widest = std::max(completed.d_model, completed.kv_d_model);
  if (!core::CheckedProduct({shape.heads, 3, completed.dim, widest, 8})) {
    return Status::InvalidArgument(fmt::format(
        "d_model: the sizes of the weights overflow 64 bits (d_model {}, kv_d_model {}, "
        "heads {}, kv_heads {}, dim {}), expected less",
        completed.d_model, completed.kv_d_model, completed.heads, completed.kv_heads,
        completed.dim));
  }
  return completed;
}

Status CheckWeights(const MultiHeadShape& shape, const MultiHeadWeights& weights) {
  if (Status s = CheckWhichWeights(weights); !s.ok()) return s;
  const int64_t q = shape.heads * shape.dim;
  const int64_t k = shape.kv_heads * shape.dim;
  if (IsGiven(weights.qkv)) {
    if (shape.kv_d_model != shape.d_model) {
      return Status::InvalidArgument(
          fmt::format("qkv: found with kv_d_model {}, expected d_model ({}), or q, k and v instead",
                      shape.kv_d_model, shape.d_model));
    }
    if (Status s = CheckMatrix("qkv", weights.qkv, q + 2 * k, shape.d_model); !s.ok()) return s;
    if (Status s = CheckBias("qkv_bias", weights.qkv_bias, q + 2 * k); !s.ok()) return s;
  } else {
    if (Status s = CheckMatrix("q", weights.q, q, shape.d_model); !s.ok()) return s;
    if (Status s = CheckMatrix("k", weights.k, k, shape.kv_d_model); !s.ok()) return s;
    if (Status s = CheckMatrix("v", weights.v, k, shape.kv_d_model); !s.ok()) return s;
    if (Status s = CheckBias("q_bias", weights.q_bias, q); !s.ok()) return s;
    if (Status s = CheckBias("k_bias", weights.k_bias, k); !s.ok()) return s;
    if (Status s = CheckBias("v_bias", weights.v_bias, k); !s.ok()) return s;
  }
  if (Status s = CheckMatrix("out", weights.out, shape.d_model, q); !s.ok()) return s;
  return CheckBias("out_bias", weights.out_bias, shape.d_model);
}

}  // namespace lanewise::layers
