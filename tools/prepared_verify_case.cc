// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Data of cases, and judging runs.

#include "tools/prepared_verify_case.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "src/attention/score.h"

namespace lanewise::tools {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Numbers that are the same in every run (SplitMix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    uint64_t x = state_ += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  // Uniform in [-1, 1).
  float Uniform() {
    return static_cast<float>(static_cast<int64_t>(Bits() >> 40) - (1 << 23)) * 0x1p-23f;
  }

 private:
  uint64_t state_;
};

// The layout of what cannot be shared.
Layout OwnLayout(Layout layout) { return layout == Layout::kShared ? Layout::kDense : layout; }

// Sizes of an array of `rows` rows a head. The sequences of a ragged batch share one batch item.
Sizes SizesOf(const VerifyCase& c, int64_t heads, int64_t rows, int64_t columns) {
  return {c.options.ragged ? 1 : c.shape.batch, heads, rows, columns};
}

Sizes PairSizes(const AttentionShape& shape, Pairs pairs) {
  switch (pairs) {
    case Pairs::kNone:
      break;
    case Pairs::kEach:
      return {shape.batch, shape.heads, shape.queries, shape.keys};
    case Pairs::kShared:
      return {1, 1, shape.queries, shape.keys};
    case Pairs::kPerKey:
      return {shape.batch, 1, 1, shape.keys};
    case Pairs::kPerRow:
      return {1, shape.heads, shape.queries, 1};
  }
  return {0, 0, 0, 0};
}

AttentionShape FullShape(const VerifyCase& c) {
  return attention::WithScoreSizes(c.shape, c.options.score);
}

// Of a matrix of parameters; nothing if there is none.
Sizes ParameterSizes(bool wanted, int64_t rows, int64_t columns) {
  return wanted ? Sizes{1, 1, rows, columns} : Sizes{0, 0, 0, 0};
}

// Whether the pattern hides a pair, row by row of an array over the scores.
class Hides {
 public:
  Hides(Pattern pattern, uint64_t seed) : pattern_(pattern), seed_(seed) {}

  bool operator()(int64_t row, int64_t key) {
    const bool half = (Hash(row, key) & 1) != 0;
    if (pattern_ == Pattern::kNothing) return false;
    const uint64_t kind =
        pattern_ == Pattern::kBlocks ? Hash(row / 32, -1 - key / 32) % 3 : Hash(row, -1) % 8;
    return kind == 0 || (kind != 1 && half);
  }

 private:
  uint64_t Hash(int64_t a, int64_t b) const {
    return Random(seed_ ^ Random(static_cast<uint64_t>(a) << 32 ^ static_cast<uint64_t>(b)).Bits())
        .Bits();
  }

  Pattern pattern_;
  uint64_t seed_;
};

}  // namespace

PreparedVerifyCase::PreparedVerifyCase(VerifyCase description)
    : case_(std::move(description)),
      q_(SizesOf(case_, case_.shape.heads, case_.shape.queries, case_.shape.dim), case_.layout,
         case_.shape.q_type),
      k_(SizesOf(case_, case_.shape.kv_heads, case_.shape.keys, FullShape(case_).key_dim),
         case_.layout, case_.shape.k_type),
      v_(SizesOf(case_, case_.shape.kv_heads, case_.shape.keys, case_.shape.value_dim),
         case_.layout, case_.shape.v_type),
      bias_(PairSizes(case_.shape, case_.bias), OwnLayout(case_.layout)),
      w_(ParameterSizes(case_.options.score == AttentionScore::kBilinear, case_.shape.dim,
                        FullShape(case_).key_dim),
         OwnLayout(case_.layout)),
      wq_(ParameterSizes(case_.options.wq, FullShape(case_).hidden, case_.shape.dim),
          OwnLayout(case_.layout)),
      wk_(ParameterSizes(case_.options.wk, FullShape(case_).hidden, FullShape(case_).key_dim),
          OwnLayout(case_.layout)),
      w_out_(ParameterSizes(true, 1, FullShape(case_).hidden), Layout::kDense),
      out_(SizesOf(case_, case_.shape.heads, case_.shape.queries, case_.shape.value_dim),
           OwnLayout(case_.layout), case_.shape.out_type),
      lse_(SizesOf(case_, case_.shape.heads, case_.shape.queries, 1), OwnLayout(case_.layout)),
      weights_(case_.options.weights
                   ? SizesOf(case_, case_.shape.heads, case_.shape.queries, case_.shape.keys)
                   : Sizes{0, 0, 0, 0},
               OwnLayout(case_.layout)) {
  FillInputs();
  FillPairs();
  Poison();
  const AttentionTensors inputs = Inputs();
  expected_ = reference::Attention(inputs, case_.options);
  tolerance_ = reference::Tolerance(inputs, case_.options, expected_);
}

void PreparedVerifyCase::FillInputs() {
  uint64_t seed = 0;
  for (VerifyArray* array : {&q_, &k_, &v_, &w_, &wq_, &wk_, &w_out_}) {
    Random random(++seed);
    const Tensor view = array->floats();
    const float factor = array == &q_ && case_.content == Content::kLargeScores ? 500.0f : 1.0f;
    ForEachOffset(view.sizes, view.strides, [&](size_t at) {
      static_cast<float*>(view.data)[at] = factor * random.Uniform();
    });
    array->Round();
  }
  const AttentionShape& shape = case_.shape;
  if (case_.options.alibi_slopes) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      const float slope =
          std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(shape.heads));
      // Negative slopes are legal, and so is none.
      slopes_.push_back(h % 4 == 2 ? -slope : h % 4 == 3 ? 0.0f : slope);
    }
  }
  if (case_.options.sinks) {
    const float sinks[] = {0.5f, -kInfinity, 20.0f, -30.0f};
    for (int64_t h = 0; h < shape.heads; ++h) sinks_.push_back(sinks[h % 4]);
  }
}

void PreparedVerifyCase::FillPairs() {
  const Sizes mask = PairSizes(case_.shape, case_.mask);
  Hides masked(case_.pattern, 11);
  ForEachOffset(mask, DenseStrides(mask), [&](size_t at) {
    const auto row = static_cast<int64_t>(at) / mask[3];
    const auto key = static_cast<int64_t>(at) % mask[3];
    // Every byte but 0 is true.
    mask_.push_back(masked(row, key) ? 0 : at % 2 == 0 ? 1 : 0x80);
  });

  const Tensor bias = bias_.floats();
  Random random(12);
  Hides hidden(case_.pattern, 13);
  int64_t index = 0;
  ForEachOffset(bias.sizes, bias.strides, [&](size_t at) {
    const int64_t row = index / bias.sizes[3];
    const int64_t key = index++ % bias.sizes[3];
    float value = 2 * random.Uniform();
    // Finite numbers hide nothing, however negative.
    if (row % 5 == 1) value -= 1000.0f;
    if (key % 7 == 3) value = -1e30f;
    static_cast<float*>(bias.data)[at] = hidden(row, key) ? -kInfinity : value;
  });
}

void PreparedVerifyCase::Poison() {
  const AttentionShape& shape = case_.shape;
  const int64_t last = shape.keys - 1;
  switch (case_.content) {
    case Content::kUniform:
    case Content::kLargeScores:
      break;
    case Content::kLargeValues:
      for (int64_t j = 0; j < shape.keys; ++j) {
        for (int64_t c = 0; c < shape.value_dim; ++c) {
          v_.At(0, 0, j, c) *= c % 2 == 0 ? 1e30f : 1e-30f;
        }
      }
      break;
    case Content::kNanQuery:
      q_.At(0, 0, shape.queries / 2, shape.dim / 2) = kNan;
      break;
    case Content::kNotFiniteKeys:
      k_.At(0, 0, last, 0) = kNan;
      v_.At(0, 0, last, 0) = kInfinity;
      v_.At(0, 0, last - 1, 1) = kNan;
      v_.At(0, 0, shape.keys * 2 / 3, 2) = kInfinity;
      v_.At(0, 0, shape.keys / 3, 3) = kNan;
      break;
    case Content::kNotFiniteUnseen:
      PoisonUnseen();
      break;
  }
  for (VerifyArray* array : {&q_, &k_, &v_}) array->Round();
}

void PreparedVerifyCase::PoisonUnseen() {
  const AttentionTensors inputs = Inputs();
  const Sizes& q = inputs.q.sizes;
  const Sizes& k = inputs.k.sizes;
  const Sizes keys = {k[0], k[1], k[2], 1};
  const Sizes strides = DenseStrides(keys);
  std::vector<bool> seen(static_cast<size_t>(k[0] * strides[0]));
  for (int64_t b = 0; b < q[0]; ++b) {
    for (int64_t h = 0; h < q[1]; ++h) {
      const int64_t head = b * strides[0] + reference::KvHeadOf(inputs, h) * strides[1];
      for (int64_t i = 0; i < q[2]; ++i) {
        for (const reference::SeenKey& key :
             reference::SeenKeys(inputs, case_.options, {b, h, i})) {
          seen[static_cast<size_t>(head + key.key)] = true;
        }
      }
    }
  }
  ForEachOffset(keys, strides, [&](size_t at) {
    if (seen[at]) return;
    const auto row = static_cast<int64_t>(at);
    const int64_t b = row / strides[0];
    const int64_t h = row / strides[1] % k[1];
    for (int64_t d = 0; d < k[3]; ++d) k_.At(b, h, row % k[2], d) = kNan;
    for (int64_t c = 0; c < case_.shape.value_dim; ++c) {
      v_.At(b, h, row % k[2], c) = c % 2 == 0 ? kInfinity : kNan;
    }
  });
}

AttentionTensors PreparedVerifyCase::Inputs() const {
  const auto view = [](const auto& values) -> ArrayView<std::decay_t<decltype(values[0])>> {
    return {values.data(), static_cast<int64_t>(values.size())};
  };
  AttentionTensors tensors;
  tensors.q = q_.view();
  tensors.k = k_.view();
  tensors.v = v_.view();
  tensors.out.type = case_.shape.out_type;
  if (case_.options.mask) {
    tensors.mask = {mask_.data(), DataType::kBool, PairSizes(case_.shape, case_.mask)};
  }
  if (case_.options.bias) tensors.bias = bias_.view();
  if (case_.options.score == AttentionScore::kBilinear) tensors.w = w_.view();
  if (case_.options.wq) tensors.wq = wq_.view();
  if (case_.options.wk) tensors.wk = wk_.view();
  if (case_.options.score == AttentionScore::kAdditive) {
    const ConstTensor w_out = w_out_.view();
    tensors.w_out = {static_cast<const float*>(w_out.data), w_out.sizes[3]};
  }
  if (case_.options.alibi_slopes) tensors.alibi_slopes = view(slopes_);
  if (case_.options.sinks) tensors.sinks = view(sinks_);
  if (case_.options.kv_len) tensors.kv_len = view(case_.kv_len);
  if (case_.options.ragged) {
    tensors.q_offsets = view(case_.q_offsets);
    tensors.k_offsets = view(case_.k_offsets);
  }
  return tensors;
}

std::string PreparedVerifyCase::Run(const AttentionPlan& plan, double* ratio) {
  for (VerifyArray* array : {&out_, &lse_, &weights_}) array->Clear();
  AttentionTensors tensors = Inputs();
  tensors.out = out_.view();
  tensors.lse = lse_.view();
  if (case_.options.weights) tensors.weights = weights_.view();
  Workspace workspace(plan.workspace_bytes());
  if (const Status s = plan.Run(tensors, workspace); !s.ok()) {
    *ratio = kInfinity;
    return s.message();
  }
  for (const VerifyArray* array : {&out_, &lse_, &weights_}) {
    if (!array->GapsIntact()) {
      *ratio = kInfinity;
      return "memory outside of the output was written";
    }
  }
  return Judge(*this, ratio);
}

std::string PreparedVerifyCase::Judge(const PreparedVerifyCase& other, double* ratio) const {
  struct Judged {
    const char* name;
    reference::Comparison comparison;
  };
  std::vector<Judged> results = {
      {"out", reference::Compare(other.out_.view(), expected_.out, tolerance_.out)},
      {"lse", reference::Compare(other.lse_.view(), expected_.lse, tolerance_.lse)}};
  if (case_.options.weights) {
    results.push_back({"weights", reference::Compare(other.weights_.view(), expected_.weights,
                                                     tolerance_.weights)});
  }
  *ratio = 0;
  std::string wrong;
  for (const auto& [name, comparison] : results) {
    *ratio = std::max(*ratio, comparison.worst_ratio);
    if (!comparison.ok() && wrong.empty()) {
      wrong = std::string(name) + " " + reference::Describe(comparison.worst);
    }
  }
  return wrong;
}

}  // namespace lanewise::tools
