// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The list of cases, their data, and how a run is judged.

#include "tools/verify_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace lanewise::tools {
namespace {

// A NaN that no arithmetic produces.
constexpr uint32_t kMarkBits = 0x7FC5A5A5;
const float kMark = std::bit_cast<float>(kMarkBits);

bool IsMark(float value) { return std::bit_cast<uint32_t>(value) == kMarkBits; }

// Numbers uniform in [-1, 1), the same in every run (SplitMix64).
class Uniform {
 public:
  explicit Uniform(uint64_t seed) : state_(seed) {}
  float Next() {
    uint64_t x = state_ += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
    return static_cast<float>(static_cast<int64_t>(x >> 40) - (1 << 23)) * 0x1p-23f;
  }

 private:
  uint64_t state_;
};

Sizes StridesOf(const Sizes& sizes, Layout layout) {
  switch (layout) {
    case Layout::kDense:
      break;
    case Layout::kPadded: {
      const int64_t row = sizes[3] + 3;
      const int64_t head = sizes[2] * row + 5;
      return {sizes[1] * head + 7, head, row, 1};
    }
    case Layout::kPacked:
      return {sizes[2] * sizes[1] * sizes[3], sizes[3], sizes[1] * sizes[3], 1};
    case Layout::kShared:
      return {sizes[2] * sizes[3], 0, sizes[3], 1};
  }
  return DenseStrides(sizes);
}

// The outputs of a case with shared inputs are dense.
Layout OutputLayout(Layout layout) { return layout == Layout::kShared ? Layout::kDense : layout; }

// Calls visit(offset) for each element of a view.
template <typename Visit>
void ForEachOffset(const Sizes& sizes, const Sizes& strides, const Visit& visit) {
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) {
        for (int64_t d = 0; d < sizes[3]; ++d) {
          visit(static_cast<size_t>(a * strides[0] + b * strides[1] + c * strides[2] + d));
        }
      }
    }
  }
}

// Builds the list of cases.
class CaseList {
 public:
  std::vector<VerifyCase> Make() {
    AddSizes();
    AddCausal();
    AddHeadsAndLayouts();
    AddNumbers();
    return std::move(cases_);
  }

 private:
  // A case of one batch item and head, to be changed by the caller.
  VerifyCase& Add(std::string name, int64_t queries, int64_t keys, int64_t dim) {
    VerifyCase& added = cases_.emplace_back();
    added.name = std::move(name);
    added.shape.queries = queries;
    added.shape.keys = keys;
    added.shape.dim = dim;
    added.shape.value_dim = dim;
    added.options.lse = true;
    return added;
  }

  void AddSizes() {
    // Around lane groups of 4 to 64 lanes.
    for (const int64_t queries :
         {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 130}) {
      Add(fmt::format("{} queries", queries), queries, 40, 16);
    }
    // Around the rows of a tile and the edges of a kv block.
    for (const int64_t keys :
         {0, 1, 2, 3, 5, 6, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 257, 1000}) {
      Add(fmt::format("{} keys", keys), 19, keys, 8);
    }
    for (const int64_t dim : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 80, 128, 129}) {
      Add(fmt::format("dim {}", dim), 21, 37, dim).shape.value_dim = 130 - dim;
    }
    Add("no values", 5, 9, 4).shape.value_dim = 0;
  }

  void AddCausal() {
    const std::pair<int64_t, int64_t> sizes[] = {{33, 33}, {16, 100}, {100, 16}, {65, 300}};
    for (const auto& [queries, keys] : sizes) {
      const std::string size = fmt::format("{} queries, {} keys", queries, keys);
      Add("causal, " + size, queries, keys, 16).options.causal = true;
      VerifyCase& top_left = Add("causal, top left, " + size, queries, keys, 16);
      top_left.options.causal = true;
      top_left.options.top_left = true;
      for (const int64_t offset : {-12, -1, 7}) {
        VerifyCase& moved =
            Add(fmt::format("causal, offset {}, {}", offset, size), queries, keys, 16);
        moved.options.causal = true;
        moved.options.query_offset = offset;
      }
    }
    VerifyCase& empty = Add("causal, no row sees a key", 20, 20, 8);
    empty.options.causal = true;
    empty.options.query_offset = -1000;
  }

  void AddHeadsAndLayouts() {
    const std::pair<const char*, Layout> layouts[] = {{"dense", Layout::kDense},
                                                      {"padded rows", Layout::kPadded},
                                                      {"heads inside rows", Layout::kPacked},
                                                      {"broadcast heads", Layout::kShared}};
    const std::pair<int64_t, int64_t> heads[] = {{4, 4}, {8, 2}, {3, 1}};
    for (const auto& [name, layout] : layouts) {
      for (const auto& [query_heads, kv_heads] : heads) {
        for (const bool causal : {false, true}) {
          VerifyCase& added = Add(fmt::format("{} heads over {}, {}{}", query_heads, kv_heads, name,
                                              causal ? ", causal" : ""),
                                  18, 35, 12);
          added.shape.batch = 2;
          added.shape.heads = query_heads;
          added.shape.kv_heads = kv_heads;
          added.shape.value_dim = 20;
          added.options.causal = causal;
          added.layout = layout;
        }
      }
    }
  }

  void AddNumbers() {
    Add("scale 0", 17, 33, 16).options.scale = 0.0f;
    Add("negative scale", 17, 33, 16).options.scale = -2.0f;
    const std::pair<const char*, Content> contents[] = {
        {"scores in the hundreds", Content::kLargeScores},
        {"large and small values", Content::kLargeValues},
        {"NaN and inf out of sight", Content::kHiddenNotFinite},
        {"NaN in one query", Content::kNanQuery}};
    for (const auto& [name, content] : contents) {
      VerifyCase& added = Add(name, 70, 150, 24);
      added.options.causal = content == Content::kHiddenNotFinite;
      added.content = content;
    }
    Add("many keys", 66, 2000, 64);
    Add("many keys, causal", 66, 2000, 64).options.causal = true;
  }

  std::vector<VerifyCase> cases_;
};

}  // namespace

std::vector<VerifyCase> VerifyCases() { return CaseList().Make(); }

VerifyArray::VerifyArray(const Sizes& sizes, Layout layout)
    : sizes_(sizes), strides_(StridesOf(sizes, layout)) {
  size_t end = 0;
  ForEachOffset(sizes_, strides_, [&end](size_t at) { end = std::max(end, at + 1); });
  constexpr size_t kGapBehind = 32;
  memory_.resize(end + kGapBehind);
  covered_.resize(memory_.size());
  ForEachOffset(sizes_, strides_, [this](size_t at) { covered_[at] = true; });
  Clear();
}

float& VerifyArray::At(int64_t a, int64_t b, int64_t c, int64_t d) noexcept {
  return memory_[static_cast<size_t>(a * strides_[0] + b * strides_[1] + c * strides_[2] + d)];
}

void VerifyArray::Clear() { std::fill(memory_.begin(), memory_.end(), kMark); }

bool VerifyArray::GapsIntact() const {
  for (size_t at = 0; at < memory_.size(); ++at) {
    if (!covered_[at] && !IsMark(memory_[at])) return false;
  }
  return true;
}

PreparedVerifyCase::PreparedVerifyCase(VerifyCase description)
    : case_(std::move(description)),
      q_({case_.shape.batch, case_.shape.heads, case_.shape.queries, case_.shape.dim},
         case_.layout),
      k_({case_.shape.batch, case_.shape.kv_heads, case_.shape.keys, case_.shape.dim},
         case_.layout),
      v_({case_.shape.batch, case_.shape.kv_heads, case_.shape.keys, case_.shape.value_dim},
         case_.layout),
      out_({case_.shape.batch, case_.shape.heads, case_.shape.queries, case_.shape.value_dim},
           OutputLayout(case_.layout)),
      lse_({case_.shape.batch, case_.shape.heads, case_.shape.queries, 1},
           OutputLayout(case_.layout)) {
  Fill();
  AttentionTensors tensors;
  tensors.q = q_.view();
  tensors.k = k_.view();
  tensors.v = v_.view();
  expected_ = reference::Attention(tensors, case_.options);
  tolerance_ = reference::Tolerance(tensors, case_.options, expected_);
}

void PreparedVerifyCase::Fill() {
  uint64_t seed = 0;
  for (VerifyArray* array : {&q_, &k_, &v_}) {
    Uniform uniform(++seed);
    const Tensor view = array->view();
    ForEachOffset(view.sizes, view.strides,
                  [&](size_t at) { static_cast<float*>(view.data)[at] = uniform.Next(); });
  }
  const AttentionShape& shape = case_.shape;
  switch (case_.content) {
    case Content::kUniform:
      break;
    case Content::kLargeScores: {
      const Tensor view = q_.view();
      ForEachOffset(view.sizes, view.strides,
                    [&](size_t at) { static_cast<float*>(view.data)[at] *= 500.0f; });
      break;
    }
    case Content::kLargeValues:
      for (int64_t j = 0; j < shape.keys; ++j) {
        for (int64_t c = 0; c < shape.value_dim; ++c) {
          v_.At(0, 0, j, c) *= c % 2 == 0 ? 1e30f : 1e-30f;
        }
      }
      break;
    case Content::kHiddenNotFinite: {
      // The last key is seen by the last query only.
      const int64_t last = shape.keys - 1;
      k_.At(0, 0, last, 0) = std::numeric_limits<float>::quiet_NaN();
      v_.At(0, 0, last, 0) = std::numeric_limits<float>::infinity();
      v_.At(0, 0, last - 1, 1) = std::numeric_limits<float>::quiet_NaN();
      break;
    }
    case Content::kNanQuery:
      q_.At(0, 0, shape.queries / 2, shape.dim / 2) = std::numeric_limits<float>::quiet_NaN();
      break;
  }
}

std::string PreparedVerifyCase::Run(const AttentionPlan& plan, double* ratio) {
  out_.Clear();
  lse_.Clear();
  AttentionTensors tensors;
  tensors.q = q_.view();
  tensors.k = k_.view();
  tensors.v = v_.view();
  tensors.out = out_.view();
  tensors.lse = lse_.view();
  Workspace workspace(plan.workspace_bytes());
  if (const Status s = plan.Run(tensors, workspace); !s.ok()) {
    *ratio = std::numeric_limits<double>::infinity();
    return s.message();
  }
  const reference::Comparison out = reference::Compare(tensors.out, expected_.out, tolerance_.out);
  const reference::Comparison lse = reference::Compare(tensors.lse, expected_.lse, tolerance_.lse);
  *ratio = std::max(out.worst_ratio, lse.worst_ratio);
  if (!out.ok()) return "out " + reference::Describe(out.worst);
  if (!lse.ok()) return "lse " + reference::Describe(lse.worst);
  if (!out_.GapsIntact() || !lse_.GapsIntact()) return "memory outside of the output was written";
  return "";
}

}  // namespace lanewise::tools
