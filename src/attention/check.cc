// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/check.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "src/core/sizes.h"
#include "src/core/tensor_check.h"

namespace lanewise::attention {
namespace {

Status CheckSizes(const AttentionShape& shape) {
  const struct {
    const char* name;
    int64_t value;
    int64_t smallest;
  } sizes[] = {{"batch", shape.batch, 0},        {"heads", shape.heads, 0},
               {"kv_heads", shape.kv_heads, 0},  {"queries", shape.queries, 0},
               {"keys", shape.keys, 0},          {"dim", shape.dim, 1},
               {"value_dim", shape.value_dim, 0}};
  for (const auto& size : sizes) {
    if (size.value < size.smallest) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected at least {}", size.name, size.value, size.smallest));
    }
  }
  if (shape.kv_heads == 0 ? shape.heads != 0 : shape.heads % shape.kv_heads != 0) {
    return Status::InvalidArgument(fmt::format(
        "kv_heads: found {}, expected a divisor of heads ({})", shape.kv_heads, shape.heads));
  }
  const struct {
    const char* name;
    std::optional<int64_t> bytes;
  } arrays[] = {
      {"q", core::CheckedProduct({shape.batch, shape.heads, shape.queries, shape.dim, 4})},
      {"k", core::CheckedProduct({shape.batch, shape.kv_heads, shape.keys, shape.dim, 4})},
      {"v", core::CheckedProduct({shape.batch, shape.kv_heads, shape.keys, shape.value_dim, 4})},
      {"out", core::CheckedProduct({shape.batch, shape.heads, shape.queries, shape.value_dim, 4})}};
  for (const auto& array : arrays) {
    if (!array.bytes) {
      return Status::InvalidArgument(
          fmt::format("{}: the product of its sizes overflows 64 bits (batch {}, heads {}, "
                      "kv_heads {}, queries {}, keys {}, dim {}, value_dim {}), expected less",
                      array.name, shape.batch, shape.heads, shape.kv_heads, shape.queries,
                      shape.keys, shape.dim, shape.value_dim));
    }
  }
  return {};
}

Status CheckTypes(const AttentionShape& shape) {
  const struct {
    const char* name;
    DataType type;
  } types[] = {{"q_type", shape.q_type},
               {"k_type", shape.k_type},
               {"v_type", shape.v_type},
               {"out_type", shape.out_type}};
  for (const auto& type : types) {
    if (type.type != DataType::kF32) {
      return Status::Unsupported(
          fmt::format("{}: found {}, expected f32", type.name, DataTypeName(type.type)));
    }
  }
  return {};
}

Status CheckOptions(const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale)) {
    return Status::InvalidArgument(
        fmt::format("scale: found {}, expected a finite number", *options.scale));
  }
  if (options.softcap && !(std::isfinite(*options.softcap) && *options.softcap >= 0)) {
    return Status::InvalidArgument(
        fmt::format("softcap: found {}, expected a finite number, at least 0", *options.softcap));
  }
  if (options.top_left && options.query_offset) {
    return Status::InvalidArgument(
        fmt::format("query_offset: found {} together with top_left, expected one of the two",
                    *options.query_offset));
  }
  const struct {
    const char* name;
    int64_t value;
  } sides[] = {{"window left", options.window.left}, {"window right", options.window.right}};
  for (const auto& side : sides) {
    if (side.value < kUnlimited) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected a count of keys, or {} for no limit", side.name,
                      side.value, kUnlimited));
    }
  }
  const struct {
    const char* name;
    bool on;
  } excluded[] = {{"mask", options.mask},
                  {"bias", options.bias},
                  {"kv_len", options.kv_len},
                  {"weights", options.weights}};
  for (const auto& option : excluded) {
    if (options.ragged && option.on) {
      return Status::InvalidArgument(
          fmt::format("{}: found together with ragged, expected one of the two", option.name));
    }
  }
  return {};
}

// Arrays whose option is off.
Status CheckUnwanted(const AttentionOptions& options, const AttentionTensors& tensors) {
  const struct {
    const char* name;
    const char* option;
    bool wanted;
    bool given;
  } arrays[] = {
      {"lse", "lse", options.lse, tensors.lse.data != nullptr},
      {"weights", "weights", options.weights, tensors.weights.data != nullptr},
      {"mask", "mask", options.mask, tensors.mask.data != nullptr},
      {"bias", "bias", options.bias, tensors.bias.data != nullptr},
      {"alibi_slopes", "alibi_slopes", options.alibi_slopes, tensors.alibi_slopes.data != nullptr},
      {"sinks", "sinks", options.sinks, tensors.sinks.data != nullptr},
      {"kv_len", "kv_len", options.kv_len, tensors.kv_len.data != nullptr},
      {"q_offsets", "ragged", options.ragged, tensors.q_offsets.data != nullptr},
      {"k_offsets", "ragged", options.ragged, tensors.k_offsets.data != nullptr}};
  for (const auto& array : arrays) {
    if (array.given && !array.wanted) {
      return Status::InvalidArgument(
          fmt::format("{}: found an array, expected none because the plan's option {} is off",
                      array.name, array.option));
    }
  }
  return {};
}

// A mask or bias over scores of the given sizes.
Status CheckOverScores(const char* name, const ConstTensor& tensor, DataType type,
                       const Sizes& scores) {
  for (size_t axis = 0; axis < 4; ++axis) {
    if (tensor.sizes[axis] != scores[axis] && tensor.sizes[axis] != 1) {
      return Status::InvalidArgument(fmt::format("{}: sizes are {}, expected those of {} or 1",
                                                 name, core::SizesText(tensor.sizes),
                                                 core::SizesText(scores)));
    }
  }
  return core::CheckInput(name, tensor, type, tensor.sizes);
}

template <typename T>
Status CheckArray(const char* name, const ArrayView<T>& array, int64_t size) {
  if (array.size != size) {
    return Status::InvalidArgument(
        fmt::format("{}: found {} entries, expected {}", name, array.size, size));
  }
  if (array.data == nullptr && size > 0) {
    return Status::InvalidArgument(
        fmt::format("{}: data is null, expected {} entries", name, size));
  }
  return {};
}

Status CheckSlopesAndSinks(const AttentionShape& shape, const AttentionOptions& options,
                           const AttentionTensors& tensors) {
  if (options.alibi_slopes) {
    if (Status s = CheckArray("alibi_slopes", tensors.alibi_slopes, shape.heads); !s.ok()) return s;
    for (int64_t h = 0; h < shape.heads; ++h) {
      if (!std::isfinite(tensors.alibi_slopes.data[h])) {
        return Status::InvalidArgument(
            fmt::format("alibi_slopes: found {} for head {}, expected a finite number",
                        tensors.alibi_slopes.data[h], h));
      }
    }
  }
  if (options.sinks) {
    if (Status s = CheckArray("sinks", tensors.sinks, shape.heads); !s.ok()) return s;
    for (int64_t h = 0; h < shape.heads; ++h) {
      const float sink = tensors.sinks.data[h];
      if (!(sink < std::numeric_limits<float>::infinity())) {
        return Status::InvalidArgument(
            fmt::format("sinks: found {} for head {}, expected a finite number or -inf", sink, h));
      }
    }
  }
  return {};
}

Status CheckKvLen(const AttentionShape& shape, const AttentionTensors& tensors) {
  if (Status s = CheckArray("kv_len", tensors.kv_len, shape.batch); !s.ok()) return s;
  for (int64_t b = 0; b < shape.batch; ++b) {
    const int64_t length = tensors.kv_len.data[b];
    if (length < 0 || length > shape.keys) {
      return Status::InvalidArgument(
          fmt::format("kv_len: found {} for batch item {}, expected 0 to {} (the key slots)",
                      length, b, shape.keys));
    }
  }
  return {};
}

Status CheckOffsets(const char* name, const ArrayView<int64_t>& offsets, int64_t batch,
                    int64_t rows) {
  if (Status s = CheckArray(name, offsets, batch + 1); !s.ok()) return s;
  for (int64_t b = 0; b <= batch; ++b) {
    const int64_t least = b == 0 ? 0 : offsets.data[b - 1];
    const int64_t most = b == 0 ? 0 : rows;
    const int64_t found = offsets.data[b];
    if (found < least || found > most || (b == batch && found != rows)) {
      return Status::InvalidArgument(
          fmt::format("{}: found {} at index {}, expected {}", name, found, b,
                      b == 0       ? std::string("0")
                      : b == batch ? fmt::format("{}, the number of rows", rows)
                                   : fmt::format("{} to {}", least, most)));
    }
  }
  return {};
}

Status CheckInputs(const AttentionShape& shape, const AttentionOptions& options,
                   const AttentionTensors& tensors) {
  const int64_t items = options.ragged ? 1 : shape.batch;
  const struct {
    const char* name;
    const ConstTensor& tensor;
    DataType type;
    Sizes sizes;
  } arrays[] = {
      {"q", tensors.q, shape.q_type, {items, shape.heads, shape.queries, shape.dim}},
      {"k", tensors.k, shape.k_type, {items, shape.kv_heads, shape.keys, shape.dim}},
      {"v", tensors.v, shape.v_type, {items, shape.kv_heads, shape.keys, shape.value_dim}}};
  for (const auto& array : arrays) {
    if (Status s = core::CheckInput(array.name, array.tensor, array.type, array.sizes); !s.ok()) {
      return s;
    }
  }
  const Sizes scores = {shape.batch, shape.heads, shape.queries, shape.keys};
  if (options.mask) {
    if (Status s = CheckOverScores("mask", tensors.mask, DataType::kBool, scores); !s.ok())
      return s;
  }
  if (options.bias) {
    if (Status s = CheckOverScores("bias", tensors.bias, DataType::kF32, scores); !s.ok()) return s;
  }
  if (Status s = CheckSlopesAndSinks(shape, options, tensors); !s.ok()) return s;
  if (options.kv_len) {
    if (Status s = CheckKvLen(shape, tensors); !s.ok()) return s;
  }
  if (!options.ragged) return {};
  if (Status s = CheckOffsets("q_offsets", tensors.q_offsets, shape.batch, shape.queries);
      !s.ok()) {
    return s;
  }
  return CheckOffsets("k_offsets", tensors.k_offsets, shape.batch, shape.keys);
}

// Outputs by themselves, then against the inputs and each other.
Status CheckOutputs(const AttentionShape& shape, const AttentionOptions& options,
                    const AttentionTensors& tensors) {
  const int64_t items = options.ragged ? 1 : shape.batch;
  struct Output {
    const char* name;
    bool wanted;
    const Tensor& tensor;
    DataType type;
    Sizes sizes;
  };
  const Output outputs[] = {
      {"out",
       true,
       tensors.out,
       shape.out_type,
       {items, shape.heads, shape.queries, shape.value_dim}},
      {"lse", options.lse, tensors.lse, DataType::kF32, {items, shape.heads, shape.queries, 1}},
      {"weights",
       options.weights,
       tensors.weights,
       DataType::kF32,
       {shape.batch, shape.heads, shape.queries, shape.keys}}};
  for (const Output& output : outputs) {
    if (!output.wanted) continue;
    if (Status s = core::CheckOutput(output.name, output.tensor, output.type, output.sizes);
        !s.ok()) {
      return s;
    }
  }
  // One-dimensional arrays as tensors of the same bytes.
  const auto bytes = [](const auto& array) {
    const int64_t size = array.size * static_cast<int64_t>(sizeof(*array.data));
    return ConstTensor(array.data, DataType::kBool, {1, 1, 1, size});
  };
  const struct {
    const char* name;
    ConstTensor tensor;
  } others[] = {{"q", tensors.q},
                {"k", tensors.k},
                {"v", tensors.v},
                {"mask", tensors.mask},
                {"bias", tensors.bias},
                {"alibi_slopes", bytes(tensors.alibi_slopes)},
                {"sinks", bytes(tensors.sinks)},
                {"kv_len", bytes(tensors.kv_len)},
                {"q_offsets", bytes(tensors.q_offsets)},
                {"k_offsets", bytes(tensors.k_offsets)},
                {"out", tensors.out},
                {"lse", tensors.lse},
                {"weights", tensors.weights}};
  for (const Output& output : outputs) {
    if (!output.wanted) continue;
    for (const auto& other : others) {
      if (other.tensor.data == nullptr || std::string_view(other.name) == output.name) continue;
      if (Status s = core::CheckApart(output.name, output.tensor, other.name, other.tensor);
          !s.ok()) {
        return s;
      }
    }
  }
  return {};
}

}  // namespace

Status CheckRequest(const AttentionShape& shape, const AttentionOptions& options) {
  if (Status s = CheckSizes(shape); !s.ok()) return s;
  if (Status s = CheckTypes(shape); !s.ok()) return s;
  return CheckOptions(options);
}

Status CheckTensors(const AttentionPlan::Decision& decision, const AttentionTensors& tensors) {
  if (Status s = CheckUnwanted(decision.options, tensors); !s.ok()) return s;
  if (Status s = CheckInputs(decision.shape, decision.options, tensors); !s.ok()) return s;
  return CheckOutputs(decision.shape, decision.options, tensors);
}

}  // namespace lanewise::attention
