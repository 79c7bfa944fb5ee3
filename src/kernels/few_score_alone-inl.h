// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Scores of a single query row where a vector has room for two (contract in few.h): two keys lie in
// it side by side instead. The order of the additions is that of rows in company.

#if defined(LANEWISE_SRC_KERNELS_FEW_SCORE_ALONE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_SCORE_ALONE_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_SCORE_ALONE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_SCORE_ALONE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/few_steps-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

// kBlockDims elements of two rows side by side.
template <class T>
HWY_INLINE FloatVec LoadOfTwo(const T* a, const T* b) {
  if constexpr (std::is_same_v<T, float>) {
    const __m512 first = _mm512_castps256_ps512(_mm256_loadu_ps(a));
    return FloatVec{_mm512_insertf32x8(first, _mm256_loadu_ps(b), 1)};
  } else {
    const auto load = [](const T* from) HWY_ATTR {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1);
    return Widen<T>(FloatTag(), HalfBitsVec{both});
  }
}

// 2 kBlockDims bf16 of two rows, as pairs.
HWY_INLINE BitsVec LoadPairsOfTwo(const core::BF16* a, const core::BF16* b) {
  const auto load = [](const core::BF16* from) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  };
  return BitsVec{_mm512_inserti64x4(_mm512_castsi256_si512(load(a)), load(b), 1)};
}

// Scores of two steps of keys, the second ones `next` elements further: sums[0] and
// sums[second_sums] on.
template <class T>
HWY_INLINE void ScoreTwoSteps(const FewScoreArgs& args, const T* const* rows, int64_t next,
                              float* sums, size_t second_sums) {
  const FloatTag d;
  const float* HWY_RESTRICT queries = args.queries;  // each block twice
  FloatVec acc[kFewStreams];
  HWY_UNROLL(4)
  for (size_t s = 0; s < kFewStreams; ++s) acc[s] = hn::Zero(d);
  size_t c = 0;
  for (; c + 2 * kLanes <= args.dim; c += 2 * kLanes) {
    FloatVec q[4];
    HWY_UNROLL(4)
    for (size_t b = 0; b < 4; ++b) q[b] = hn::Load(d, queries + (c + b * kBlockDims) * kBlockRows);
    HWY_UNROLL(4)
    for (size_t s = 0; s < kFewStreams; ++s) {
      const T* const first = rows[s] + c;
      const T* const second = rows[s] + next + c;
      __builtin_prefetch(reinterpret_cast<const char*>(first) + kBytesAhead);
      __builtin_prefetch(reinterpret_cast<const char*>(second) + kBytesAhead);
      if constexpr (std::is_same_v<T, core::BF16>) {
        const BitsTag du;
        const BitsVec upper = hn::Set(du, 0xFFFF0000u);
        const BitsVec x = LoadPairsOfTwo(first, second);
        const BitsVec y = LoadPairsOfTwo(first + kLanes, second + kLanes);
        acc[s] = hn::MulAdd(q[0], hn::BitCast(d, hn::ShiftLeft<16>(x)), acc[s]);
        acc[s] = hn::MulAdd(q[1], hn::BitCast(d, hn::ShiftLeft<16>(y)), acc[s]);
        acc[s] = hn::MulAdd(q[2], hn::BitCast(d, hn::And(x, upper)), acc[s]);
        acc[s] = hn::MulAdd(q[3], hn::BitCast(d, hn::And(y, upper)), acc[s]);
      } else {
        HWY_UNROLL(4)
        for (size_t b = 0; b < 4; ++b) {
          const FloatVec k = LoadOfTwo(first + b * kBlockDims, second + b * kBlockDims);
          acc[s] = hn::MulAdd(q[b], k, acc[s]);
        }
      }
    }
  }
  for (; c < args.dim; c += kBlockDims) {
    const size_t count = HWY_MIN(args.dim - c, kBlockDims);
    const FloatVec q = hn::Load(d, queries + c * kBlockRows);
    for (size_t s = 0; s < kFewStreams; ++s) {
      const FloatVec first = LoadSomeElements(d, rows[s] + c, count);
      const FloatVec second = LoadSomeElements(d, rows[s] + next + c, count);
      acc[s] = hn::MulAdd(q, hn::ConcatLowerLower(d, second, first), acc[s]);
    }
  }
  const FloatVec halves = MergeFour(d, acc);
  const FloatVec both = hn::Add(halves, hn::SwapAdjacentBlocks(halves));
  hn::Store(both, d, sums);
  hn::Store(hn::ConcatLowerUpper(d, both, both), d, sums + second_sums);
}

#endif

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_SCORE_ALONE_INL_H_
