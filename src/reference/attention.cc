// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One row after the other, one key after the other, nothing clever. From top to bottom: elements,
// which keys a row sees, their scores, the softmax.

#include "src/reference/attention.h"

#include <algorithm>  // max
#include <bit>        // bit_cast
#include <cmath>      // exp, log, tanh, ldexp
#include <cstddef>    // size_t
#include <cstdint>    // bits
#include <limits>

#include "src/reference/score.h"

namespace lanewise::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. Exact, subnormals included.
double F16ToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude = 0.0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The upper half of an f32.
double BF16ToDouble(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// The element that lies `index` elements after the first. Any byte but 0 is true.
double Element(const ConstTensor& tensor, int64_t index) {
  switch (tensor.type) {
    case DataType::kF32:
      return static_cast<const float*>(tensor.data)[index];
    case DataType::kF16:
      return F16ToDouble(static_cast<const uint16_t*>(tensor.data)[index]);
    case DataType::kBF16:
      return BF16ToDouble(static_cast<const uint16_t*>(tensor.data)[index]);
    case DataType::kBool:
      return static_cast<const uint8_t*>(tensor.data)[index] != 0 ? 1.0 : 0.0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// The element of a mask or bias for a row and key; axes of size 1 broadcast.
double PairElement(const ConstTensor& pairs, const RowIndex& at, int64_t key) {
  const int64_t index[4] = {at.batch, at.head, at.row, key};
  int64_t offset = 0;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (pairs.sizes[axis] != 1) offset += index[axis] * pairs.strides[axis];
  }
  return Element(pairs, offset);
}

// Queries and keys that belong together: those of a batch item, or a sequence of a ragged batch.
struct Sequence {
  int64_t first_query;
  int64_t queries;
  int64_t first_key;
  int64_t keys;  // the valid ones
};

Sequence SequenceOf(const AttentionTensors& tensors, const AttentionOptions& options,
                    const RowIndex& at) {
  if (!options.ragged) {
    const int64_t keys = options.kv_len ? tensors.kv_len.data[at.batch] : tensors.k.sizes[2];
    return {0, tensors.q.sizes[2], 0, keys};
  }
  const int64_t* q_offsets = tensors.q_offsets.data;
  const int64_t* k_offsets = tensors.k_offsets.data;
  int64_t b = 0;
  while (q_offsets[b + 1] <= at.row) ++b;
  return {q_offsets[b], q_offsets[b + 1] - q_offsets[b], k_offsets[b],
          k_offsets[b + 1] - k_offsets[b]};
}

// Where a key lies from a query's position: `keys` after it, or before it. Unlike a signed
// difference it fits 64 bits for any query_offset.
struct Distance {
  bool after;
  uint64_t keys;
};

// Query i and key j of a sequence, each counted from its start. position(i) is i + offset.
Distance DistanceOf(const AttentionOptions& options, const Sequence& sequence, int64_t i,
                    int64_t j) {
  int64_t offset = sequence.keys - sequence.queries;
  if (options.top_left) offset = 0;
  if (options.query_offset) offset = *options.query_offset;
  // j - position, as (j - i) - offset.
  const int64_t ahead = j - i;
  if (ahead > offset) return {true, static_cast<uint64_t>(ahead) - static_cast<uint64_t>(offset)};
  return {false, static_cast<uint64_t>(offset) - static_cast<uint64_t>(ahead)};
}

bool IsWithin(uint64_t keys, int64_t limit) {
  return limit == kUnlimited || keys <= static_cast<uint64_t>(limit);
}

// May the row see a valid key of its sequence? The only place that decides.
bool MaySee(const AttentionTensors& tensors, const AttentionOptions& options, const RowIndex& at,
            int64_t key, const Distance& distance) {
  if (options.causal && distance.after) return false;
  if (!IsWithin(distance.keys, distance.after ? options.window.right : options.window.left)) {
    return false;
  }
  if (options.mask && PairElement(tensors.mask, at, key) == 0.0) return false;
  return !options.bias || PairElement(tensors.bias, at, key) != -kInfinity;
}

double Capped(const AttentionOptions& options, double raw) {
  const double cap = options.softcap.value_or(0.0F);
  return cap == 0.0 ? raw : cap * std::tanh(raw / cap);
}

// exp(score - max); a score of -inf has no weight even when there is no larger one. NaN, which lost
// every comparison for the maximum, comes back here.
double Weight(double score, double max) {
  return score == -kInfinity ? 0.0 : std::exp(score - max);
}

// Appends query row `at` to `result`.
void ComputeRow(const AttentionTensors& tensors, const AttentionOptions& options,
                const RowIndex& at, AttentionResult& result) {
  const std::vector<SeenKey> seen = SeenKeys(tensors, options, at);
  // A row without keys is empty, with a sink too.
  const double sink = seen.empty() ? -kInfinity : SinkOf(tensors, options, at.head);
  double max = sink;
  for (const SeenKey& key : seen) {
    if (key.score > max) max = key.score;
  }

  double sum = Weight(sink, max);
  std::vector<double> weights;
  std::vector<double> out(static_cast<size_t>(tensors.v.sizes[3]), 0.0);
  std::vector<double> v;
  for (const SeenKey& key : seen) {
    weights.push_back(Weight(key.score, max));
    sum += weights.back();
    ReadRow(tensors.v, {at.batch, KvHeadOf(tensors, at.head), key.key}, v);
    for (size_t c = 0; c < out.size(); ++c) out[c] += weights.back() * v[c];
  }

  // No weight at all, whether for lack of keys or because all scores are -inf: zeros.
  const auto normalised = [sum](double value) { return sum == 0.0 ? 0.0 : value / sum; };
  for (const double value : out) result.out.push_back(normalised(value));
  result.lse.push_back(max + std::log(sum));
  if (!options.weights) return;
  const size_t first = result.weights.size();
  result.weights.resize(first + static_cast<size_t>(tensors.k.sizes[2]), 0.0);
  for (size_t n = 0; n < seen.size(); ++n) {
    result.weights[first + static_cast<size_t>(seen[n].key)] =
        seen[n].score == -kInfinity ? 0.0 : normalised(weights[n]);
  }
}

// Appends row `at` of the merged parts to `result`.
void MergeRow(const std::vector<AttentionPart>& parts, const RowIndex& at,
              AttentionResult& result) {
  std::vector<double> lse;
  for (const AttentionPart& part : parts) {
    std::vector<double> row;
    ReadRow(part.lse, at, row);
    lse.push_back(row[0]);
  }
  double max = -kInfinity;
  for (const double value : lse) {
    if (value > max) max = value;
  }

  double sum = 0.0;
  std::vector<double> out(static_cast<size_t>(parts[0].out.sizes[3]), 0.0);
  std::vector<double> row;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (lse[p] == -kInfinity) continue;
    const double weight = Weight(lse[p], max);
    sum += weight;
    ReadRow(parts[p].out, at, row);
    for (size_t c = 0; c < out.size(); ++c) out[c] += weight * row[c];
  }
  for (const double value : out) result.out.push_back(sum == 0.0 ? 0.0 : value / sum);
  result.lse.push_back(max + std::log(sum));
}

// Calls visit(row) for each row of an array of these sizes.
template <typename Visit>
void ForEachRow(const Sizes& sizes, const Visit& visit) {
  for (int64_t b = 0; b < sizes[0]; ++b) {
    for (int64_t h = 0; h < sizes[1]; ++h) {
      for (int64_t i = 0; i < sizes[2]; ++i) visit(RowIndex{b, h, i});
    }
  }
}

}  // namespace

AttentionResult Attention(const AttentionTensors& tensors, const AttentionOptions& options) {
  AttentionResult result;
  ForEachRow(tensors.q.sizes,
             [&](const RowIndex& at) { ComputeRow(tensors, options, at, result); });
  return result;
}

AttentionResult MergeAttention(const std::vector<AttentionPart>& parts) {
  AttentionResult result;
  ForEachRow(parts[0].out.sizes, [&](const RowIndex& at) { MergeRow(parts, at, result); });
  return result;
}

std::vector<SeenKey> SeenKeys(const AttentionTensors& tensors, const AttentionOptions& options,
                              const RowIndex& at) {
  const Sequence sequence = SequenceOf(tensors, options, at);
  const QueryScores scores(tensors, options, at);
  std::vector<double> k;
  std::vector<SeenKey> seen;
  for (int64_t j = 0; j < sequence.keys; ++j) {
    const Distance distance = DistanceOf(options, sequence, at.row - sequence.first_query, j);
    SeenKey key;
    key.key = sequence.first_key + j;
    if (!MaySee(tensors, options, at, key.key, distance)) continue;
    if (options.bias) key.bias = PairElement(tensors.bias, at, key.key);
    if (options.alibi_slopes) {
      key.alibi = double{tensors.alibi_slopes.data[at.head]} * static_cast<double>(distance.keys);
    }
    ReadRow(tensors.k, {at.batch, KvHeadOf(tensors, at.head), key.key}, k);
    key.raw = scores.Of(k).value;
    key.capped = Capped(options, key.raw);
    key.score = key.capped + key.bias - key.alibi;
    seen.push_back(key);
  }
  return seen;
}

double SinkOf(const AttentionTensors& tensors, const AttentionOptions& options, int64_t head) {
  return options.sinks ? double{tensors.sinks.data[head]} : -kInfinity;
}

double ScaleOf(const AttentionOptions& options, int64_t dim) {
  if (options.score == AttentionScore::kGaussian) {
    return 1.0 / (double{*options.bandwidth} * double{*options.bandwidth});
  }
  if (options.scale) return *options.scale;
  return options.score == AttentionScore::kDot ? 1.0 / std::sqrt(static_cast<double>(dim)) : 1.0;
}

int64_t KvHeadOf(const AttentionTensors& tensors, int64_t head) {
  return head / (tensors.q.sizes[1] / tensors.k.sizes[1]);
}

void ReadRow(const ConstTensor& tensor, const RowIndex& at, std::vector<double>& row) {
  const Sizes& strides = tensor.strides;
  const int64_t first = at.batch * strides[0] + at.head * strides[1] + at.row * strides[2];
  row.resize(static_cast<size_t>(tensor.sizes[3]));
  for (size_t d = 0; d < row.size(); ++d) row[d] = Element(tensor, first + static_cast<int64_t>(d));
}

}  // namespace lanewise::reference
