// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the patterns mean.

#include "tests/fuzz/fuzz_data.h"

#include <cmath>
#include <limits>

#include "src/attention/score.h"
#include "tests/fuzz/coordinates.h"
#include "tests/support/array.h"

namespace lanewise::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

// `value(coordinates)` of every element.
template <typename T, typename Value>
std::vector<T> Fill(const Sizes& sizes, const Value& value) {
  std::vector<T> values;
  values.reserve(static_cast<size_t>(Count(sizes)));
  ForEach(sizes, [&](const Sizes& at) { values.push_back(value(at)); });
  return values;
}

float QueryValue(const FuzzCase& c, float value, int64_t d) {
  switch (c.data) {
    case DataKind::kUniform:
      return value;
    case DataKind::kLarge:
      return 30.0F * value;
    case DataKind::kRising:
      return d == 0 ? 1.0F + 0.25F * value : value;
    case DataKind::kConstant:
      break;
  }
  return 1.0F;
}

float KeyValue(const FuzzCase& c, float value, const Sizes& at) {
  if (c.data == DataKind::kConstant) return 0.5F;
  if (c.data != DataKind::kRising || at[3] != 0) return value;
  // Scores rise by about this much from key to key: less than a rescaling, about one every few
  // keys, several a key.
  constexpr float kSteps[] = {0.05F, 1.0F, 20.0F};
  const float step = kSteps[c.seed % 3] * std::sqrt(static_cast<float>(c.shape.dim));
  return step * (static_cast<float>(at[2]) + 0.5F * value);
}

uint8_t MaskValue(const FuzzCase& c, const Field& field, const Sizes& at) {
  switch (c.mask.kind) {
    case MaskKind::kNone:
    case MaskKind::kAll:
      return 1;
    case MaskKind::kRandom:
      return field.Bits(at) % 2;
    case MaskKind::kSparse:
      return field.Bits(at) % 8 == 0;
    case MaskKind::kEmptyRows:
      // Any byte but 0 is true.
      if (field.Bits({at[0], at[1], at[2], 0}) % 3 == 0) return 0;
      return field.Bits(at) % 3 == 0 ? 0 : static_cast<uint8_t>(1 + field.Bits(at) % 255);
    case MaskKind::kBlocks:
      return field.Bits({at[0], at[1], at[2] / 8, at[3] / 8}) % 2;
  }
  return 1;
}

float BiasValue(const FuzzCase& c, const Field& field, const Sizes& at) {
  const float uniform = 2.0F * field.Value(at);
  const uint32_t bits = field.Bits(at);
  const uint32_t row_bits = field.Bits({at[0], at[1], at[2], 0});
  switch (c.bias.kind) {
    case BiasKind::kNone:
    case BiasKind::kZero:
      return 0.0F;
    case BiasKind::kUniform:
      return uniform;
    case BiasKind::kHoles:
      return bits % 4 == 0 ? -kInfinity : uniform;
    case BiasKind::kEmptyRows:
      return row_bits % 3 == 0 ? -kInfinity : uniform;
    case BiasKind::kLowest:
      if (row_bits % 5 == 0) return -kLargest;
      return bits % 2 == 0 ? -1e9F : uniform;
    case BiasKind::kNan:
      if (bits % 32 != 0) return uniform;
      return bits / 32 % 2 == 0 ? kInfinity : std::numeric_limits<float>::quiet_NaN();
  }
  return 0.0F;
}

float SlopeValue(const FuzzCase& c, int64_t head) {
  const float count = static_cast<float>(head + 1);
  switch (c.slopes) {
    case SlopesKind::kNone:
    case SlopesKind::kZero:
      return 0.0F;
    case SlopesKind::kUsual:
      return std::exp2(-8.0F * count / static_cast<float>(c.shape.heads));
    case SlopesKind::kNegative:
      return -0.1F * count;
    case SlopesKind::kSteep:
      return 8.0F * count;
  }
  return 0.0F;
}

float SinkValue(const FuzzCase& c, const Field& field, int64_t head) {
  const float uniform = 2.0F * field.Value({0, head, 0, 0});
  switch (c.sinks) {
    case SinksKind::kNone:
    case SinksKind::kUniform:
      return uniform;
    case SinksKind::kAbsent:
      return -kInfinity;
    case SinksKind::kMixed:
      return head % 2 == 0 ? -kInfinity : uniform;
    case SinksKind::kLarge:
      return 50.0F;
  }
  return uniform;
}

// [batch, heads, queries, keys] with 1 where the input does not vary.
template <typename Kind>
Sizes PairSizes(const FuzzCase& c, const PairInput<Kind>& input) {
  Sizes sizes = {c.shape.batch, c.shape.heads, c.shape.queries, c.shape.keys};
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (!input.varies[axis]) sizes[axis] = 1;
  }
  return sizes;
}

// Parameters of the score. They have the seed's complement as theirs, so that what is older stays
// what it was.
void AddParameters(const FuzzCase& c, const AttentionShape& full, FuzzData& data) {
  const auto matrix = [&](bool wanted, Purpose purpose, int64_t rows, int64_t columns) {
    const Field field(~c.seed, purpose);
    return wanted ? Fill<float>({1, 1, rows, columns},
                                [&](const Sizes& at) { return field.Value(at); })
                  : std::vector<float>();
  };
  const AttentionOptions& options = c.options;
  const bool bilinear = options.score == AttentionScore::kBilinear;
  const bool additive = options.score == AttentionScore::kAdditive;
  data.w = matrix(bilinear, Purpose::kMask, full.dim, full.key_dim);
  data.wq = matrix(options.wq, Purpose::kQ, full.hidden, full.dim);
  data.wk = matrix(options.wk, Purpose::kK, full.hidden, full.key_dim);
  data.w_out = matrix(additive, Purpose::kV, 1, full.hidden);
}

}  // namespace

FuzzData MakeData(const FuzzCase& c) {
  const AttentionShape& shape = c.shape;
  const int64_t batch = c.sequences.empty() ? shape.batch : 1;
  FuzzData data;
  data.q_sizes = {batch, shape.heads, shape.queries, shape.dim};
  const AttentionShape full = attention::WithScoreSizes(shape, c.options.score);
  data.k_sizes = {batch, shape.kv_heads, shape.keys, full.key_dim};
  data.v_sizes = {batch, shape.kv_heads, shape.keys, shape.value_dim};
  const Field q(c.seed, Purpose::kQ), k(c.seed, Purpose::kK), v(c.seed, Purpose::kV);
  data.q =
      Fill<float>(data.q_sizes, [&](const Sizes& at) { return QueryValue(c, q.Value(at), at[3]); });
  data.k = Fill<float>(data.k_sizes, [&](const Sizes& at) { return KeyValue(c, k.Value(at), at); });
  const float size = c.data == DataKind::kLarge ? 100.0F : 1.0F;
  data.v = Fill<float>(data.v_sizes, [&](const Sizes& at) { return size * v.Value(at); });

  if (c.mask.kind != MaskKind::kNone) {
    const Field field(c.seed, Purpose::kMask);
    data.mask_sizes = PairSizes(c, c.mask);
    data.mask =
        Fill<uint8_t>(data.mask_sizes, [&](const Sizes& at) { return MaskValue(c, field, at); });
  }
  if (c.bias.kind != BiasKind::kNone) {
    const Field field(c.seed, Purpose::kBias);
    data.bias_sizes = PairSizes(c, c.bias);
    data.bias =
        Fill<float>(data.bias_sizes, [&](const Sizes& at) { return BiasValue(c, field, at); });
  }
  const Field sinks(c.seed, Purpose::kSinks);
  for (int64_t h = 0; h < shape.heads; ++h) {
    if (c.slopes != SlopesKind::kNone) data.slopes.push_back(SlopeValue(c, h));
    if (c.sinks != SinksKind::kNone) data.sinks.push_back(SinkValue(c, sinks, h));
  }
  AddParameters(c, full, data);
  if (!c.sequences.empty()) {
    data.q_offsets.push_back(0);
    data.k_offsets.push_back(0);
    for (const FuzzCase::Sequence& sequence : c.sequences) {
      data.q_offsets.push_back(data.q_offsets.back() + sequence.queries);
      data.k_offsets.push_back(data.k_offsets.back() + sequence.keys);
    }
  }
  return data;
}

}  // namespace lanewise::testing
