// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases of decoding and of 16-bit types.

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "tools/verify_cases.h"

namespace lanewise::tools {
namespace {

constexpr DataType kF32 = DataType::kF32;
constexpr DataType kF16 = DataType::kF16;
constexpr DataType kBF16 = DataType::kBF16;

struct Types {
  const char* name;
  DataType q, k, v, out;
};

// All sizes are gone through with the first three, which have every element type in every place.
constexpr Types kSame[] = {{"f32", kF32, kF32, kF32, kF32},
                           {"f16", kF16, kF16, kF16, kF16},
                           {"bf16", kBF16, kBF16, kBF16, kBF16}};
constexpr Types kMixed[] = {{"f16 keys and values", kF32, kF16, kF16, kF32},
                            {"bf16 keys and values", kF32, kBF16, kBF16, kF32},
                            {"f16 queries", kF16, kF32, kF32, kF16},
                            {"bf16 output", kF32, kF32, kF32, kBF16},
                            {"bf16 queries, f16 keys, bf16 values", kBF16, kF16, kBF16, kF16},
                            {"bf16 keys, f32 values", kF32, kBF16, kF32, kF32}};

class TypeCaseList {
 public:
  std::vector<VerifyCase> Make() {
    for (const Types& types : kSame) {
      AddPrefill(types);
      AddDecodingSizes(types);
      AddDecodingOptions(types);
    }
    for (const Types& types : kMixed) {
      AddPrefill(types);
      AddDecodingOptions(types);
    }
    return std::move(cases_);
  }

 private:
  // A case of four heads that share two, to be changed by the caller.
  VerifyCase& Add(const Types& types, const std::string& name, int64_t queries, int64_t keys) {
    VerifyCase& added = cases_.emplace_back();
    added.name = fmt::format("{}, {}", types.name, name);
    added.shape = {.heads = 4,
                   .kv_heads = 2,
                   .queries = queries,
                   .keys = keys,
                   .dim = 24,
                   .value_dim = 9,
                   .q_type = types.q,
                   .k_type = types.k,
                   .v_type = types.v,
                   .out_type = types.out};
    added.options.lse = true;
    return added;
  }

  VerifyCase& AddDecode(const Types& types, const std::string& name, int64_t keys) {
    return Add(types, "decode, " + name, 1, keys);
  }

  void AddPrefill(const Types& types) {
    for (const int64_t dim : {1, 7, 16, 33, 64}) {
      VerifyCase& added = Add(types, fmt::format("dim {}", dim), 37, 70);
      added.shape.dim = dim;
      added.shape.value_dim = 65 - dim;
      added.layout = Layout::kPadded;
    }
    VerifyCase& causal = Add(types, "causal, heads inside rows", 66, 300);
    causal.options.causal = true;
    causal.layout = Layout::kPacked;
    VerifyCase& window = Add(types, "window 20, 5, NaN and inf in a few keys", 70, 150);
    window.options.window = {20, 5};
    window.options.weights = true;
    window.content = Content::kNotFiniteKeys;
    VerifyCase& edited = Add(types, "mask, bias, sinks", 45, 110);
    edited.options.mask = edited.options.bias = edited.options.sinks = true;
    edited.mask = Pairs::kEach;
    edited.bias = Pairs::kPerRow;
    VerifyCase& ragged = Add(types, "ragged", 70, 120);
    ragged.options.ragged = true;
    ragged.options.causal = true;
    ragged.shape.batch = 4;
    ragged.q_offsets = {0, 1, 36, 37, 70};
    ragged.k_offsets = {0, 50, 86, 87, 120};
    ragged.layout = Layout::kPacked;
  }

  void AddDecodingSizes(const Types& types) {
    for (const int64_t group : {1, 2, 3, 4, 5, 7, 8, 9, 16}) {
      VerifyCase& added = AddDecode(types, fmt::format("{} heads over 1", group), 90);
      added.shape.heads = 2 * group;
      added.layout = group % 2 == 0 ? Layout::kPacked : Layout::kPadded;
    }
    // Around the rows, chunks and blocks of kernels.
    for (const int64_t keys : {0, 1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 513, 1000}) {
      AddDecode(types, fmt::format("{} keys", keys), keys);
    }
    for (const int64_t dim : {1, 3, 8, 15, 16, 17, 33, 64, 80, 128, 129}) {
      VerifyCase& added = AddDecode(types, fmt::format("dim {}", dim), 70);
      added.shape.dim = dim;
      added.shape.value_dim = 130 - dim;
    }
    for (const int64_t queries : {2, 3, 5}) {
      VerifyCase& few = Add(types, fmt::format("decode, {} queries", queries), queries, 200);
      few.options.causal = true;
    }
    VerifyCase& batch = AddDecode(types, "batch 3, broadcast heads", 90);
    batch.shape.batch = 3;
    batch.layout = Layout::kShared;
  }

  void AddDecodingOptions(const Types& types) {
    VerifyCase& lengths = AddDecode(types, "kv_len, NaN and inf out of sight", 600);
    lengths.shape.batch = 5;
    lengths.options.kv_len = true;
    lengths.kv_len = {0, 600, 1, 64, 319};
    lengths.content = Content::kNotFiniteUnseen;
    VerifyCase& window = AddDecode(types, "window 99, 0, causal, NaN and inf out of sight", 600);
    window.options.window = {99, 0};
    window.options.causal = true;
    window.content = Content::kNotFiniteUnseen;
    VerifyCase& mask = AddDecode(types, "mask, weights, NaN and inf in a few keys", 300);
    mask.options.mask = mask.options.weights = true;
    mask.mask = Pairs::kPerKey;
    mask.content = Content::kNotFiniteKeys;
    VerifyCase& edited = AddDecode(types, "bias, ALiBi, sinks, softcap 3", 300);
    edited.options.bias = edited.options.alibi_slopes = edited.options.sinks = true;
    edited.options.softcap = 3.0f;
    edited.bias = Pairs::kEach;
    VerifyCase& chunks = AddDecode(types, "kv_block 32", 300);
    chunks.shape.dim = 65;
    chunks.options.weights = true;
    chunks.kv_block = 32;
    VerifyCase& large = AddDecode(types, "scores in the hundreds", 300);
    large.content = Content::kLargeScores;
    VerifyCase& nan = AddDecode(types, "NaN in the query", 90);
    nan.content = Content::kNanQuery;
  }

  std::vector<VerifyCase> cases_;
};

}  // namespace

std::vector<VerifyCase> VerifyTypeCases() { return TypeCaseList().Make(); }

}  // namespace lanewise::tools
