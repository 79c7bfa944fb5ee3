// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The end of a product: sums into C. Contract and formulas in gemm.h.

#if defined(LANEWISE_SRC_KERNELS_GEMM_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_GEMM_END_INL_H_
#undef LANEWISE_SRC_KERNELS_GEMM_END_INL_H_
#else
#define LANEWISE_SRC_KERNELS_GEMM_END_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/core/half.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/gemm.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// `count` elements, 1 to kLanes of them.
template <class T>
HWY_INLINE FloatVec LoadUpTo(FloatTag d, const T* from, size_t count) {
  return kLanes == 1 || count == kLanes ? LoadElements(d, from) : LoadSomeElements(d, from, count);
}

template <class T>
HWY_INLINE void StoreUpTo(FloatTag d, FloatVec v, T* to, size_t count) {
  if (kLanes == 1 || count == kLanes) {
    StoreElements(d, v, to);
  } else {
    StoreSomeElements(d, v, to, count);
  }
}

template <class T>
HWY_NOINLINE void FinishRows(const float* HWY_RESTRICT sums, size_t sums_stride, size_t row_count,
                             size_t column_count, const GemmEnd& end) {
  const FloatTag d;
  const FloatVec alpha = hn::Set(d, end.alpha);
  const FloatVec beta = hn::Set(d, end.beta);
  const bool reads_c = end.add || end.beta != 0;
  for (size_t i = 0; i < row_count; ++i) {
    const int64_t row = static_cast<int64_t>(i);
    T* c = static_cast<T*>(end.c) + row * end.c_stride;
    const T* residual = end.residual == nullptr
                            ? nullptr
                            : static_cast<const T*>(end.residual) + row * end.residual_stride;
    for (size_t j = 0; j < column_count; j += kLanes) {
      const size_t count = HWY_MIN(column_count - j, kLanes);
      FloatVec v = hn::Load(d, sums + i * sums_stride + j);
      if (reads_c) {
        const FloatVec old = LoadUpTo(d, c + j, count);
        v = end.add ? hn::MulAdd(alpha, v, old) : hn::MulAdd(beta, old, hn::Mul(alpha, v));
      } else {
        v = hn::Mul(alpha, v);
      }
      if (!end.add) {
        if (end.bias != nullptr) v = hn::Add(v, LoadUpTo(d, end.bias + j, count));
        if (residual != nullptr) v = hn::Add(v, LoadUpTo(d, residual + j, count));
      }
      StoreUpTo(d, v, c + j, count);
    }
  }
}

// The rows of `sums` are aligned and padded to whole vectors.
inline void Finish(const float* sums, size_t sums_stride, size_t row_count, size_t column_count,
                   const GemmEnd& end) {
  switch (end.c_type) {
    case DataType::kF16:
      return FinishRows<core::F16>(sums, sums_stride, row_count, column_count, end);
    case DataType::kBF16:
      return FinishRows<core::BF16>(sums, sums_stride, row_count, column_count, end);
    default:
      return FinishRows<float>(sums, sums_stride, row_count, column_count, end);
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_END_INL_H_
