// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of attention cases, and names for others.

#include "bench/attention_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "bench/prepared_attention.h"
#include "src/attention/score.h"

namespace lanewise::bench {
namespace {

// A line of the table. value_dim is dim, and out is f32.
struct Line {
  std::string_view name;
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;
  int64_t queries;
  int64_t keys;
  int64_t dim;
  AttentionOptions options;
  DataType q_type = DataType::kF32;
  DataType kv_type = DataType::kF32;
};

constexpr DataType kF32 = DataType::kF32;
constexpr DataType kF16 = DataType::kF16;
constexpr DataType kBF16 = DataType::kBF16;

constexpr AttentionOptions kFull = {};

constexpr AttentionOptions Causal(AttentionWindow window = {}) {
  AttentionOptions options;
  options.causal = true;
  options.window = window;
  return options;
}

constexpr AttentionOptions Local(int64_t radius) {
  AttentionOptions options;
  options.window = AttentionWindow::Radius(radius);
  return options;
}

constexpr AttentionOptions Mask() {
  AttentionOptions options;
  options.mask = true;
  return options;
}

constexpr AttentionOptions Bias() {
  AttentionOptions options;
  options.bias = true;
  return options;
}

constexpr AttentionOptions Softcap(float cap) {
  AttentionOptions options;
  options.softcap = cap;
  return options;
}

constexpr AttentionOptions Gaussian(float bandwidth) {
  AttentionOptions options;
  options.score = AttentionScore::kGaussian;
  options.bandwidth = bandwidth;
  return options;
}

// With both projections; hidden is dim.
constexpr AttentionOptions Additive() {
  AttentionOptions options;
  options.score = AttentionScore::kAdditive;
  options.wq = options.wk = true;
  return options;
}

constexpr Line kLines[] = {
    // name, batch, heads, kv_heads, queries, keys, dim, options, types
    {"full_d64", 1, 8, 8, 2048, 2048, 64, kFull},
    {"full_d128", 1, 8, 8, 2048, 2048, 128, kFull},
    {"full_d128_f16", 1, 8, 8, 2048, 2048, 128, kFull, kF16, kF16},
    {"full_d128_bf16", 1, 8, 8, 2048, 2048, 128, kFull, kBF16, kBF16},
    {"full_d64_mask", 1, 8, 8, 2048, 2048, 64, Mask()},
    {"full_d64_bias", 1, 8, 8, 2048, 2048, 64, Bias()},
    {"full_d64_softcap", 1, 8, 8, 2048, 2048, 64, Softcap(30)},
    {"gaussian_d64", 1, 8, 8, 2048, 2048, 64, Gaussian(3)},
    {"additive_d64", 1, 4, 4, 1024, 1024, 64, Additive()},
    {"causal_d64", 1, 8, 8, 2048, 2048, 64, Causal()},
    {"causal_d128", 1, 8, 8, 4096, 4096, 128, Causal()},
    {"bert", 8, 12, 12, 128, 128, 64, kFull},
    {"local32", 1, 4, 4, 8192, 8192, 64, Local(32)},
    {"local128", 1, 4, 4, 8192, 8192, 64, Local(128)},
    {"local512", 1, 4, 4, 8192, 8192, 64, Local(512)},
    {"window128_causal", 1, 4, 4, 8192, 8192, 64, Causal({127, 0})},
    {"decode_gqa", 1, 32, 8, 1, 8192, 128, kFull},
    {"decode_mha", 1, 32, 32, 1, 4096, 128, kFull},
    {"decode_f16", 1, 32, 8, 1, 8192, 128, kFull, kF32, kF16},
    {"decode_bf16", 1, 32, 8, 1, 8192, 128, kFull, kF32, kBF16},
    {"decode_l2", 1, 8, 1, 1, 512, 128, kFull},
    {"decode_long", 1, 1, 1, 1, 65536, 64, kFull},
    {"chunk_gqa", 1, 32, 8, 64, 4096, 128, Causal()},
};

AttentionCase FromLine(const Line& line) {
  AttentionCase result;
  result.name = line.name;
  result.shape.batch = line.batch;
  result.shape.heads = line.heads;
  result.shape.kv_heads = line.kv_heads;
  result.shape.queries = line.queries;
  result.shape.keys = line.keys;
  result.shape.dim = line.dim;
  result.shape.value_dim = line.dim;
  result.shape.q_type = line.q_type;
  result.shape.k_type = line.kv_type;
  result.shape.v_type = line.kv_type;
  result.options = line.options;
  return result;
}

// "" for f32 alone, "_f16" for that type alone, else the types of q, k, v and out.
std::string TypeSuffix(const AttentionShape& shape) {
  const DataType types[] = {shape.q_type, shape.k_type, shape.v_type, shape.out_type};
  const bool same = std::all_of(std::begin(types), std::end(types),
                                [&](DataType type) { return type == shape.q_type; });
  if (same && shape.q_type == DataType::kF32) return "";
  std::string suffix;
  for (const DataType type : types) {
    suffix += fmt::format("_{}", DataTypeName(type));
    if (same) break;
  }
  return suffix;
}

// "7" for lengths that are all the same, "7to12" for others, "" for none.
std::string LengthsText(const std::vector<int64_t>& lengths) {
  if (lengths.empty()) return "";
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{}to{}", *least, *most);
}

// Of sequences that lie one after the other.
std::string LengthsText(const char* rows, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> lengths;
  for (size_t b = 1; b < offsets.size(); ++b) lengths.push_back(offsets[b] - offsets[b - 1]);
  return lengths.empty() ? "" : rows + LengthsText(lengths);
}

}  // namespace

std::vector<AttentionCase> AttentionCases() {
  std::vector<AttentionCase> cases;
  std::transform(std::begin(kLines), std::end(kLines), std::back_inserter(cases), FromLine);
  return cases;
}

Case ToCase(AttentionCase benchmark) { return CaseOf<PreparedAttention>(std::move(benchmark)); }

AttentionCase CustomCase(const AttentionShape& shape, const AttentionOptions& options,
                         AttentionLengths lengths) {
  std::string name =
      fmt::format("b{}_h{}_kv{}_q{}_k{}_d{}_v{}", shape.batch, shape.heads, shape.kv_heads,
                  shape.queries, shape.keys, shape.dim, shape.value_dim) +
      TypeSuffix(shape);
  if (shape.key_dim != 0) name += fmt::format("_kd{}", shape.key_dim);
  if (options.score != AttentionScore::kDot) {
    name += fmt::format("_{}", attention::ScoreName(options.score));
  }
  // Of other scores, which it means nothing to, the number needs a name.
  if (shape.hidden != 0) {
    const bool follows = options.score == AttentionScore::kAdditive;
    name += fmt::format("{}{}", follows ? "" : "_hidden", shape.hidden);
  }
  if (options.bandwidth) {
    const bool follows = options.score == AttentionScore::kGaussian;
    name += fmt::format("{}{}", follows ? "" : "_bandwidth", *options.bandwidth);
  }
  if (options.scale) name += fmt::format("_scale{}", *options.scale);
  if (options.wq) name += "_wq";
  if (options.wk) name += "_wk";
  if (options.causal) name += "_causal";
  if (options.top_left) name += "_top_left";
  if (options.query_offset) name += fmt::format("_offset{}", *options.query_offset);
  if (options.window.left != kUnlimited || options.window.right != kUnlimited) {
    name += fmt::format("_window{}_{}", options.window.left, options.window.right);
  }
  if (options.softcap) name += fmt::format("_softcap{}", *options.softcap);
  const std::pair<const char*, bool> arrays[] = {
      {"_mask", options.mask},     {"_bias", options.bias},    {"_alibi", options.alibi_slopes},
      {"_sinks", options.sinks},   {"_lse", options.lse},      {"_weights", options.weights},
      {"_kv_len", options.kv_len}, {"_ragged", options.ragged}};
  for (const auto& [suffix, given] : arrays) {
    if (given) name += suffix;
  }
  name += LengthsText(lengths.kv_len) + LengthsText("_q", lengths.q_offsets) +
          LengthsText("_k", lengths.k_offsets);
  return {std::move(name), shape, options, std::move(lengths)};
}

}  // namespace lanewise::bench
