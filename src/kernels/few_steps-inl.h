// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the two products of the `few` variant share (contract in few.h): steps down four streams of
// rows, side by side. All query rows take a step before the next one, so that each line of K and V
// comes from memory once.

#if defined(LANEWISE_SRC_KERNELS_FEW_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_STEPS_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_STEPS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_STEPS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Query rows are taken a register tile after the other. The first ones wait for memory; their loads
// are instructions of their own, as hardware predicts addresses by instruction. The second ones,
// which leave memory idle, fetch a later row of each stream. If there are no more than the first,
// those fetch a little ahead: hardware follows the streams, but waits for the first lines of each
// page.
enum class Rows { kOnly, kFirst, kSecond, kLater };
inline constexpr size_t kBytesAhead = 256;
// A row of half types has half of the lines, so the next one would come too late.
template <class T>
inline constexpr int64_t kRowsAhead = std::is_same_v<T, float> ? 1 : 4;

// Keeps a vector that several FMAs use in a register. Compilers fold its load into each of them,
// and loads, not FMAs, are then what the core has too few of.
HWY_INLINE void KeepInRegister(FloatVec& v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3 && !HWY_COMPILER_MSVC
  __asm__("" : "+v"(v.raw));
#else
  (void)v;
#endif
}

// The first and second half of 2 kLanes elements. Those of bf16 are the even and the odd ones: one
// instruction takes either out of a vector of pairs, where widening in order takes two.
enum class Half { kFirst, kSecond };

template <Half kHalf, class T>
HWY_INLINE FloatVec LoadHalf(FloatTag d, const T* from) {
  if constexpr (kPairs && std::is_same_v<T, core::BF16>) {
    const BitsTag du;
    const BitsVec pairs = hn::LoadU(du, reinterpret_cast<const uint32_t*>(from));
    return hn::BitCast(d, kHalf == Half::kFirst ? hn::ShiftLeft<16>(pairs)
                                                : hn::And(pairs, hn::Set(du, 0xFFFF0000u)));
  } else {
    return LoadElements(d, from + (kHalf == Half::kFirst ? 0 : kLanes));
  }
}

// Compilers inline lambdas late, and until then the vectors that one captures live in memory.
#define LANEWISE_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

// Rows that are taken together, as many as there are streams.
template <class T>
struct Step {
  const T* rows[kFewStreams];
  size_t places[kFewStreams];  // in the chunk
  int64_t next;                // elements to the rows that are taken next

  // To the next row of each stream, where there are as many as rows.
  HWY_INLINE void Advance() {
    HWY_UNROLL(4)
    for (size_t s = 0; s < kFewStreams; ++s) {
      rows[s] += next;
      ++places[s];
    }
  }
};

// Takes the rows of a run as counted across its streams: the first of each, the second of each, ...
// Beyond the last one, that one again.
class RowCursor {
 public:
  RowCursor(const FewRun& run, size_t index)
      : run_(run), stream_(index % run.stream_count), down_(index / run.stream_count) {}

  template <class T>
  HWY_INLINE Step<T> Take() {
    Step<T> step;
    for (size_t i = 0; i < kFewStreams; ++i) {
      step.rows[i] =
          static_cast<const T*>(run_.rows[stream_]) + static_cast<int64_t>(down_) * run_.stride;
      step.places[i] = run_.first[stream_] + down_;
      if (stream_ + 1 < run_.stream_count) {
        ++stream_;
      } else if (down_ + 1 < run_.count) {
        stream_ = 0;
        ++down_;
      }
    }
    step.next = run_.stride * static_cast<int64_t>(kFewStreams / run_.stream_count);
    return step;
  }

 private:
  const FewRun& run_;
  size_t stream_;  // of the next row
  size_t down_;
};

// Calls add(c, rows as vectors) for N rows of `columns` elements, kLanes of them at a time: halves
// at c and c + kLanes, then what is left, in order. Rows that follow lie `next` elements further.
template <Rows kRows, size_t N, class T, class Add>
HWY_INLINE void ForEachVector(FloatTag d, const T* const* rows, int64_t next, size_t columns,
                              const Add& add) {
  FloatVec v[N];
  size_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) {
      v[i] = LoadHalf<Half::kFirst>(d, rows[i] + c);
      if constexpr (kRows == Rows::kOnly) {
        __builtin_prefetch(reinterpret_cast<const char*>(rows[i] + c) + kBytesAhead);
      } else if constexpr (kRows == Rows::kSecond) {
        __builtin_prefetch(rows[i] + c + kRowsAhead<T> * next);
      }
    }
    add(c, v);
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) v[i] = LoadHalf<Half::kSecond>(d, rows[i] + c);
    add(c + kLanes, v);
  }
  for (; c < columns; c += kLanes) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) {
      v[i] = c + kLanes <= columns ? LoadElements(d, rows[i] + c)
                                   : LoadSomeElements(d, rows[i] + c, columns - c);
    }
    add(c, v);
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_STEPS_INL_H_
