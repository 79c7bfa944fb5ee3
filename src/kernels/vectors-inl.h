// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Vector types and arithmetic shared by all kernel families, compiled once per target.

#if defined(LANEWISE_SRC_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_VECTORS_INL_H_
#undef LANEWISE_SRC_KERNELS_VECTORS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_VECTORS_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using FloatVec = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;

// Only targets whose vectors have a size are supported (design section 6), so the lane count is a
// constant and arrays of vectors are possible.
inline constexpr size_t kLanes = HWY_LANES(float);

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Keys [begin, end) of a step or chunk.
struct Keys {
  size_t begin;
  size_t end;
};

// max(x, low), but NaN stays NaN. The x86 instruction returns its second operand when either is
// NaN, Arm's returns NaN; Highway's scalar targets return the other operand.
HWY_INLINE FloatVec AtLeast(FloatVec x, FloatVec low) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#else
  return hn::Max(low, x);
#endif
}

// min(x, high), likewise.
HWY_INLINE FloatVec AtMost(FloatVec x, FloatVec high) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#else
  return hn::Min(high, x);
#endif
}

// e^x for x <= 88; below kExpMin (-inf included) exactly 0, NaN gives NaN. Never more than 1 ulp
// below its value at a smaller x. Relative error below 5e-7 wherever the result is a normal number:
// x is reduced to r = x - n ln 2, n a multiple of 1 or 1/32, with an error of at most 2.4e-7
// (ReduceByLn2); the rest are the minimax polynomial and its roundings. Results below 2^-126 are
// subnormal or 0.
//
// n = round(x log2(e)) comes from adding a number so large that n is left in its low mantissa bits.

// x - n ln 2. With FMA the one rounding is that of ln 2 as a float, which is 1.9e-9 too large, so
// 2.4e-7 for the largest |n|. Without, n times the whole ln 2 would be rounded: ln 2 is split into
// a part with few bits, whose product is exact, and the rest.
HWY_INLINE FloatVec ReduceByLn2(FloatTag d, FloatVec x, FloatVec n) {
  if constexpr (HWY_NATIVE_FMA) {
    return hn::NegMulAdd(n, hn::Set(d, 0.693147182f), x);
  } else {
    const FloatVec r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
    return hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  }
}

inline constexpr float kLog2E = 1.44269504f;

// Exp computes U vectors at once, operation by operation: the chain of one vector takes some 45
// cycles, and the scheduler fills up with waiting operations when vectors follow each other whole.
#define LANEWISE_EACH \
  HWY_UNROLL(8)       \
  for (size_t u = 0; u < U; ++u)

#if HWY_TARGET == HWY_AVX3
inline constexpr float kExpMin = -87.336544f;  // ln 2^-126

// 2^(i/32)
HWY_ALIGN inline constexpr float kRootsOfTwo[32] = {
    1.0f,        1.0218972f,  1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f,  1.13878858f,
    1.1637249f,  1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f,
    1.35425556f, 1.38390994f, 1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f,
    1.5759809f,  1.61049032f, 1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f,
    1.8340081f,  1.87416768f, 1.91520655f, 1.95714414f};

// e^x = 2^floor(n) 2^(i/32) (1 + r Q(r)), where i/32 is the fraction of n. Both vectors of the
// table are one instruction's operands, which looks at five bits of each index. Q is the minimax
// polynomial of degree 1 on |r| <= ln(2)/64; it adds 5.4e-8, the table and the roundings 1.5e-7.
template <size_t U>
HWY_INLINE void Exp(FloatTag d, FloatVec (&x)[U]) {
  const FloatVec magic = hn::Set(d, 393216.0f);  // 1.5 * 2^18
  FloatVec biased[U];
  FloatVec n[U];
  FloatVec r[U];
  FloatVec q[U];
  FloatVec root[U];
  LANEWISE_EACH biased[u] = hn::MulAdd(x[u], hn::Set(d, kLog2E), magic);
  LANEWISE_EACH n[u] = hn::Sub(biased[u], magic);
  LANEWISE_EACH root[u].raw =
      _mm512_permutex2var_ps(hn::Load(d, kRootsOfTwo).raw, _mm512_castps_si512(biased[u].raw),
                             hn::Load(d, kRootsOfTwo + kLanes).raw);
  LANEWISE_EACH r[u] = ReduceByLn2(d, x[u], n[u]);
  LANEWISE_EACH q[u] = hn::MulAdd(hn::Set(d, 0.500002027f), r[u], hn::Set(d, 1.00001466f));
  LANEWISE_EACH q[u] = hn::Mul(q[u], r[u]);
  LANEWISE_EACH q[u] = hn::MulAdd(root[u], q[u], root[u]);
  // 0 where x < kExpMin: of a result there, scaling would make a subnormal number or 0, but
  // hundreds of times as slowly (src/kernels/README.md).
  LANEWISE_EACH x[u].raw = _mm512_maskz_scalef_ps(
      _mm512_cmp_ps_mask(x[u].raw, hn::Set(d, kExpMin).raw, _CMP_NLT_UQ), q[u].raw, n[u].raw);
}
#else
inline constexpr float kExpMin = -88.0f;

// e^x = 2^n P(r). P is the minimax polynomial of degree 5 on |r| <= ln(2)/2; it adds 1.1e-7, its
// roundings 1e-7.
template <size_t U>
HWY_INLINE void Exp(FloatTag d, FloatVec (&x)[U]) {
  const IntTag di;
  // 1.5 * 2^23, and 127, so that the low mantissa bits are the biased exponent of 2^n.
  const FloatVec magic = hn::Set(d, 12582912.0f + 127.0f);
  FloatVec biased[U];
  FloatVec n[U];
  FloatVec r[U];
  FloatVec p[U];
  LANEWISE_EACH x[u] = AtLeast(x[u], hn::Set(d, kExpMin));
  LANEWISE_EACH biased[u] = hn::MulAdd(x[u], hn::Set(d, kLog2E), magic);
  LANEWISE_EACH n[u] = hn::Sub(biased[u], magic);
  LANEWISE_EACH r[u] = ReduceByLn2(d, x[u], n[u]);
  LANEWISE_EACH p[u] = hn::MulAdd(hn::Set(d, 8.31252057e-3f), r[u], hn::Set(d, 4.18901555e-2f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], r[u], hn::Set(d, 1.66671142e-1f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], r[u], hn::Set(d, 4.99992311e-1f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], r[u], hn::Set(d, 1.0f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], r[u], hn::Set(d, 1.0f));
  // The product, where an integer add to the exponent would do, keeps NaN a NaN whatever its
  // payload, and makes n = -127, whose exponent bits are all zero, give exactly 0.
  LANEWISE_EACH x[u] = hn::Mul(p[u], hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, biased[u]))));
}
#endif

HWY_INLINE FloatVec Exp(FloatTag d, FloatVec x) {
  FloatVec one[1] = {x};
  Exp<1>(d, one);
  return one[0];
}

// tanh x of U vectors at once, NaN for NaN, exactly odd. Relative error below 3.6e-7 (6 * 2^-24)
// wherever the result is a normal number, so results may be two units in the last place above 1:
// x P(x²) / Q(x²) with P and Q of degree 4 is the minimax quotient on |x| <= 9 and off by 2.2e-8,
// the rest are its roundings, which all coefficients being positive keeps small.
template <size_t U>
HWY_INLINE void TanhUnbounded(FloatTag d, FloatVec (&x)[U]) {
  FloatVec square[U];
  FloatVec p[U];
  FloatVec q[U];
  LANEWISE_EACH x[u] = AtLeast(x[u], hn::Set(d, -9.0f));
  LANEWISE_EACH x[u] = AtMost(x[u], hn::Set(d, 9.0f));
  LANEWISE_EACH square[u] = hn::Mul(x[u], x[u]);
  LANEWISE_EACH p[u] =
      hn::MulAdd(hn::Set(d, 1.34196580611e-8f), square[u], hn::Set(d, 2.0661148044e-5f));
  LANEWISE_EACH q[u] =
      hn::MulAdd(hn::Set(d, 7.80466333864e-7f), square[u], hn::Set(d, 3.29102716897e-4f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], square[u], hn::Set(d, 3.4989893128e-3f));
  LANEWISE_EACH q[u] = hn::MulAdd(q[u], square[u], hn::Set(d, 2.58901808606e-2f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], square[u], hn::Set(d, 1.3383974648e-1f));
  LANEWISE_EACH q[u] = hn::MulAdd(q[u], square[u], hn::Set(d, 4.67172961319e-1f));
  LANEWISE_EACH p[u] = hn::MulAdd(p[u], square[u], hn::Set(d, 1.0f));
  LANEWISE_EACH q[u] = hn::MulAdd(q[u], square[u], hn::Set(d, 1.0f));
  LANEWISE_EACH p[u] = hn::Mul(p[u], x[u]);
  LANEWISE_EACH x[u] = hn::Div(p[u], q[u]);
}
#undef LANEWISE_EACH

// The same of one vector, never above 1 in magnitude.
HWY_INLINE FloatVec Tanh(FloatTag d, FloatVec x) {
  FloatVec one[1] = {x};
  TanhUnbounded<1>(d, one);
  return AtMost(AtLeast(one[0], hn::Set(d, -1.0f)), hn::Set(d, 1.0f));
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_VECTORS_INL_H_
