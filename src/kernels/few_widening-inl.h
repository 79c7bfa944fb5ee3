// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Keys of half types on their way to f32, a step before they are scored by the `few` variant.

#if defined(LANEWISE_SRC_KERNELS_FEW_WIDENING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_WIDENING_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_WIDENING_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_WIDENING_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few_steps-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Widens rows of T ahead of their use: the same columns of the next keys, while those of these keys
// are computed.
template <class T, size_t N>
struct Widening {
  const T* rows[N];
  float* to;  // [N, stride]
  size_t stride;

  // Columns c to c + 2 kLanes.
  HWY_INLINE void Take(size_t c) const {
    const FloatTag d;
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) {
      __builtin_prefetch(reinterpret_cast<const char*>(rows[i] + c) + kBytesAhead);
      hn::Store(LoadHalf<Half::kFirst>(d, rows[i] + c), d, to + i * stride + c);
      hn::Store(LoadHalf<Half::kSecond>(d, rows[i] + c), d, to + i * stride + c + kLanes);
    }
  }
  // Columns from c on, fewer than 2 kLanes.
  HWY_INLINE void TakeRest(size_t c, size_t columns) const {
    const FloatTag d;
    for (; c < columns; c += kLanes) {
      for (size_t i = 0; i < N; ++i) {
        hn::Store(c + kLanes <= columns ? LoadElements(d, rows[i] + c)
                                        : LoadSomeElements(d, rows[i] + c, columns - c),
                  d, to + i * stride + c);
      }
    }
  }
};

// Nothing to widen.
struct NoWidening {
  HWY_INLINE void Take(size_t /*c*/) const {}
  HWY_INLINE void TakeRest(size_t /*c*/, size_t /*columns*/) const {}
};

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_WIDENING_INL_H_
