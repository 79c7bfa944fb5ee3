// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The built-in cases of `lanewise verify`: sizes around the lanes and rows of every register tile,
// masks, shared heads, strides, and numbers that are hard on softmax.

#ifndef LANEWISE_TOOLS_VERIFY_CASES_H_
#define LANEWISE_TOOLS_VERIFY_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/tensor.h"
#include "src/reference/attention.h"
#include "src/reference/tolerance.h"

namespace lanewise::tools {

// How an array lies in memory.
enum class Layout {
  kDense,
  kPadded,  // gaps between rows and between heads
  kPacked,  // [batch, rows, heads, columns]
  kShared,  // all heads are the same memory; inputs only
};

// What the inputs hold.
enum class Content {
  kUniform,          // numbers in [-1, 1)
  kLargeScores,      // scores in the hundreds
  kLargeValues,      // values around 1e30, and around 1e-30
  kHiddenNotFinite,  // NaN and infinities in keys and values that rows of a causal case do not see
  kNanQuery,         // one query holds NaN
};

struct VerifyCase {
  std::string name;
  AttentionShape shape;
  AttentionOptions options;  // lse is always asked for
  Layout layout = Layout::kDense;
  Content content = Content::kUniform;
};

std::vector<VerifyCase> VerifyCases();

// Memory for one array; what the view does not cover holds a mark.
class VerifyArray {
 public:
  VerifyArray(const Sizes& sizes, Layout layout);

  Tensor view() noexcept { return {memory_.data(), sizes_, strides_}; }
  ConstTensor view() const noexcept { return {memory_.data(), sizes_, strides_}; }
  float& At(int64_t a, int64_t b, int64_t c, int64_t d) noexcept;

  // Marks all of it again.
  void Clear();
  // Whether all that the view does not cover still holds the mark.
  bool GapsIntact() const;

 private:
  Sizes sizes_;
  Sizes strides_;
  std::vector<float> memory_;
  std::vector<bool> covered_;
};

// A case with its inputs, the right results, and space for the results of a run.
class PreparedVerifyCase {
 public:
  explicit PreparedVerifyCase(VerifyCase description);

  const VerifyCase& description() const noexcept { return case_; }

  // Computes the case with `plan`. `*ratio` is the largest error / tolerance; the returned text
  // says what is wrong, and is empty if nothing is.
  std::string Run(const AttentionPlan& plan, double* ratio);

 private:
  void Fill();

  VerifyCase case_;
  VerifyArray q_, k_, v_, out_, lse_;
  reference::AttentionResult expected_;
  reference::AttentionTolerance tolerance_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_VERIFY_CASES_H_
