// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What follows from the fields of a case.

#include "tests/fuzz/fuzz_case.h"

#include <algorithm>

#include "src/attention/score.h"

namespace lanewise::testing {

namespace {

// What the score function does not have goes, what it needs comes.
void NormalizeScore(FuzzCase& c) {
  AttentionOptions& options = c.options;
  AttentionShape& shape = c.shape;
  const bool additive = options.score == AttentionScore::kAdditive;
  const bool gaussian = options.score == AttentionScore::kGaussian;
  if (gaussian) {
    options.scale.reset();
    if (!options.bandwidth) options.bandwidth = 1.0F;
  } else {
    options.bandwidth.reset();
  }
  if (!additive) {
    options.wq = options.wk = false;
    shape.hidden = 0;
    if (options.score != AttentionScore::kBilinear) shape.key_dim = 0;
    return;
  }
  if (shape.hidden == 0) shape.hidden = shape.dim;
  if (!options.wq) shape.dim = shape.hidden;
  if (!options.wk) shape.key_dim = shape.hidden;
}

}  // namespace

void Normalize(FuzzCase& c) {
  NormalizeScore(c);
  if (c.mask.kind == MaskKind::kNone) c.mask = {};
  if (c.bias.kind == BiasKind::kNone) c.bias = {};
  if (c.mask.kind == MaskKind::kNone && c.bias.kind == BiasKind::kNone) {
    c.pair_layout = LayoutKind::kDense;
  }
  if (!c.sequences.empty()) {
    c.shape.batch = static_cast<int64_t>(c.sequences.size());
    c.shape.queries = 0;
    c.shape.keys = 0;
    for (const FuzzCase::Sequence& sequence : c.sequences) {
      c.shape.queries += sequence.queries;
      c.shape.keys += sequence.keys;
    }
  }
  for (std::vector<int64_t>* counts : {&c.kv_len, &c.kv_first}) {
    if (counts->empty()) continue;
    counts->resize(static_cast<size_t>(c.shape.batch), c.shape.keys);
    for (int64_t& count : *counts) count = std::clamp<int64_t>(count, 0, c.shape.keys);
  }
  const bool shares_keys =
      c.kv_layout == LayoutKind::kSharedBatch || c.kv_layout == LayoutKind::kSharedRows;
  if (shares_keys && (!c.kv_first.empty() || c.page_size != 0)) c.kv_layout = LayoutKind::kDense;
}

AttentionOptions FullOptions(const FuzzCase& c) {
  AttentionOptions options = c.options;
  options.mask = c.mask.kind != MaskKind::kNone;
  options.bias = c.bias.kind != BiasKind::kNone;
  options.alibi_slopes = c.slopes != SlopesKind::kNone;
  options.sinks = c.sinks != SinksKind::kNone;
  options.kv_len = !c.kv_len.empty();
  options.kv_first = !c.kv_first.empty();
  options.paged = c.page_size != 0;
  options.ragged = !c.sequences.empty();
  return options;
}

bool IsRefused(const FuzzCase& c) {
  const AttentionOptions options = FullOptions(c);
  return (options.top_left && options.query_offset) ||
         (options.ragged && (options.mask || options.bias || options.kv_len || options.kv_first ||
                             options.paged || options.weights)) ||
         (c.path.overrides.variant == "few" &&
          (options.score != AttentionScore::kDot || !c.path.overrides.tile.empty() ||
           c.path.overrides.q_groups != 0));
}

int64_t Work(const FuzzCase& c) {
  int64_t pairs = c.shape.batch * c.shape.queries * c.shape.keys;
  if (!c.sequences.empty()) {
    pairs = 0;
    for (const FuzzCase::Sequence& sequence : c.sequences) {
      pairs += sequence.queries * sequence.keys;
    }
  }
  const AttentionShape shape = attention::WithScoreSizes(c.shape, c.options.score);
  // Counting a tanh as ten, and what the definition projects again for every pair.
  int64_t score = shape.key_dim;
  if (c.options.score == AttentionScore::kBilinear) score *= shape.dim;
  if (c.options.score == AttentionScore::kAdditive) {
    score = shape.hidden * (10 + (c.options.wk ? shape.key_dim : 0));
  }
  return c.shape.heads * pairs * (score + c.shape.value_dim);
}

}  // namespace lanewise::testing
