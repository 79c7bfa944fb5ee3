// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The entries of the `few` variant but for its products: load, softmax, merge, weights. Contract
// and formulas in few.h.

#if defined(LANEWISE_SRC_KERNELS_FEW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

void FewLoad(const FewLoadArgs& args) {
  const hn::CappedTag<float, kBlockDims> d;
  const auto scale = hn::Set(d, args.scale);
  const size_t padded_rows = (args.row_count + kBlockRows - 1) / kBlockRows * kBlockRows;
  for (size_t r = 0; r < padded_rows; ++r) {
    float* HWY_RESTRICT to = args.queries + r / kBlockRows * kBlockRows * args.query_stride +
                             r % kBlockRows * kBlockDims;
    // Rows that fill up the last group repeat the last one.
    const float* HWY_RESTRICT row = args.rows[HWY_MIN(r, args.row_count - 1)];
    size_t c = 0;
    if constexpr (kPairs) {
      for (; args.pairs && c + 2 * kLanes <= args.dim; c += 2 * kLanes) {
        for (size_t b = 0; b < kLanes; b += kBlockDims) {
          hn::Vec<decltype(d)> even, odd;
          hn::LoadInterleaved2(d, row + c + 2 * b, even, odd);
          hn::Store(hn::Mul(even, scale), d, to + (c + b) * kBlockRows);
          hn::Store(hn::Mul(odd, scale), d, to + (c + kLanes + b) * kBlockRows);
        }
      }
    }
    for (; c + kBlockDims <= args.dim; c += kBlockDims) {
      hn::Store(hn::Mul(hn::LoadU(d, row + c), scale), d, to + c * kBlockRows);
    }
    if (c == args.dim) continue;
    // The padding stays 0 for an infinite product, too.
    for (size_t i = 0; i < kBlockDims; ++i) {
      to[c * kBlockRows + i] = c + i < args.dim ? row[c + i] * args.scale : 0.0f;
    }
  }
}

// Walks down the rows of all streams, a line of each at a call.
class AheadCursor {
 public:
  explicit AheadCursor(const FewAhead& ahead) : ahead_(ahead), rows_left_(ahead.count) {}

  HWY_INLINE void Advance() {
    if (rows_left_ == 0) return;
    for (size_t s = 0; s < ahead_.stream_count; ++s) {
      __builtin_prefetch(ahead_.rows[s] + row_ + static_cast<int64_t>(byte_));
    }
    byte_ += kLineBytes;
    if (byte_ < ahead_.row_bytes) return;
    byte_ = 0;
    row_ += ahead_.stride_bytes;
    --rows_left_;
  }

 private:
  static constexpr size_t kLineBytes = 64;

  const FewAhead& ahead_;
  size_t rows_left_;
  int64_t row_ = 0;  // bytes to it
  size_t byte_ = 0;  // in it
};

// Weights and state of one row from its edited scores.
HWY_INLINE void SoftmaxRow(FloatTag d, const FewRow& row, Keys keys, AheadCursor& ahead) {
  const Keys padded = {keys.begin / kFewPadding * kFewPadding,
                       (keys.end + kFewPadding - 1) / kFewPadding * kFewPadding};
  FloatVec max = hn::Set(d, -kInfinity);
  for (size_t key = padded.begin; key < padded.end; key += kLanes) {
    max = hn::Max(max, hn::Load(d, row.scores + key));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, max));
  // Without a score above -inf all weights are 0; -inf - -inf would be NaN.
  const FloatVec shift = hn::Set(d, largest == -kInfinity ? 0.0f : largest);
  FloatVec sum = hn::Zero(d);
  constexpr size_t kVectors = kFewPadding / kLanes < 4 ? kFewPadding / kLanes : 4;
  for (size_t key = padded.begin; key < padded.end; key += kVectors * kLanes) {
    // As often as lines come from memory in the time of exp.
    if (key % (2 * kFewPadding) == 0) ahead.Advance();
    FloatVec p[kVectors];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kVectors; ++i) {
      p[i] = hn::Sub(hn::Load(d, row.scores + key + i * kLanes), shift);
    }
    Exp<kVectors>(d, p);
    HWY_UNROLL(4)
    for (size_t i = 0; i < kVectors; ++i) {
      hn::Store(p[i], d, row.scores + key + i * kLanes);
      sum = hn::Add(sum, p[i]);
    }
  }
  row.state[kFewShift] = largest;
  row.state[kFewSum] = LaneSum(d, sum);
  row.state[kFewSeen] = SeesAny(row.edits, keys) ? 1.0f : 0.0f;
}

void FewSoftmax(const FewSoftmaxArgs& args) {
  const FloatTag d;
  const Keys keys = {args.begin, args.end};
  AheadCursor ahead(args.values);
  for (size_t r = 0; r < args.row_count; ++r) {
    EditRow(args.rows[r], keys);
    SoftmaxRow(d, args.rows[r], keys, ahead);
  }
}

bool FewFinite(const FewRow* rows, size_t row_count, size_t value_dim) {
  const FloatTag d;
  FloatVec zeros = hn::Zero(d);  // 0 * x, which is NaN for NaN and inf
  for (size_t r = 0; r < row_count; ++r) {
    for (size_t c = 0; c < value_dim; c += kLanes) {
      zeros = hn::MulAdd(hn::Load(d, rows[r].output + c), hn::Zero(d), zeros);
    }
  }
  return hn::AllTrue(d, hn::Eq(zeros, zeros));
}

// exp(x) of one number, by the vectors' exp.
HWY_INLINE float ExpOf(FloatTag d, float x) { return hn::GetLane(Exp(d, hn::Set(d, x))); }

// The first `chunk_count` chunks of a row, merged: N vectors of its output from column c on.
template <size_t N>
HWY_INLINE void MergeColumns(const FewMergeArgs& args, size_t chunk_count, float inverse, size_t c,
                             FloatVec (&out)[N]) {
  const FloatTag d;
  const float* output = args.output + c;
  const float* state = args.state;
  HWY_UNROLL(4)
  for (size_t i = 0; i < N; ++i) out[i] = hn::Zero(d);
  for (size_t chunk = 0; chunk < chunk_count; ++chunk) {
    if (state[kFewSeen] != 0) {
      const FloatVec factor = hn::Set(d, state[kFewFactor]);
      HWY_UNROLL(4)
      for (size_t i = 0; i < N; ++i) {
        out[i] = hn::MulAdd(factor, hn::Load(d, output + i * kLanes), out[i]);
      }
    }
    output += args.chunk_stride;
    state += args.chunk_stride;
  }
  // Adding 0 turns -0 into +0: the sign of a zero would tell how many hidden keys were added.
  HWY_UNROLL(4)
  for (size_t i = 0; i < N; ++i) out[i] = hn::MulAdd(out[i], hn::Set(d, inverse), hn::Zero(d));
}

void FewMerge(const FewMergeArgs& args) {
  const FloatTag d;
  const auto state = [&](size_t chunk) { return args.state + chunk * args.chunk_stride; };
  float largest = args.sink;
  bool seen = false;
  for (size_t chunk = 0; chunk < args.chunk_count; ++chunk) {
    if (state(chunk)[kFewSeen] == 0) continue;
    seen = true;
    largest = HWY_MAX(largest, state(chunk)[kFewShift]);
  }
  const float shift = largest == -kInfinity ? 0.0f : largest;
  float sum = args.sink == -kInfinity ? 0.0f : ExpOf(d, args.sink - shift);
  for (size_t chunk = 0; chunk < args.chunk_count; ++chunk) {
    if (state(chunk)[kFewSeen] == 0) continue;
    // Of a chunk alone exp(0), which is exactly 1; NaN has got into its sum.
    const float chunk_shift = state(chunk)[kFewShift];
    const float factor = chunk_shift == shift ? 1.0f : ExpOf(d, chunk_shift - shift);
    sum += factor * state(chunk)[kFewSum];
    state(chunk)[kFewFactor] = factor;
  }
  // Rows without a key, and rows that saw only scores of -inf.
  const bool empty = !seen || sum == 0;
  const float inverse = empty ? 0.0f : 1.0f / sum;
  const size_t chunk_count = empty ? 0 : args.chunk_count;
  size_t c = 0;
  if constexpr (kPairs) {
    for (; args.pairs && c + 2 * kLanes <= args.value_dim; c += 2 * kLanes) {
      FloatVec out[2];
      MergeColumns(args, chunk_count, inverse, c, out);
      hn::StoreInterleaved2(out[0], out[1], d, args.out + c);
    }
  }
  for (; c + 4 * kLanes <= args.value_dim; c += 4 * kLanes) {
    FloatVec out[4];
    MergeColumns(args, chunk_count, inverse, c, out);
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i) hn::StoreU(out[i], d, args.out + c + i * kLanes);
  }
  for (; c < args.value_dim; c += kLanes) {
    FloatVec out[1];
    MergeColumns(args, chunk_count, inverse, c, out);
    if (c + kLanes <= args.value_dim) {
      StoreElements(d, out[0], args.out + c);
    } else {
      StoreSomeElements(d, out[0], args.out + c, args.value_dim - c);
    }
  }
  if (args.shift != nullptr) *args.shift = shift;
  if (args.inverse != nullptr) *args.inverse = inverse;
  if (args.lse == nullptr) return;
  // In double, so that the sum adds no error of its own.
  const double lse = static_cast<double>(shift) + std::log(static_cast<double>(sum));
  *args.lse = seen ? static_cast<float>(lse) : -kInfinity;
}

void FewWeights(const FewWeightsArgs& args) {
  const FloatTag d;
  EditRow(args.row, {args.begin, args.end});
  const FloatVec shift = hn::Set(d, args.shift);
  const FloatVec inverse = hn::Set(d, args.inverse);
  for (size_t key = args.begin; key < args.end; key += kLanes) {
    const FloatVec s = hn::LoadU(d, args.row.scores + key);
    const FloatVec p = hn::Mul(Exp(d, hn::Sub(s, shift)), inverse);
    // Hidden keys stay 0 in a row whose sum is NaN.
    const FloatVec weight = hn::IfThenZeroElse(hn::Eq(s, hn::Set(d, -kInfinity)), p);
    if (key + kLanes <= args.end) {
      StoreElements(d, weight, args.weights + key);
    } else {
      StoreSomeElements(d, weight, args.weights + key, args.end - key);
    }
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_INL_H_
