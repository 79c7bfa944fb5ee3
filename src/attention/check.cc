// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "src/attention/score.h"
#include "src/attention/visibility.h"
#include "src/core/sizes.h"
#include "src/core/tensor_check.h"

namespace lanewise::attention {
namespace {

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
      {"kv_first", "kv_first", options.kv_first, tensors.kv_first.data != nullptr},
      {"page_table", "paged", options.paged, tensors.page_table.ids != nullptr},
      {"q_offsets", "ragged", options.ragged, tensors.q_offsets.data != nullptr},
      {"k_offsets", "ragged", options.ragged, tensors.k_offsets.data != nullptr},
      {"wq", "wq", options.wq, tensors.wq.data != nullptr},
      {"wk", "wk", options.wk, tensors.wk.data != nullptr}};
  for (const auto& array : arrays) {
    if (array.given && !array.wanted) {
      return Status::InvalidArgument(
          fmt::format("{}: found an array, expected none because the plan's option {} is off",
                      array.name, array.option));
    }
  }
  const struct {
    const char* name;
    AttentionScore score;
    bool given;
  } parameters[] = {{"w", AttentionScore::kBilinear, tensors.w.data != nullptr},
                    {"w_out", AttentionScore::kAdditive, tensors.w_out.data != nullptr}};
  for (const auto& parameter : parameters) {
    if (parameter.given && options.score != parameter.score) {
      return Status::InvalidArgument(
          fmt::format("{}: found an array, expected none because the plan's score is {}",
                      parameter.name, ScoreName(options.score)));
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

Status CheckSlopesAndSinks(const AttentionShape& shape, const AttentionOptions& options,
                           const AttentionTensors& tensors) {
  if (options.alibi_slopes) {
    if (Status s = core::CheckEntries("alibi_slopes", tensors.alibi_slopes, shape.heads); !s.ok())
      return s;
    for (int64_t h = 0; h < shape.heads; ++h) {
      if (!std::isfinite(tensors.alibi_slopes.data[h])) {
        return Status::InvalidArgument(
            fmt::format("alibi_slopes: found {} for head {}, expected a finite number",
                        tensors.alibi_slopes.data[h], h));
      }
    }
  }
  if (options.sinks) {
    if (Status s = core::CheckEntries("sinks", tensors.sinks, shape.heads); !s.ok()) return s;
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

Status CheckScoreParameters(const AttentionShape& shape, const AttentionOptions& options,
                            const AttentionTensors& tensors) {
  const struct {
    const char* name;
    bool wanted;
    const ConstTensor& tensor;
    int64_t rows;
    int64_t columns;
  } matrices[] = {
      {"w", options.score == AttentionScore::kBilinear, tensors.w, shape.dim, shape.key_dim},
      {"wq", options.wq, tensors.wq, shape.hidden, shape.dim},
      {"wk", options.wk, tensors.wk, shape.hidden, shape.key_dim}};
  for (const auto& matrix : matrices) {
    if (!matrix.wanted) continue;
    if (Status s = core::CheckInput(matrix.name, matrix.tensor, DataType::kF32,
                                    {1, 1, matrix.rows, matrix.columns});
        !s.ok()) {
      return s;
    }
  }
  if (options.score != AttentionScore::kAdditive) return {};
  return core::CheckEntries("w_out", tensors.w_out, shape.hidden);
}

// kv_len or kv_first.
Status CheckKeyCounts(const char* name, const ArrayView<int64_t>& counts,
                      const AttentionShape& shape) {
  if (Status s = core::CheckEntries(name, counts, shape.batch); !s.ok()) return s;
  for (int64_t b = 0; b < shape.batch; ++b) {
    if (counts.data[b] < 0 || counts.data[b] > shape.keys) {
      return Status::InvalidArgument(
          fmt::format("{}: found {} for batch item {}, expected 0 to {} (the key slots)", name,
                      counts.data[b], b, shape.keys));
    }
  }
  return {};
}

// That k and v are pools of the same pages, and the table has a page for each valid slot.
Status CheckPages(const AttentionShape& shape, const AttentionOptions& options,
                  const AttentionTensors& tensors) {
  const PageTable& table = tensors.page_table;
  const int64_t pages = tensors.k.sizes[0];
  const int64_t page_size = tensors.k.sizes[2];
  if (tensors.v.sizes[0] != pages || tensors.v.sizes[2] != page_size) {
    return Status::InvalidArgument(
        fmt::format("v: found {} pages of {} rows, expected {} of {} as in k", tensors.v.sizes[0],
                    tensors.v.sizes[2], pages, page_size));
  }
  if (page_size < 1) {
    return Status::InvalidArgument(
        fmt::format("k: found pages of {} rows, expected at least 1", page_size));
  }
  if (table.batch != shape.batch) {
    return Status::InvalidArgument(
        fmt::format("page_table: found {} batch items, expected {}", table.batch, shape.batch));
  }
  if (table.pages_per_item < core::DivideUp(shape.keys, page_size)) {
    return Status::InvalidArgument(fmt::format(
        "page_table: found {} pages for each batch item, expected at least {} ({} key slots in "
        "pages of {})",
        table.pages_per_item, core::DivideUp(shape.keys, page_size), shape.keys, page_size));
  }
  if (!core::CheckedProduct({table.batch, table.pages_per_item, sizeof(int32_t)})) {
    return Status::InvalidArgument(
        fmt::format("page_table: found {} batch items of {} pages, expected ids that fit 64 bits",
                    table.batch, table.pages_per_item));
  }
  if (table.ids == nullptr && shape.batch > 0 && shape.keys > 0) {
    return Status::InvalidArgument("page_table: ids are null, expected an array");
  }
  for (int64_t b = 0; b < shape.batch; ++b) {
    // Valid slots, up to the last one and from the first one on.
    const int64_t first = options.kv_first ? tensors.kv_first.data[b] : 0;
    const int64_t end = first + (options.kv_len ? tensors.kv_len.data[b] : shape.keys);
    const int32_t* ids = table.ids + b * table.pages_per_item;
    for (const KeyRange slots :
         {KeyRange{first, std::min(end, shape.keys)}, KeyRange{0, end - shape.keys}}) {
      if (slots.empty()) continue;
      for (int64_t page = slots.begin / page_size; page * page_size < slots.end; ++page) {
        if (ids[page] < 0 || ids[page] >= pages) {
          return Status::InvalidArgument(fmt::format(
              "page_table: found page {} at index {} of batch item {}, expected 0 to {}", ids[page],
              page, b, pages - 1));
        }
      }
    }
  }
  return {};
}

Status CheckOffsets(const char* name, const ArrayView<int64_t>& offsets, int64_t batch,
                    int64_t rows) {
  if (Status s = core::CheckEntries(name, offsets, batch + 1); !s.ok()) return s;
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
  if (options.paged) {
    if (Status s = core::CheckSizes("k", tensors.k.sizes); !s.ok()) return s;
    if (Status s = core::CheckSizes("v", tensors.v.sizes); !s.ok()) return s;
  }
  // A pool has any number of pages, of any size.
  const auto kv_sizes = [&](const ConstTensor& tensor, int64_t columns) -> Sizes {
    if (options.paged) return {tensor.sizes[0], shape.kv_heads, tensor.sizes[2], columns};
    return {items, shape.kv_heads, shape.keys, columns};
  };
  const struct {
    const char* name;
    const ConstTensor& tensor;
    DataType type;
    Sizes sizes;
  } arrays[] = {{"q", tensors.q, shape.q_type, {items, shape.heads, shape.queries, shape.dim}},
                {"k", tensors.k, shape.k_type, kv_sizes(tensors.k, shape.key_dim)},
                {"v", tensors.v, shape.v_type, kv_sizes(tensors.v, shape.value_dim)}};
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
  if (Status s = CheckScoreParameters(shape, options, tensors); !s.ok()) return s;
  if (Status s = CheckSlopesAndSinks(shape, options, tensors); !s.ok()) return s;
  if (options.kv_len) {
    if (Status s = CheckKeyCounts("kv_len", tensors.kv_len, shape); !s.ok()) return s;
  }
  if (options.kv_first) {
    if (Status s = CheckKeyCounts("kv_first", tensors.kv_first, shape); !s.ok()) return s;
  }
  if (options.paged) {
    if (Status s = CheckPages(shape, options, tensors); !s.ok()) return s;
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
  const ArrayView<int32_t> page_ids = {
      tensors.page_table.ids, tensors.page_table.batch * tensors.page_table.pages_per_item};
  const struct {
    const char* name;
    ConstTensor tensor;
  } others[] = {{"q", tensors.q},
                {"k", tensors.k},
                {"v", tensors.v},
                {"mask", tensors.mask},
                {"bias", tensors.bias},
                {"alibi_slopes", core::BytesOf(tensors.alibi_slopes)},
                {"sinks", core::BytesOf(tensors.sinks)},
                {"kv_len", core::BytesOf(tensors.kv_len)},
                {"kv_first", core::BytesOf(tensors.kv_first)},
                {"page_table", core::BytesOf(page_ids)},
                {"q_offsets", core::BytesOf(tensors.q_offsets)},
                {"k_offsets", core::BytesOf(tensors.k_offsets)},
                {"w", tensors.w},
                {"wq", tensors.wq},
                {"wk", tensors.wk},
                {"w_out", core::BytesOf(tensors.w_out)},
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

Status CheckTensors(const AttentionPlan::Decision& decision, const AttentionTensors& tensors) {
  if (Status s = CheckUnwanted(decision.options, tensors); !s.ok()) return s;
  if (Status s = CheckInputs(decision.shape, decision.options, tensors); !s.ok()) return s;
  return CheckOutputs(decision.shape, decision.options, tensors);
}

}  // namespace lanewise::attention
