// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Rows through exp, columns across lanes: the entries of src/kernels/row_softmax.h. Live in the
// exp loops, kTogether vectors in step: x, r and the exponent of each, a sum of each, scale and
// shift; constants of exp come from memory where registers run out.

#if defined(LANEWISE_SRC_KERNELS_ROW_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_ROW_SOFTMAX_INL_H_
#undef LANEWISE_SRC_KERNELS_ROW_SOFTMAX_INL_H_
#else
#define LANEWISE_SRC_KERNELS_ROW_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/row_softmax.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Vectors that go through exp in step.
inline constexpr size_t kTogether = 2;

// Columns whose maximum is found before their exp in a streamed row: small enough to lie in the
// first-level cache for both.
inline constexpr size_t kStreamBlock = 4096;

// The factor of a row's elements, scale = power * rest with 1 <= rest < 2 (or rest 1 and power 0).
// Elements times a power of two are exact, so the largest one less the shift, which is their
// maximum, is exactly 0, however large scores are; the product with all of `scale` would be off by
// its rounding, which for scores beyond 2^31 is more than exp bears.
struct ScoreScale {
  float power;
  float rest;

  explicit ScoreScale(float scale) {
    int exponent;
    const float fraction = std::frexp(std::abs(scale), &exponent);
    power = scale == 0 ? 0.0f : std::copysign(std::ldexp(1.0f, exponent - 1), scale);
    rest = scale == 0 ? 1.0f : 2 * fraction;
  }
};

// One row of scores. In the kernels without a mask `mask` is null.
template <class In, bool kMasked>
struct SoftmaxRow {
  const In* in;
  const uint8_t* mask;
  ScoreScale scale;

  // Which of the `count` columns from c take part.
  HWY_INLINE FloatMask Seen(FloatTag d, size_t c, size_t count) const {
    if constexpr (!kMasked) return hn::FirstN(d, count);
    const IntTag di;
    const hn::Rebind<uint8_t, FloatTag> bytes;
    HWY_ALIGN uint8_t some[kLanes] = {};
    if (count < kLanes) std::memcpy(some, mask + c, count);
    const auto wide = hn::PromoteTo(di, hn::LoadU(bytes, count < kLanes ? some : mask + c));
    return hn::RebindMask(d, hn::Gt(wide, hn::Zero(di)));
  }

  // scale.power * in - shift of U vectors of columns from c, or -inf where they do not take part.
  template <size_t U>
  HWY_INLINE void Load(FloatTag d, size_t c, FloatVec shift, FloatVec (&s)[U]) const {
    const FloatVec power = hn::Set(d, scale.power);
    HWY_UNROLL(4)
    for (size_t u = 0; u < U; ++u) {
      s[u] = hn::MulSub(LoadElements(d, in + c + u * kLanes), power, shift);
      if constexpr (kMasked) {
        s[u] = hn::IfThenElse(Seen(d, c + u * kLanes, kLanes), s[u], hn::Set(d, -kInfinity));
      }
    }
  }

  // The same of the last `count` < kLanes columns; the other lanes are -inf.
  HWY_INLINE FloatVec LoadSome(FloatTag d, size_t c, size_t count, FloatVec shift) const {
    const FloatVec power = hn::Set(d, scale.power);
    const FloatVec s = hn::MulSub(LoadSomeElements(d, in + c, count), power, shift);
    return hn::IfThenElse(Seen(d, c, count), s, hn::Set(d, -kInfinity));
  }

  // weight * inverse of columns from c, exactly 0 where they do not take part: inverse may be NaN.
  HWY_INLINE FloatVec Weight(FloatTag d, size_t c, size_t count, FloatVec e,
                             FloatVec inverse) const {
    const FloatVec weight = hn::Mul(e, inverse);
    return kMasked ? hn::IfThenElseZero(Seen(d, c, count), weight) : weight;
  }
};

// max_j s_j / scale.rest of some columns; -inf without any. NaN may be lost: it shows in the sum.
template <class Row>
HWY_INLINE float MaxOfRow(const Row& row, Keys columns) {
  const FloatTag d;
  constexpr size_t kMaxima = 4;
  const FloatVec zero = hn::Zero(d);
  FloatVec max[kMaxima];
  FloatVec s[kMaxima];
  HWY_UNROLL(4)
  for (size_t u = 0; u < kMaxima; ++u) max[u] = hn::Set(d, -kInfinity);
  size_t c = columns.begin;
  for (; c + kMaxima * kLanes <= columns.end; c += kMaxima * kLanes) {
    row.Load(d, c, zero, s);
    HWY_UNROLL(4)
    for (size_t u = 0; u < kMaxima; ++u) max[u] = hn::Max(max[u], s[u]);
  }
  FloatVec one[1];
  for (; c + kLanes <= columns.end; c += kLanes) {
    row.Load(d, c, zero, one);
    max[0] = hn::Max(max[0], one[0]);
  }
  if (c < columns.end) {
    max[0] = hn::Max(max[0], row.LoadSome(d, c, columns.end - c, zero));
  }
  const FloatVec all = hn::Max(hn::Max(max[0], max[1]), hn::Max(max[2], max[3]));
  return hn::GetLane(hn::MaxOfLanes(d, all));
}

// What is subtracted from scores up to `max`. Of a row without scores above -inf 0, so that exp
// gives 0; with a score of +inf NaN.
HWY_INLINE float ShiftOf(const ScoreScale& scale, float max) {
  if (max * scale.rest == kInfinity) return std::numeric_limits<float>::quiet_NaN();
  return max == -kInfinity ? 0.0f : max;
}

// Sums of exp: of those in step, one for each vector.
template <size_t U>
HWY_INLINE void AddUp(const FloatVec (&e)[U], FloatVec (&sums)[kTogether]) {
  HWY_UNROLL(4)
  for (size_t u = 0; u < U; ++u) sums[u] = hn::Add(sums[u], e[u]);
}

HWY_INLINE float Total(FloatTag d, const FloatVec (&sums)[kTogether]) {
  FloatVec total = sums[0];
  HWY_UNROLL(4)
  for (size_t u = 1; u < kTogether; ++u) total = hn::Add(total, sums[u]);
  return LaneSum(d, total);
}

// Calls store(c, e, count) with e = exp(scale.rest * (s - shift)) of each column. Meanwhile as many
// elements are fetched from `ahead` on, which is read next: exp leaves memory idle.
template <class Row, class Store>
HWY_INLINE void ExpOfRow(const Row& row, float shift, Keys columns, const void* ahead,
                         const Store& store) {
  const FloatTag d;
  const char* fetch = static_cast<const char*>(ahead);
  const FloatVec shifts = hn::Set(d, shift);
  const FloatVec rest = hn::Set(d, row.scale.rest);
  size_t c = columns.begin;
  for (; c + kTogether * kLanes <= columns.end; c += kTogether * kLanes) {
    FloatVec e[kTogether];
    hwy::Prefetch(fetch);
    fetch += kTogether * kLanes * sizeof(*row.in);
    row.Load(d, c, shifts, e);
    HWY_UNROLL(4)
    for (size_t u = 0; u < kTogether; ++u) e[u] = hn::Mul(e[u], rest);
    Exp(d, e);
    store(c, e, kLanes);
  }
  FloatVec one[1];
  for (; c + kLanes <= columns.end; c += kLanes) {
    row.Load(d, c, shifts, one);
    one[0] = hn::Mul(one[0], rest);
    Exp(d, one);
    store(c, one, kLanes);
  }
  if (c < columns.end) {
    one[0] = Exp(d, hn::Mul(row.LoadSome(d, c, columns.end - c, shifts), rest));
    store(c, one, columns.end - c);
  }
}

// `count` is kLanes, or fewer with U = 1.
template <size_t U, class Out>
HWY_INLINE void StoreColumns(FloatTag d, const FloatVec (&v)[U], Out* out, size_t count) {
  if (count < kLanes) return StoreSomeElements(d, v[0], out, count);
  HWY_UNROLL(4)
  for (size_t u = 0; u < U; ++u) StoreElements(d, v[u], out + u * kLanes);
}

// Of a row without any weight 0: it is all zeros.
HWY_INLINE float InverseOf(float sum) { return sum == 0 ? 0.0f : 1.0f / sum; }

// What is subtracted from a row's scores, and the sum of exp that is left.
struct RowSum {
  float shift;
  float sum;
};

template <class Row>
HWY_INLINE void ResidentRow(const Row& row, size_t columns, const void* next, float* out) {
  const FloatTag d;
  FloatVec sums[kTogether];
  HWY_UNROLL(4)
  for (size_t u = 0; u < kTogether; ++u) sums[u] = hn::Zero(d);
  const float shift = ShiftOf(row.scale, MaxOfRow(row, {0, columns}));
  ExpOfRow(row, shift, {0, columns}, next, [&](size_t c, const auto& e, size_t count) HWY_ATTR {
    AddUp(e, sums);
    StoreColumns(d, e, out + c, count);
  });
  const FloatVec inverse = hn::Set(d, InverseOf(Total(d, sums)));
  size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    hn::StoreU(row.Weight(d, c, kLanes, hn::LoadU(d, out + c), inverse), d, out + c);
  }
  if (c == columns) return;
  const size_t rest = columns - c;
  const FloatVec e = LoadSomeElements(d, out + c, rest);
  StoreSomeElements(d, row.Weight(d, c, rest, e, inverse), out + c, rest);
}

// One pass: the maximum of a block, then its sum; what was summed before shrinks when the maximum
// rises (Milakov and Gimelshein 2018, arXiv 1805.02867).
template <class Row>
HWY_INLINE RowSum SumOfRow(const Row& row, size_t columns, const void* next) {
  const FloatTag d;
  FloatVec sums[kTogether];
  HWY_UNROLL(4)
  for (size_t u = 0; u < kTogether; ++u) sums[u] = hn::Zero(d);
  float max = -kInfinity;
  for (size_t begin = 0; begin < columns; begin += kStreamBlock) {
    const Keys block = {begin, HWY_MIN(begin + kStreamBlock, columns)};
    const float block_max = MaxOfRow(row, block);
    if (block_max > max) {
      const FloatVec factor = Exp(d, hn::Set(d, row.scale.rest * (max - block_max)));
      HWY_UNROLL(4)
      for (size_t u = 0; u < kTogether; ++u) sums[u] = hn::Mul(sums[u], factor);
      max = block_max;
    }
    const void* ahead = block.end < columns ? row.in + block.end : next;
    ExpOfRow(row, ShiftOf(row.scale, max), block, ahead,
             [&](size_t, const auto& e, size_t) HWY_ATTR { AddUp(e, sums); });
  }
  return {ShiftOf(row.scale, max), Total(d, sums)};
}

template <class Row, class Out>
HWY_INLINE void StreamedRow(const Row& row, size_t columns, const void* next, Out* out) {
  const FloatTag d;
  const RowSum sum = SumOfRow(row, columns, row.in);
  const FloatVec inverse = hn::Set(d, InverseOf(sum.sum));
  ExpOfRow(row, sum.shift, {0, columns}, next, [&](size_t c, auto& e, size_t count) HWY_ATTR {
    constexpr size_t kVectors = sizeof(e) / sizeof(e[0]);
    HWY_UNROLL(4)
    for (size_t u = 0; u < kVectors; ++u) {
      e[u] = row.Weight(d, c + u * kLanes, count, e[u], inverse);
    }
    StoreColumns(d, e, out + c, count);
  });
}

template <class Row>
HWY_INLINE void LogSumExpRow(const Row& row, size_t columns, const void* next, float* out) {
  const RowSum sum = SumOfRow(row, columns, next);
  // In double, so that the sum adds no error of its own.
  const double lse = static_cast<double>(row.scale.rest) * static_cast<double>(sum.shift) +
                     std::log(static_cast<double>(sum.sum));
  *out = sum.sum == 0 ? -kInfinity : static_cast<float>(lse);
}

// Calls compute(row, columns, next row, out) for each row. One whose columns all do not take part,
// as one byte says, is a row without columns; `out` has been cleared.
template <class In, class Out, class Compute>
HWY_INLINE void ForEachRow(const RowSoftmaxArgs& args, size_t out_columns, const Compute& compute) {
  const ScoreScale scale(args.scale);
  for (size_t r = 0; r < args.row_count; ++r) {
    const int64_t i = static_cast<int64_t>(r);
    const In* in = static_cast<const In*>(args.in) + i * args.in_stride;
    const In* next = r + 1 < args.row_count ? in + args.in_stride : in;
    Out* out = static_cast<Out*>(args.out) + i * args.out_stride;
    const uint8_t* mask = args.mask == nullptr ? nullptr : args.mask + i * args.mask_stride;
    if (mask == nullptr || (args.mask_repeats && *mask != 0)) {
      compute(SoftmaxRow<In, false>{in, nullptr, scale}, args.columns, next, out);
    } else if (args.mask_repeats) {
      std::memset(out, 0, out_columns * sizeof(Out));
      compute(SoftmaxRow<In, false>{in, nullptr, scale}, size_t{0}, next, out);
    } else {
      compute(SoftmaxRow<In, true>{in, mask, scale}, args.columns, next, out);
    }
  }
}

template <class In>
void SoftmaxResident(const RowSoftmaxArgs& args) {
  const auto compute = [](const auto& row, size_t columns, const In* next, float* out)
                           HWY_ATTR { ResidentRow(row, columns, next, out); };
  ForEachRow<In, float>(args, args.columns, compute);
}

template <class In, class Out>
void SoftmaxStreamed(const RowSoftmaxArgs& args) {
  const auto compute = [](const auto& row, size_t columns, const In* next, Out* out)
                           HWY_ATTR { StreamedRow(row, columns, next, out); };
  ForEachRow<In, Out>(args, args.columns, compute);
}

template <class In>
void LogSumExpRows(const RowSoftmaxArgs& args) {
  const auto compute = [](const auto& row, size_t columns, const In* next, float* out)
                           HWY_ATTR { LogSumExpRow(row, columns, next, out); };
  ForEachRow<In, float>(args, 1, compute);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_ROW_SOFTMAX_INL_H_
