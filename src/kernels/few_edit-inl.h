// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The edit stage of the `few` variant: softcap, ALiBi, bias, mask and bounds on the scores of one
// row, keys across the lanes.

#if defined(LANEWISE_SRC_KERNELS_FEW_EDIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_EDIT_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_EDIT_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_EDIT_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Whether bf16 rows are taken as pairs: even elements, then odd ones.
inline constexpr bool kPairs = kLanes > 1;

// Queries lie in lane groups: a vector has kBlockDims dims of each of kBlockRows rows.
inline constexpr size_t kBlockDims = kLanes < 8 ? kLanes : 8;
inline constexpr size_t kBlockRows = kLanes / kBlockDims;

// Whether the row sees a key, counted from the chunk's first.
HWY_INLINE bool Sees(const FewEdits& edits, size_t key) {
  if (key < edits.begin || key >= edits.end) return false;
  if (edits.mask != nullptr && edits.mask[edits.mask_repeats ? 0 : key] == 0) return false;
  return edits.bias == nullptr || edits.bias[edits.bias_repeats ? 0 : key] != -kInfinity;
}

// Calls edit(key, scores, count) with the scores of kLanes keys at a time, from a multiple of that
// on, and stores what it returns; of the last ones only `count` are keys.
template <class EditScores>
HWY_INLINE void ForEachScore(FloatTag d, const FewRow& row, Keys keys, const EditScores& edit) {
  for (size_t key = keys.begin / kLanes * kLanes; key < keys.end; key += kLanes) {
    const FloatVec s = hn::Load(d, row.scores + key);
    hn::Store(edit(key, s, HWY_MIN(kLanes, keys.end - key)), d, row.scores + key);
  }
}

HWY_INLINE void SoftcapRow(FloatTag d, const FewRow& row, Keys keys) {
  const float cap = row.edits.softcap;
  // The reciprocal of a subnormal cap would be infinite.
  const FloatVec inverse = hn::Set(d, HWY_MIN(1.0f / cap, std::numeric_limits<float>::max()));
  ForEachScore(d, row, keys, [&](size_t, FloatVec s, size_t) HWY_ATTR {
    return hn::Mul(hn::Set(d, cap), Tanh(d, hn::Mul(s, inverse)));
  });
}

HWY_INLINE void AlibiRow(FloatTag d, const FewRow& row, Keys keys) {
  const FloatVec slope = hn::Set(d, row.edits.alibi_slope);
  const FloatVec position = hn::Set(d, row.edits.position);
  ForEachScore(d, row, keys, [&](size_t key, FloatVec s, size_t) HWY_ATTR {
    const FloatVec distance = hn::Abs(hn::Sub(position, hn::Iota(d, static_cast<float>(key))));
    return hn::NegMulAdd(slope, distance, s);
  });
}

HWY_INLINE void BiasRow(FloatTag d, const FewRow& row, Keys keys) {
  const FloatVec hidden = hn::Set(d, -kInfinity);
  ForEachScore(d, row, keys, [&](size_t key, FloatVec s, size_t count) HWY_ATTR {
    const FloatVec bias = row.edits.bias_repeats ? hn::Set(d, row.edits.bias[0])
                          : count == kLanes      ? LoadElements(d, row.edits.bias + key)
                                                 : LoadSomeElements(d, row.edits.bias + key, count);
    // NaN is not -inf and stays visible.
    return hn::IfThenElse(hn::Eq(bias, hidden), hidden, hn::Add(s, bias));
  });
}

HWY_INLINE void MaskRow(FloatTag d, const FewRow& row, Keys keys) {
  ForEachScore(d, row, keys, [&](size_t key, FloatVec s, size_t count) HWY_ATTR {
    HWY_ALIGN float seen[kLanes] = {};
    const uint8_t* mask = row.edits.mask + (row.edits.mask_repeats ? 0 : key);
    for (size_t i = 0; i < count; ++i) {
      seen[i] = mask[row.edits.mask_repeats ? 0 : i] != 0 ? 1.0f : 0.0f;
    }
    return hn::IfThenElse(hn::Eq(hn::Load(d, seen), hn::Zero(d)), hn::Set(d, -kInfinity), s);
  });
}

// Bounds hide whole ends of the chunk.
HWY_INLINE void BoundsRow(const FewRow& row, Keys keys) {
  for (size_t key = keys.begin; key < HWY_MIN(row.edits.begin, keys.end); ++key) {
    row.scores[key] = -kInfinity;
  }
  for (size_t key = HWY_MAX(row.edits.end, keys.begin); key < keys.end; ++key) {
    row.scores[key] = -kInfinity;
  }
}

// Edits the scores of keys [begin, end); those around them, to a multiple of kFewPadding, become
// -inf.
HWY_INLINE void EditRow(const FewRow& row, Keys keys) {
  const FloatTag d;
  const FewEdits& edits = row.edits;
  if (edits.softcap != 0) SoftcapRow(d, row, keys);
  if (edits.alibi_slope != 0) AlibiRow(d, row, keys);
  if (edits.bias != nullptr) BiasRow(d, row, keys);
  if (edits.mask != nullptr) MaskRow(d, row, keys);
  BoundsRow(row, keys);
  for (size_t key = keys.begin; key % kFewPadding != 0; --key) row.scores[key - 1] = -kInfinity;
  for (size_t key = keys.end; key % kFewPadding != 0; ++key) row.scores[key] = -kInfinity;
}

// Whether the row sees any of the keys.
HWY_INLINE bool SeesAny(const FewEdits& edits, Keys keys) {
  const size_t begin = HWY_MAX(keys.begin, edits.begin);
  const size_t end = HWY_MIN(keys.end, edits.end);
  if (edits.mask == nullptr && edits.bias == nullptr) return begin < end;
  for (size_t key = begin; key < end; ++key) {
    if (Sees(edits, key)) return true;
  }
  return false;
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_EDIT_INL_H_
