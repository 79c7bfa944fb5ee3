// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The two products of the `few` variant (contract in few.h): rows of queries against rows of keys,
// and weights against rows of values. Both walk down four streams of rows side by side, and take
// all query rows before they go on, so that each line of K and V comes from memory once.

#if defined(LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/transpose-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Query rows of a register tile, at most: rows x streams weights, or as many accumulators of
// scores, stay in registers.
inline constexpr size_t kFewRows = kLanes == 16 || HWY_TARGET == HWY_NEON ? 4 : 2;

// Query rows are taken a register tile after the other. The first ones wait for memory; their loads
// are instructions of their own, as hardware predicts addresses by instruction. The second ones,
// which leave memory idle, fetch the next row of each stream. If there are no more than the first,
// those fetch a little ahead: hardware follows the streams, but waits for the first lines of each
// page.
enum class Rows { kOnly, kFirst, kSecond, kLater };
inline constexpr size_t kBytesAhead = 256;

// Calls tile.Take<rows, count>(row) for all query rows, kMost at a time while there are as many,
// then by smaller powers of two.
template <size_t kMost, Rows kRows, class Tile>
HWY_INLINE void TakeRows(const Tile& tile, size_t row, size_t row_count) {
  if constexpr (kRows == Rows::kLater) {
    for (; row + kMost <= row_count; row += kMost) tile.template Take<kRows, kMost>(row);
    if constexpr (kMost > 1) TakeRows<kMost / 2, kRows>(tile, row, row_count);
  } else if (kRows == Rows::kFirst && row_count == kMost) {
    tile.template Take<Rows::kOnly, kMost>(row);
  } else if (row + kMost <= row_count) {
    constexpr Rows kNext = kRows == Rows::kFirst ? Rows::kSecond : Rows::kLater;
    tile.template Take<kRows, kMost>(row);
    TakeRows<kMost, kNext>(tile, row + kMost, row_count);
  } else if constexpr (kMost > 1) {
    TakeRows<kMost / 2, kRows>(tile, row, row_count);
  }
}

// Keeps a vector that several FMAs use in a register. Compilers fold its load into each of them,
// and loads, not FMAs, are then what the core has too few of.
HWY_INLINE void KeepInRegister(FloatVec& v) {
#if HWY_ARCH_X86 && !HWY_COMPILER_MSVC
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
  int64_t stride;              // elements to the next row of each stream

  // Rows index, index + 1, ... of a run, counted across its streams: the first of each, the second
  // of each, ... Beyond the last one, that one again.
  Step(const FewRun& run, size_t index) : stride(run.stride) {
    const size_t last = run.stream_count * run.count - 1;
    for (size_t i = 0; i < kFewStreams; ++i) {
      const size_t row = HWY_MIN(index + i, last);
      const size_t stream = row % run.stream_count;
      const size_t down = row / run.stream_count;
      rows[i] = static_cast<const T*>(run.rows[stream]) + static_cast<int64_t>(down) * stride;
      places[i] = run.first[stream] + down;
    }
  }

  // To the next row of each stream, where there are as many as rows.
  HWY_INLINE void Advance() {
    HWY_UNROLL(4)
    for (size_t s = 0; s < kFewStreams; ++s) {
      rows[s] += stride;
      ++places[s];
    }
  }
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
        __builtin_prefetch(rows[i] + c + next);
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

// Keys that are scored before their scores are stored.
inline constexpr size_t kScoredKeys = kFewScoredSteps * kFewStreams;

// Stores the first kParts parts of kFewStreams lanes, each to its own row.
template <size_t kParts, class D>
HWY_INLINE void StoreParts(D d, hn::Vec<D> v, float* to, [[maybe_unused]] size_t stride) {
  constexpr size_t kHalf = hn::MaxLanes(D()) / 2 / kFewStreams;
  if constexpr (kHalf == 0) {
    hn::StoreU(v, d, to);
  }
#if HWY_TARGET != HWY_SCALAR
  else {
    const hn::Half<D> dh;
    StoreParts<HWY_MIN(kParts, kHalf)>(dh, hn::LowerHalf(dh, v), to, stride);
    if constexpr (kParts > kHalf) {
      StoreParts<kParts - kHalf>(dh, hn::UpperHalf(dh, v), to + kHalf * stride, stride);
    }
  }
#endif
}

// to[r * stride + i] = the sum over the lanes of acc[r][i].
template <size_t R>
HWY_INLINE void StoreSums(FloatTag d, const FloatVec (&acc)[R][kFewStreams], float* to,
                          [[maybe_unused]] size_t stride) {
  if constexpr (kLanes < kFewStreams) {
    for (size_t i = 0; i < kFewStreams; ++i) to[i] = LaneSum(d, acc[0][i]);
  } else {
    FloatVec sums[kLanes];
    HWY_UNROLL(16)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] =
          lane < R * kFewStreams ? acc[lane / kFewStreams % R][lane % kFewStreams] : hn::Zero(d);
    }
    StoreParts<R>(d, SumsOfLanes(d, sums), to, stride);
  }
}

// Scores of query rows against a step of keys.
template <class T>
struct ScoreTiles {
  const FewScoreArgs& args;
  const Step<T>& keys;
  float* sums;  // [rows, kScoredKeys], at the step's keys

  template <Rows kRows, size_t R>
  HWY_INLINE void Take(size_t row) const {
    const FloatTag d;
    const float* HWY_RESTRICT queries = args.queries + row * args.query_stride;
    const size_t query_stride = args.query_stride;
    FloatVec acc[R][kFewStreams];
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (size_t i = 0; i < kFewStreams; ++i) acc[r][i] = hn::Zero(d);
    }
    const auto add = [&](size_t c, FloatVec(&k)[kFewStreams]) LANEWISE_INLINE_LAMBDA {
      if constexpr (R > 1) {
        HWY_UNROLL(4)
        for (size_t i = 0; i < kFewStreams; ++i) KeepInRegister(k[i]);
      }
      HWY_UNROLL(4)
      for (size_t r = 0; r < R; ++r) {
        const FloatVec q = hn::Load(d, queries + r * query_stride + c);
        HWY_UNROLL(4)
        for (size_t i = 0; i < kFewStreams; ++i) acc[r][i] = hn::MulAdd(q, k[i], acc[r][i]);
      }
    };
    ForEachVector<kRows, kFewStreams>(d, keys.rows, keys.stride, args.dim, add);
    StoreSums<R>(d, acc, sums + row * kScoredKeys, kScoredKeys);
  }
};

template <class T>
HWY_INLINE void ScoreStep(const FewScoreArgs& args, const Step<T>& keys, float* sums) {
  constexpr size_t kMost = HWY_MIN(kFewRows, HWY_MAX(kLanes / kFewStreams, 1));
  TakeRows<kMost, Rows::kFirst>(ScoreTiles<T>{args, keys, sums}, 0, args.row_count);
}

// to[first[s] + i] = sums[i][s]: keys of a stream, scored in steps, come to lie side by side.
HWY_INLINE void StoreByStream(const float* HWY_RESTRICT sums, const size_t* first,
                              float* HWY_RESTRICT to) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 0; k < kScoredKeys; ++k) to[first[k % kFewStreams] + k / kFewStreams] = sums[k];
#else
  const hn::CappedTag<float, kFewStreams> d4;
  hn::Vec<decltype(d4)> m[kFewScoredSteps];
  HWY_UNROLL(4)
  for (size_t i = 0; i < kFewScoredSteps; ++i) m[i] = hn::Load(d4, sums + i * kFewStreams);
  TransposeBlocks(d4, m);
  HWY_UNROLL(4)
  for (size_t s = 0; s < kFewStreams; ++s) hn::StoreU(m[s], d4, to + first[s]);
#endif
}

template <class T>
void FewScore(const FewScoreArgs& args) {
  HWY_ALIGN float sums[kMaxFewRows * kScoredKeys];  // [rows, steps, streams]
  const FewRun& run = args.keys;
  const size_t key_count = run.stream_count * run.count;
  size_t key = 0;
  if (run.stream_count == kFewStreams) {
    for (Step<T> keys(run, 0); key + kScoredKeys <= key_count; key += kScoredKeys) {
      HWY_UNROLL(1)
      for (size_t i = 0; i < kFewScoredSteps; ++i) {
        ScoreStep(args, keys, sums + i * kFewStreams);
        keys.Advance();
      }
      for (size_t r = 0; r < args.row_count; ++r) {
        StoreByStream(sums + r * kScoredKeys, run.first,
                      args.scores + r * args.score_stride + key / kFewStreams);
      }
    }
  }
  for (; key < key_count; key += kFewStreams) {
    const Step<T> keys(run, key);
    ScoreStep(args, keys, sums);
    const size_t count = HWY_MIN(key_count - key, kFewStreams);
    for (size_t r = 0; r < args.row_count; ++r) {
      for (size_t i = 0; i < count; ++i) {
        args.scores[r * args.score_stride + keys.places[i]] = sums[r * kScoredKeys + i];
      }
    }
  }
}

// output += weights · values of R query rows and S rows of values. The output lies in the
// first-level cache; an accumulator in a register would have to wait for all keys, while the
// columns wait for memory.
template <Rows kRows, size_t R, size_t S, class T>
HWY_INLINE void ValueTile(FloatTag d, const FewValueArgs& args, const Step<T>& values, size_t row) {
  FloatVec weights[R][S];
  float* HWY_RESTRICT output[R];
  HWY_UNROLL(4)
  for (size_t r = 0; r < R; ++r) {
    output[r] = args.rows[row + r].output;
    HWY_UNROLL(4)
    for (size_t s = 0; s < S; ++s) {
      weights[r][s] = hn::Set(d, args.rows[row + r].scores[values.places[s]]);
    }
  }
  const auto add = [&](size_t c, FloatVec(&v)[S]) LANEWISE_INLINE_LAMBDA {
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      FloatVec acc = hn::Load(d, output[r] + c);
      HWY_UNROLL(4)
      for (size_t s = 0; s < S; ++s) acc = hn::MulAdd(weights[r][s], v[s], acc);
      hn::Store(acc, d, output[r] + c);
    }
  };
  ForEachVector<kRows, S>(d, values.rows, values.stride, args.value_dim, add);
}

// The first S rows of a step of values, for all query rows.
template <size_t S, class T>
struct ValueTiles {
  const FewValueArgs& args;
  const Step<T>& values;

  template <Rows kRows, size_t R>
  HWY_INLINE void Take(size_t row) const {
    ValueTile<kRows, R, S>(FloatTag(), args, values, row);
  }
};

template <size_t S, class T>
HWY_INLINE void AddValues(const FewValueArgs& args, const Step<T>& values) {
  TakeRows<kFewRows, Rows::kFirst>(ValueTiles<S, T>{args, values}, 0, args.row_count);
}

// One row of values, and only the query rows that see it.
template <class T>
HWY_NOINLINE void AddSeenValue(const FewValueArgs& args, const Step<T>& values) {
  for (size_t r = 0; r < args.row_count; ++r) {
    if (!Sees(args.rows[r].edits, values.places[0])) continue;
    ValueTile<Rows::kLater, 1, 1>(FloatTag(), args, values, r);
  }
}

template <class T>
void FewValue(const FewValueArgs& args) {
  const FewRun& run = args.values;
  const size_t key_count = run.stream_count * run.count;
  size_t key = 0;
  if (!args.select && run.stream_count == kFewStreams) {
    for (Step<T> values(run, 0); key < key_count; key += kFewStreams) {
      AddValues<kFewStreams>(args, values);
      values.Advance();
    }
  } else if (!args.select) {
    for (; key + kFewStreams <= key_count; key += kFewStreams) {
      AddValues<kFewStreams>(args, Step<T>(run, key));
    }
  }
  for (; key < key_count; ++key) {
    const Step<T> values(run, key);
    if (args.select) {
      AddSeenValue(args, values);
    } else {
      AddValues<1>(args, values);
    }
  }
}

#undef LANEWISE_INLINE_LAMBDA

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_
