// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The register tile: the one inner product loop of the library.
//
//   tile[i][j] += Σ_s a(i, s) * b[s][j]     i < MR rows, j < NV vectors, s < steps
//
// or, for distances, (a(i, s) - b[s][j])² in place of the product.
//
// `b` is an array of NV vectors a step; `a` is read in place, one element at a time, and broadcast.
// MR * NV accumulators stay in registers, beside NV vectors of b and one of a. Each accumulator is
// a single chain of FMAs in step order, so its bits do not depend on MR or NV; MR * NV must be at
// least FMA latency x FMAs a cycle (8 on the x86 cores measured) to hide that chain.

#if defined(LANEWISE_SRC_KERNELS_REGISTER_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_REGISTER_TILE_INL_H_
#undef LANEWISE_SRC_KERNELS_REGISTER_TILE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_REGISTER_TILE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// How `a` lies in memory. The other stride is 1.
enum class ARows {
  kStrided,     // a(i, s) = a[i * stride + s]: rows of K against queries
  kContiguous,  // a(i, s) = a[i + s * stride]: columns of V against weights
};

// The tile that takes the rows left over by a tile of `rows`: the next smaller power of two.
constexpr size_t TailRows(size_t rows) {
  size_t tail = 1;
  while (2 * tail < rows) tail *= 2;
  return tail;
}

// Rows of `a` a stride apart, more than there are registers for pointers to: two pointers and four
// multiples of the stride, from which an x86 address makes any of 16 rows. Compilers would rather
// keep 16 pointers, most of them in memory.
class ManyRows {
 public:
  static constexpr size_t kNone = 8;  // so few rows have pointers of their own
  static constexpr size_t kMost = 16;

  ManyRows(const float* a, int64_t stride)
      : low_(a),
        high_(a + 8 * stride),
        x1_(stride),
        x3_(3 * stride),
        x5_(5 * stride),
        x7_(7 * stride) {}

  // Forgets what is known of the addresses, so that they are not kept each in a register.
  HWY_INLINE void Settle() {
#if HWY_ARCH_X86 && !HWY_COMPILER_MSVC
    __asm__("" : "+r"(low_), "+r"(high_), "+r"(x1_), "+r"(x3_), "+r"(x5_), "+r"(x7_));
#endif
  }

  HWY_INLINE float At(size_t row, size_t step) const {
    const int64_t multiples[8] = {0, x1_, 2 * x1_, x3_, 4 * x1_, x5_, 2 * x3_, x7_};
    const int64_t offset = multiples[row % 8] + static_cast<int64_t>(step);
    // Not (row < 8 ? low_ : high_)[...]: of such an index gcc's -fsanitize=bounds forgets a part.
    return row < 8 ? low_[offset] : high_[offset];
  }

  HWY_INLINE void Advance(size_t steps) {
    low_ += steps;
    high_ += steps;
  }

 private:
  const float* low_;   // row 0
  const float* high_;  // row 8
  int64_t x1_;
  int64_t x3_;
  int64_t x5_;
  int64_t x7_;
};

// What a step adds to an accumulator.
struct Product {
  static HWY_INLINE FloatVec Add(FloatVec a, FloatVec b, FloatVec acc) {
    return hn::MulAdd(a, b, acc);
  }
};
struct SquaredDifference {
  static HWY_INLINE FloatVec Add(FloatVec a, FloatVec b, FloatVec acc) {
    const FloatVec difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, acc);
  }
};

template <size_t MR, size_t NV>
struct RegisterTile {
  FloatVec acc[MR][NV];

  HWY_INLINE void Zero(FloatTag d) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) acc[i][j] = hn::Zero(d);
    }
  }

  // Tiles lie in scratch as [MR][NV] vectors, row_stride floats from row to row.
  HWY_INLINE void Load(FloatTag d, const float* HWY_RESTRICT from, size_t row_stride) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        acc[i][j] = hn::Load(d, from + i * row_stride + j * kLanes);
      }
    }
  }

  HWY_INLINE void Store(FloatTag d, float* HWY_RESTRICT to, size_t row_stride) const {
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < NV; ++j) {
        hn::Store(acc[i][j], d, to + i * row_stride + j * kLanes);
      }
    }
  }

  // Multiplies column j by factor[j].
  HWY_INLINE void Scale(FloatTag d, const float* HWY_RESTRICT factor) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < NV; ++j) {
      const FloatVec f = hn::Load(d, factor + j * kLanes);
      HWY_UNROLL(16)
      for (size_t i = 0; i < MR; ++i) acc[i][j] = hn::Mul(acc[i][j], f);
    }
  }

  // Of vectors [kFirst, kFirst + kCount) of the tile, at the first of which `b` begins. b needs the
  // alignment of a vector only with kAlignedB.
  template <ARows kRows, bool kAlignedB = true, size_t kFirst = 0, size_t kCount = NV,
            class Term = Product>
  HWY_INLINE void MultiplyAdd(FloatTag d, const float* HWY_RESTRICT a, int64_t stride,
                              const float* HWY_RESTRICT b, size_t b_stride, size_t steps) {
    if constexpr (kRows == ARows::kStrided && MR > ManyRows::kNone) {
      MultiplyAddMany<kAlignedB, kFirst, kCount, Term>(d, ManyRows(a, stride), b, b_stride, steps);
      return;
    }
    HWY_UNROLL(4)
    for (size_t s = 0; s < steps; ++s) {
      FloatVec column[kCount];
      HWY_UNROLL(16)
      for (size_t j = 0; j < kCount; ++j) {
        const float* HWY_RESTRICT from = b + s * b_stride + j * kLanes;
        column[j] = kAlignedB ? hn::Load(d, from) : hn::LoadU(d, from);
      }
      HWY_UNROLL(16)
      for (size_t i = 0; i < MR; ++i) {
        const int64_t offset = kRows == ARows::kStrided
                                   ? static_cast<int64_t>(i) * stride + static_cast<int64_t>(s)
                                   : static_cast<int64_t>(s) * stride + static_cast<int64_t>(i);
        const FloatVec broadcast = hn::Set(d, a[offset]);
        HWY_UNROLL(16)
        for (size_t j = 0; j < kCount; ++j) {
          acc[i][kFirst + j] = Term::Add(broadcast, column[j], acc[i][kFirst + j]);
        }
      }
    }
  }

 private:
  // MultiplyAdd of many rows. Its step is apart from that of few rows, whose code gcc makes slower
  // when both share one (gemm_proj by 3 to 5 %).
  template <bool kAlignedB, size_t kFirst, size_t kCount, class Term>
  HWY_INLINE void MultiplyAddMany(FloatTag d, ManyRows rows, const float* HWY_RESTRICT b,
                                  size_t b_stride, size_t steps) {
    static_assert(MR <= ManyRows::kMost);
    constexpr size_t kTogether = 4;
    size_t s = 0;
    for (; s + kTogether <= steps; s += kTogether) {
      rows.Settle();
      HWY_UNROLL(4)
      for (size_t u = 0; u < kTogether; ++u) {
        MultiplyAddStep<kAlignedB, kFirst, kCount, Term>(d, rows, u, b + (s + u) * b_stride);
      }
      rows.Advance(kTogether);
    }
    for (; s < steps; ++s) {
      MultiplyAddStep<kAlignedB, kFirst, kCount, Term>(d, rows, 0, b + s * b_stride);
      rows.Advance(1);
    }
  }

  template <bool kAlignedB, size_t kFirst, size_t kCount, class Term>
  HWY_INLINE void MultiplyAddStep(FloatTag d, const ManyRows& rows, size_t step,
                                  const float* HWY_RESTRICT b) {
    FloatVec column[kCount];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kCount; ++j) {
      column[j] = kAlignedB ? hn::Load(d, b + j * kLanes) : hn::LoadU(d, b + j * kLanes);
    }
    HWY_UNROLL(16)
    for (size_t i = 0; i < MR; ++i) {
      const FloatVec broadcast = hn::Set(d, rows.At(i, step));
      HWY_UNROLL(16)
      for (size_t j = 0; j < kCount; ++j) {
        acc[i][kFirst + j] = Term::Add(broadcast, column[j], acc[i][kFirst + j]);
      }
    }
  }
};

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_REGISTER_TILE_INL_H_
