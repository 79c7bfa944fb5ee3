// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What can be wrong with a kind of call, and with the arrays of one.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "src/core/tensor_check.h"
#include "src/layers/check.h"

namespace lanewise::layers {
namespace {

// Arrays that the layer makes itself, or that are of no use.
Status CheckUnwanted(const MultiHeadPlan::Decision& decision, const MultiHeadTensors& tensors) {
  if (!decision.call.cross && tensors.x_kv.data != nullptr) {
    return Status::InvalidArgument(
        "x_kv: found an array, expected none because the plan's cross is off");
  }
  const struct {
    const char* name;
    const void* data;
  } made[] = {{"attention.q", tensors.attention.q.data},
              {"attention.k", tensors.attention.k.data},
              {"attention.v", tensors.attention.v.data},
              {"attention.out", tensors.attention.out.data}};
  for (const auto& array : made) {
    if (array.data != nullptr) {
      return Status::InvalidArgument(fmt::format(
          "{}: found an array, expected none because the layer computes it", array.name));
    }
  }
  return {};
}

}  // namespace

Status CheckCall(const MultiHeadShape& shape, const MultiHeadCall& call,
                 const AttentionOptions& options) {
  if (!call.cross && shape.kv_d_model != shape.d_model) {
    return Status::InvalidArgument(
        fmt::format("cross: found off, expected on because kv_d_model ({}) is not d_model ({})",
                    shape.kv_d_model, shape.d_model));
  }
  if (!call.cross && call.keys != 0 && call.keys != call.queries) {
    return Status::InvalidArgument(
        fmt::format("keys: found {}, expected 0 or the number of queries ({}) because cross is off",
                    call.keys, call.queries));
  }
  if (options.paged) {
    return Status::InvalidArgument(
        "paged: found on, expected off because a layer makes its keys and values anew");
  }
  if (Status s = core::CheckNumberType("x_type", call.x_type); !s.ok()) return s;
  if (Status s = core::CheckNumberType("x_kv_type", call.x_kv_type); !s.ok()) return s;
  return core::CheckNumberType("out_type", call.out_type);
}

Status CheckTensors(const MultiHeadPlan::Decision& decision, const MultiHeadTensors& tensors) {
  if (Status s = CheckUnwanted(decision, tensors); !s.ok()) return s;
  const MultiHeadCall& call = decision.call;
  const MultiHeadShape& shape = decision.layer->shape;
  const int64_t items = decision.items();
  const Sizes x_sizes = {items, 1, call.queries, shape.d_model};
  if (Status s = core::CheckInput("x", tensors.x, call.x_type, x_sizes); !s.ok()) return s;
  if (call.cross) {
    const Sizes sizes = {items, 1, call.keys, shape.kv_d_model};
    if (Status s = core::CheckInput("x_kv", tensors.x_kv, call.x_kv_type, sizes); !s.ok()) return s;
  }
  return core::CheckOutput("out", tensors.out, call.out_type, x_sizes);
}

Status CheckApart(const MultiHeadTensors& tensors) {
  const AttentionTensors& attention = tensors.attention;
  const struct {
    const char* name;
    ConstTensor tensor;
  } others[] = {{"x", tensors.x},
                {"x_kv", tensors.x_kv},
                {"mask", attention.mask},
                {"bias", attention.bias},
                {"alibi_slopes", core::BytesOf(attention.alibi_slopes)},
                {"sinks", core::BytesOf(attention.sinks)},
                {"kv_len", core::BytesOf(attention.kv_len)},
                {"kv_first", core::BytesOf(attention.kv_first)},
                {"q_offsets", core::BytesOf(attention.q_offsets)},
                {"k_offsets", core::BytesOf(attention.k_offsets)},
                {"w", attention.w},
                {"wq", attention.wq},
                {"wk", attention.wk},
                {"w_out", core::BytesOf(attention.w_out)},
                {"lse", attention.lse},
                {"weights", attention.weights}};
  for (const auto& other : others) {
    if (other.tensor.data == nullptr) continue;
    if (Status s = core::CheckApart("out", tensors.out, other.name, other.tensor); !s.ok()) {
      return s;
    }
  }
  const struct {
    const char* name;
    const Tensor& tensor;
  } outputs[] = {{"lse", attention.lse}, {"weights", attention.weights}};
  for (const auto& output : outputs) {
    if (output.tensor.data == nullptr) continue;
    if (Status s = core::CheckApart(output.name, output.tensor, "x", tensors.x); !s.ok()) return s;
    if (tensors.x_kv.data == nullptr) continue;
    if (Status s = core::CheckApart(output.name, output.tensor, "x_kv", tensors.x_kv); !s.ok()) {
      return s;
    }
  }
  return {};
}

}  // namespace lanewise::layers
