// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases of score functions other than dot products.

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "tools/verify_cases.h"

namespace lanewise::tools {
namespace {

struct ScoreKind {
  const char* name;
  AttentionScore score;
  bool wq;
  bool wk;
};

constexpr ScoreKind kKinds[] = {
    {"bilinear", AttentionScore::kBilinear, false, false},
    {"Gaussian", AttentionScore::kGaussian, false, false},
    {"additive", AttentionScore::kAdditive, true, true},
    {"additive, projected keys", AttentionScore::kAdditive, true, false},
    {"additive, projected queries", AttentionScore::kAdditive, false, true},
};

class ScoreCaseList {
 public:
  std::vector<VerifyCase> Make() {
    for (const ScoreKind& kind : kKinds) {
      AddSizes(kind);
      AddOptions(kind);
      AddNumbers(kind);
    }
    return std::move(cases_);
  }

 private:
  // A case of four heads that share two, to be changed by the caller.
  VerifyCase& Add(const ScoreKind& kind, const std::string& name, int64_t queries, int64_t keys) {
    VerifyCase& added = cases_.emplace_back();
    added.name = fmt::format("{}, {}", kind.name, name);
    added.shape = {
        .heads = 4, .kv_heads = 2, .queries = queries, .keys = keys, .dim = 24, .value_dim = 9};
    added.options.score = kind.score;
    added.options.wq = kind.wq;
    added.options.wk = kind.wk;
    added.options.lse = true;
    if (kind.score == AttentionScore::kGaussian) added.options.bandwidth = 1.25f;
    SetLengths(kind, {24, 24, 24}, added.shape);
    return added;
  }

  struct Lengths {
    int64_t dim, key_dim, hidden;
  };

  // As far as the score lets them differ.
  static void SetLengths(const ScoreKind& kind, const Lengths& lengths, AttentionShape& shape) {
    const bool additive = kind.score == AttentionScore::kAdditive;
    shape.hidden = additive ? lengths.hidden : 0;
    shape.dim = additive && !kind.wq ? lengths.hidden : lengths.dim;
    shape.key_dim = lengths.key_dim;
    if (additive && !kind.wk) shape.key_dim = lengths.hidden;
    if (kind.score == AttentionScore::kGaussian) shape.key_dim = lengths.dim;
  }

  void AddSizes(const ScoreKind& kind) {
    for (const int64_t size : {1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 80}) {
      VerifyCase& lengths = Add(kind, fmt::format("length {}", size), 37, 50);
      SetLengths(kind, {size, 81 - size, size}, lengths.shape);
      lengths.layout = Layout::kPadded;
      VerifyCase& rows =
          Add(kind, fmt::format("{} queries, {} keys", size, 82 - size), size, 82 - size);
      rows.layout = Layout::kPacked;
    }
    Add(kind, "no keys", 9, 0);
    Add(kind, "many keys", 40, 1000).shape.heads = 2;
  }

  void AddOptions(const ScoreKind& kind) {
    VerifyCase& causal = Add(kind, "causal, window 20, 0, NaN and inf out of sight", 50, 90);
    causal.options.causal = true;
    causal.options.window = {20, 0};
    causal.options.query_offset = 30;
    causal.content = Content::kNotFiniteUnseen;
    VerifyCase& mask = Add(kind, "mask, weights, NaN and inf in a few keys", 40, 90);
    mask.options.mask = mask.options.weights = true;
    mask.mask = Pairs::kEach;
    mask.content = Content::kNotFiniteKeys;
    VerifyCase& edited = Add(kind, "bias, ALiBi, sinks, softcap 1", 33, 70);
    edited.options.bias = edited.options.alibi_slopes = edited.options.sinks = true;
    edited.options.softcap = 1.0f;
    edited.bias = Pairs::kPerKey;
    VerifyCase& lengths = Add(kind, "kv_len, kv_block 32", 18, 90);
    lengths.shape.batch = 4;
    lengths.options.kv_len = true;
    lengths.kv_len = {0, 90, 17, 64};
    lengths.content = Content::kNotFiniteUnseen;
    lengths.kv_block = 32;
    VerifyCase& ragged = Add(kind, "ragged", 70, 90);
    ragged.options.ragged = true;
    ragged.shape.batch = 3;
    ragged.q_offsets = {0, 1, 36, 70};
    ragged.k_offsets = {0, 50, 60, 90};
    VerifyCase& types = Add(kind, "f16 queries, bf16 keys", 40, 70);
    types.shape.q_type = types.shape.out_type = DataType::kF16;
    types.shape.k_type = DataType::kBF16;
  }

  void AddNumbers(const ScoreKind& kind) {
    Add(kind, "queries 500 times larger", 30, 70).content = Content::kLargeScores;
    Add(kind, "NaN in one query", 30, 70).content = Content::kNanQuery;
    if (kind.score != AttentionScore::kGaussian) {
      Add(kind, "scale -2", 30, 70).options.scale = -2.0f;
    }
  }

  std::vector<VerifyCase> cases_;
};

}  // namespace

std::vector<VerifyCase> VerifyScoreCases() { return ScoreCaseList().Make(); }

}  // namespace lanewise::tools
