// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of f32 lanes from and to memory of any element type: float, core::F16 or core::BF16.
//
// Widening is exact. Narrowing rounds to nearest, ties to even; subnormals stay, a value too large
// becomes an infinity, NaN stays NaN and is quiet. Every target gives the same bits, but for those
// of a NaN, and in every floating-point mode: the conversions of x86 ignore MXCSR's denormal bits
// for f16 and take their rounding from the instruction; everything else is integer arithmetic or
// exact. No partial access touches memory beyond its elements.

#if defined(LANEWISE_SRC_KERNELS_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_ELEMENTS_INL_H_
#undef LANEWISE_SRC_KERNELS_ELEMENTS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_ELEMENTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"
#include "src/core/half.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

using BitsTag = hn::RebindToUnsigned<FloatTag>;
using BitsVec = hn::Vec<BitsTag>;
using HalfBitsTag = hn::Rebind<uint16_t, FloatTag>;
using HalfBitsVec = hn::Vec<HalfBitsTag>;

// The hardware's conversions, where they do not depend on a floating-point mode: Arm's narrowing
// rounds as FPCR says.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
inline constexpr bool kWidensF16 = true;
inline constexpr bool kNarrowsF16 = true;
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
inline constexpr bool kWidensF16 = true;
inline constexpr bool kNarrowsF16 = false;
#else
inline constexpr bool kWidensF16 = false;
inline constexpr bool kNarrowsF16 = false;
#endif

// Whether masked accesses of elements of `bytes` leave memory outside the mask alone. Elsewhere
// Highway 1.0.3 loads whole vectors, or stores lane by lane.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool MasksMemory(size_t /*bytes*/) { return true; }
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr bool MasksMemory(size_t bytes) { return bytes >= 4; }
#else
constexpr bool MasksMemory(size_t /*bytes*/) { return false; }
#endif

// f16 bits, zero-extended, to f32 in the upper exponent range: normal numbers are rebiased by 112,
// infinities and NaN by twice that; a subnormal is its bits times 2^-24, exact and normal as f32.
HWY_INLINE FloatVec FloatFromF16(FloatTag d, BitsVec bits) {
  const BitsTag du;
  const IntTag di;
  const BitsVec rebias = hn::Set(du, uint32_t{112} << 23);
  const BitsVec magnitude = hn::And(bits, hn::Set(du, uint32_t{0x7FFF}));
  const BitsVec sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_special = hn::Gt(signed_magnitude, hn::Set(di, 0x7BFF));
  const BitsVec special_rebias = hn::And(hn::BitCast(du, hn::VecFromMask(di, is_special)), rebias);
  const BitsVec normal = hn::Add(hn::Add(hn::ShiftLeft<13>(magnitude), rebias), special_rebias);
  const FloatVec subnormal = hn::Mul(hn::ConvertTo(d, signed_magnitude), hn::Set(d, 0x1p-24F));
  const auto is_subnormal = hn::Gt(hn::Set(di, 0x0400), signed_magnitude);
  const FloatVec widened =
      hn::IfThenElse(hn::RebindMask(d, is_subnormal), subnormal, hn::BitCast(d, normal));
  return hn::Or(widened, hn::BitCast(d, sign));
}

// f32 to f16 bits. From 2^-14 on the result is a normal number or rounds up to an infinity, and the
// bits are rounded as an integer, whose carry moves into the exponent by itself. Below, the result
// counts units of 2^-24: the units are truncated and the remainder, which is exact, decides.
HWY_INLINE BitsVec F16FromFloat(FloatTag d, FloatVec v) {
  const BitsTag du;
  const IntTag di;
  const BitsVec one = hn::Set(du, uint32_t{1});
  const BitsVec bits = hn::BitCast(du, v);
  const BitsVec magnitude = hn::And(bits, hn::Set(du, uint32_t{0x7FFFFFFF}));
  const BitsVec sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
  const auto signed_magnitude = hn::BitCast(di, magnitude);

  const BitsVec is_odd = hn::And(hn::ShiftRight<13>(magnitude), one);
  const BitsVec rounding = hn::Add(is_odd, hn::Set(du, uint32_t{0x0FFF} - (uint32_t{112} << 23)));
  const BitsVec normal = hn::ShiftRight<13>(hn::Add(magnitude, rounding));

  const auto is_small = hn::Gt(hn::Set(di, 113 << 23), signed_magnitude);
  const FloatVec units =
      hn::Mul(hn::BitCast(d, hn::IfThenElseZero(is_small, signed_magnitude)), hn::Set(d, 0x1p24F));
  const auto whole = hn::ConvertTo(di, units);
  const FloatVec rest = hn::Sub(units, hn::ConvertTo(d, whole));
  const FloatVec half = hn::Set(d, 0.5F);
  const BitsVec above = hn::BitCast(du, hn::VecFromMask(d, hn::Gt(rest, half)));
  const BitsVec tie = hn::BitCast(du, hn::VecFromMask(d, hn::Eq(rest, half)));
  const BitsVec whole_bits = hn::BitCast(du, whole);
  const BitsVec round_up = hn::And(hn::Or(above, hn::And(tie, whole_bits)), one);
  const BitsVec small = hn::Add(whole_bits, round_up);

  const auto is_large = hn::Gt(signed_magnitude, hn::Set(di, (143 << 23) - 1));
  const auto is_nan = hn::Gt(signed_magnitude, hn::Set(di, 0x7F800000));
  const BitsVec payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, uint32_t{0x03FF}));
  const BitsVec nan = hn::Or(payload, hn::Set(du, uint32_t{0x7E00}));
  BitsVec result = hn::IfThenElse(hn::RebindMask(du, is_small), small, normal);
  result = hn::IfThenElse(hn::RebindMask(du, is_large), hn::Set(du, uint32_t{0x7C00}), result);
  result = hn::IfThenElse(hn::RebindMask(du, is_nan), nan, result);
  return hn::Or(result, sign);
}

HWY_INLINE BitsVec BF16FromFloat(FloatVec v) {
  const BitsTag du;
  const IntTag di;
  const BitsVec bits = hn::BitCast(du, v);
  const BitsVec upper = hn::ShiftRight<16>(bits);
  const BitsVec is_odd = hn::And(upper, hn::Set(du, uint32_t{1}));
  const BitsVec rounding = hn::Add(is_odd, hn::Set(du, uint32_t{0x7FFF}));
  const BitsVec rounded = hn::ShiftRight<16>(hn::Add(bits, rounding));
  const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, uint32_t{0x7FFFFFFF})));
  const auto is_nan = hn::Gt(magnitude, hn::Set(di, 0x7F800000));
  const BitsVec nan = hn::Or(upper, hn::Set(du, uint32_t{0x0040}));
  return hn::IfThenElse(hn::RebindMask(du, is_nan), nan, rounded);
}

template <class T>
HWY_INLINE FloatVec Widen(FloatTag d, HalfBitsVec half_bits) {
  static_assert(std::is_same_v<T, core::F16> || std::is_same_v<T, core::BF16>);
  const BitsTag du;
  if constexpr (std::is_same_v<T, core::BF16>) {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, half_bits)));
  } else if constexpr (kWidensF16) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, FloatTag>(), half_bits));
  } else {
    return FloatFromF16(d, hn::PromoteTo(du, half_bits));
  }
}

template <class T>
HWY_INLINE HalfBitsVec Narrow(FloatTag d, FloatVec v) {
  static_assert(std::is_same_v<T, core::F16> || std::is_same_v<T, core::BF16>);
  const HalfBitsTag d16;
  if constexpr (std::is_same_v<T, core::BF16>) {
    return hn::TruncateTo(d16, BF16FromFloat(v));
  } else if constexpr (kNarrowsF16) {
    return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, FloatTag>(), v));
  } else {
    return hn::TruncateTo(d16, F16FromFloat(d, v));
  }
}

// The first `count` lanes, less than all, of a vector in memory; the other lanes are 0.
template <class D>
HWY_INLINE hn::Vec<D> LoadSome(D d, const hn::TFromD<D>* from, size_t count) {
  if constexpr (MasksMemory(sizeof(hn::TFromD<D>))) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN hn::TFromD<D> lanes[kLanes] = {};
    std::memcpy(lanes, from, count * sizeof(lanes[0]));
    return hn::Load(d, lanes);
  }
}

template <class D>
HWY_INLINE void StoreSome(D d, hn::Vec<D> v, hn::TFromD<D>* to, size_t count) {
  if constexpr (MasksMemory(sizeof(hn::TFromD<D>))) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN hn::TFromD<D> lanes[kLanes];
    hn::Store(v, d, lanes);
    std::memcpy(to, lanes, count * sizeof(lanes[0]));
  }
}

// kLanes elements from memory that needs no alignment beyond the element's.
template <class T>
HWY_INLINE FloatVec LoadElements(FloatTag d, const T* from) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(d, from);
  } else {
    return Widen<T>(d, hn::LoadU(HalfBitsTag(), &from->bits));
  }
}

// `count` elements, fewer than kLanes; the other lanes are 0.
template <class T>
HWY_INLINE FloatVec LoadSomeElements(FloatTag d, const T* from, size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    return LoadSome(d, from, count);
  } else {
    return Widen<T>(d, LoadSome(HalfBitsTag(), &from->bits, count));
  }
}

template <class T>
HWY_INLINE void StoreElements(FloatTag d, FloatVec v, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    hn::StoreU(v, d, to);
  } else {
    hn::StoreU(Narrow<T>(d, v), HalfBitsTag(), &to->bits);
  }
}

// The first `count` lanes, fewer than kLanes.
template <class T>
HWY_INLINE void StoreSomeElements(FloatTag d, FloatVec v, T* to, size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    StoreSome(d, v, to, count);
  } else {
    StoreSome(HalfBitsTag(), Narrow<T>(d, v), &to->bits, count);
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_ELEMENTS_INL_H_
