// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The built-in cases of `lanewise verify`: sizes around the lanes and rows of every register tile,
// every option alone and with others, shared heads, strides, numbers that are hard on softmax,
// every score function, decoding, and every type.

#ifndef LANEWISE_TOOLS_VERIFY_CASES_H_
#define LANEWISE_TOOLS_VERIFY_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"

namespace lanewise::tools {

// How an array lies in memory.
enum class Layout {
  kDense,
  kPadded,  // gaps between rows and between heads
  kPacked,  // [batch, rows, heads, columns]
  kShared,  // all heads are the same memory; inputs only
};

// What q, k and v hold.
enum class Content {
  kUniform,      // numbers in [-1, 1)
  kLargeScores,  // scores in the hundreds
  kLargeValues,  // values around 1e30, and around 1e-30
  kNanQuery,     // one query holds NaN
  // NaN and infinities in a few keys and values. Rows that see them show it, others may not.
  kNotFiniteKeys,
  // NaN and infinities in every key and value that no row sees.
  kNotFiniteUnseen,
};

// Sizes of a mask or bias.
enum class Pairs {
  kNone,    // there is none
  kEach,    // [batch, heads, queries, keys]
  kShared,  // [1, 1, queries, keys]
  kPerKey,  // [batch, 1, 1, keys]
  kPerRow,  // [1, heads, queries, 1]
};

// Which pairs a mask, or a bias of -inf, hides.
enum class Pattern {
  kMixed,   // half of the pairs of most rows, all of some
  kBlocks,  // everything, nothing or half of the pairs of blocks of 32 x 32
  kNothing,
};

struct VerifyCase {
  std::string name;
  AttentionShape shape;
  AttentionOptions options;  // lse is always asked for
  Layout layout = Layout::kDense;
  Content content = Content::kUniform;
  // Fit the options of the same names.
  Pairs mask = Pairs::kNone;
  Pairs bias = Pairs::kNone;
  Pattern pattern = Pattern::kMixed;
  std::vector<int64_t> kv_len = {};
  std::vector<int64_t> q_offsets = {};
  std::vector<int64_t> k_offsets = {};

  int64_t kv_block = 0;  // 0: the plan's
};

std::vector<VerifyCase> VerifyCases();

// Those of them whose scores are no dot products.
std::vector<VerifyCase> VerifyScoreCases();

// Those of them that decode, or have other types than f32.
std::vector<VerifyCase> VerifyTypeCases();

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_VERIFY_CASES_H_
