// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sums over the lanes of many vectors at once. A tree of kLanes - 1 merges, each of two shuffles
// and one addition, takes kLanes vectors to one: less than two shuffles a sum.

#if defined(LANEWISE_SRC_KERNELS_LANE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANE_SUMS_INL_H_
#undef LANEWISE_SRC_KERNELS_LANE_SUMS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANE_SUMS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

static_assert(kLanes == 1 || kLanes == 4 || kLanes == 8 || kLanes == 16);

#if HWY_TARGET != HWY_SCALAR

// Inside each 128-bit block: [a0 + a2, b0 + b2, a1 + a3, b1 + b3].
HWY_INLINE FloatVec MergeLanes(FloatTag d, FloatVec a, FloatVec b) {
  return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}

// Inside each block: [a0 + a2, a1 + a3, b0 + b2, b1 + b3].
HWY_INLINE FloatVec MergePairs(FloatTag d, FloatVec a, FloatVec b) {
  const hn::RepartitionToWide<IntTag> dw;
  const auto wide_a = hn::BitCast(dw, a);
  const auto wide_b = hn::BitCast(dw, b);
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(dw, wide_a, wide_b)),
                 hn::BitCast(d, hn::InterleaveUpper(dw, wide_a, wide_b)));
}

// [sum of v[0], v[1], v[2], v[3]] of each block.
HWY_INLINE FloatVec MergeFour(FloatTag d, const FloatVec* v) {
  return MergePairs(d, MergeLanes(d, v[0], v[1]), MergeLanes(d, v[2], v[3]));
}

#endif

// Lane i of the result is the sum over the lanes of v[i]. The order of the additions is the same
// for every i.
HWY_INLINE FloatVec SumsOfLanes(FloatTag d, const FloatVec (&v)[kLanes]) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  return v[0];
#else
  if constexpr (kLanes == 4) {
    return MergeFour(d, v);
  } else if constexpr (kLanes == 8) {
    // Blocks: low half from the first four vectors, high half from the others.
    const FloatVec a = MergeFour(d, v);
    const FloatVec b = MergeFour(d, v + 4);
    return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
  } else {
    // a..d hold blocks [x0 x1 x2 x3] of partial sums. Halves: [a0+a2, a1+a3, c0+c2, c1+c3].
    const FloatVec a = MergeFour(d, v);
    const FloatVec b = MergeFour(d, v + 4);
    const FloatVec c = MergeFour(d, v + 8);
    const FloatVec e = MergeFour(d, v + 12);
    const FloatVec ac = hn::Add(hn::ConcatLowerLower(d, c, a), hn::ConcatUpperUpper(d, c, a));
    const FloatVec be = hn::Add(hn::ConcatLowerLower(d, e, b), hn::ConcatUpperUpper(d, e, b));
    // Even blocks of `ac` beside odd ones of `be`, and the other way round.
    const FloatVec straight = hn::OddEvenBlocks(be, ac);
    const FloatVec crossed = hn::SwapAdjacentBlocks(hn::OddEvenBlocks(ac, be));
    return hn::Add(straight, crossed);
  }
#endif
}

// The sum over the lanes of one vector, in the order of SumsOfLanes: each half is added to the
// other, first inside the blocks.
HWY_INLINE float LaneSum(FloatTag d, FloatVec v) {
#if HWY_TARGET != HWY_SCALAR
  v = hn::Add(v, hn::Shuffle1032(v));
  v = hn::Add(v, hn::Shuffle2301(v));
  if constexpr (kLanes > 4) v = hn::Add(v, hn::ConcatLowerUpper(d, v, v));
  if constexpr (kLanes > 8) v = hn::Add(v, hn::SwapAdjacentBlocks(v));
#else
  (void)d;
#endif
  return hn::GetLane(v);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANE_SUMS_INL_H_
