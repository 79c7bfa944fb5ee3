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

// The query rows that come first wait for memory; their loads are instructions of their own, as
// hardware predicts addresses by instruction. Later ones find the rows in the first-level cache.
enum class Rows { kFirst, kSecond, kLater };

// How far ahead lines are fetched, if at all: hardware follows the streams, but waits for the first
// lines of each page. The second rows, which leave memory idle, fetch for the next rows of the
// streams.
template <Rows kRows>
inline constexpr size_t kBytesAhead = kRows == Rows::kFirst    ? 256
                                      : kRows == Rows::kSecond ? 768
                                                               : 0;

// Calls tile.Take<rows, count>(row) for all query rows, kMost at a time while there are as many,
// then by smaller powers of two.
template <size_t kMost, Rows kRows, class Tile>
HWY_INLINE void TakeRows(const Tile& tile, size_t row, size_t row_count) {
  if constexpr (kRows == Rows::kLater) {
    for (; row + kMost <= row_count; row += kMost) tile.template Take<kRows, kMost>(row);
    if constexpr (kMost > 1) TakeRows<kMost / 2, kRows>(tile, row, row_count);
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

// Calls add(c, rows as vectors) for N rows of `columns` elements, kLanes of them at a time: halves
// at c and c + kLanes, then what is left, in order.
template <Rows kRows, size_t N, class T, class Add>
HWY_INLINE void ForEachVector(FloatTag d, const T* const* rows, size_t columns, const Add& add) {
  FloatVec v[N];
  size_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) {
      v[i] = LoadHalf<Half::kFirst>(d, rows[i] + c);
      if constexpr (kBytesAhead<kRows> != 0) {
        __builtin_prefetch(reinterpret_cast<const char*>(rows[i] + c) + kBytesAhead<kRows>);
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

// acc[r][i] += queries[row + r] · keys[i] in each lane, for R query rows and N keys.
template <Rows kRows, size_t R, size_t N, class T>
HWY_INLINE void MultiplyKeys(FloatTag d, const FewScoreArgs& args, size_t row, const T* const* keys,
                             FloatVec (&acc)[R][N]) {
  const float* HWY_RESTRICT queries = args.queries + row * args.query_stride;
  const size_t query_stride = args.query_stride;
  ForEachVector<kRows, N>(d, keys, args.dim, [&](size_t c, FloatVec(&k)[N]) LANEWISE_INLINE_LAMBDA {
    if constexpr (R > 1) {
      HWY_UNROLL(16)
      for (size_t i = 0; i < N; ++i) KeepInRegister(k[i]);
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      const FloatVec q = hn::Load(d, queries + r * query_stride + c);
      HWY_UNROLL(16)
      for (size_t i = 0; i < N; ++i) acc[r][i] = hn::MulAdd(q, k[i], acc[r][i]);
    }
  });
}

// Scores of R query rows from `row` on against kLanes / R keys: as many products as there are
// lanes. Lane r * keys + i of the result is that of row r and key i. Keys are taken one of each
// stream at a time.
template <Rows kRows, size_t R, class T>
HWY_INLINE FloatVec ScoreTile(FloatTag d, const FewScoreArgs& args, size_t row,
                              const T* const* keys) {
  constexpr size_t kKeys = kLanes / R;
  constexpr size_t kTogether = HWY_MIN(kKeys, kFewStreams);
  FloatVec sums[kLanes];  // [R, kKeys]
  HWY_UNROLL(4)
  for (size_t first = 0; first < kKeys; first += kTogether) {
    FloatVec acc[R][kTogether];
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (size_t i = 0; i < kTogether; ++i) acc[r][i] = hn::Zero(d);
    }
    MultiplyKeys<kRows, R, kTogether>(d, args, row, keys + first, acc);
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (size_t i = 0; i < kTogether; ++i) sums[r * kKeys + first + i] = acc[r][i];
    }
  }
  return SumsOfLanes(d, sums);
}

// Walks over the rows of a run: the first of each stream, the second of each stream, ...
template <class T>
class RunCursor {
 public:
  explicit RunCursor(const FewRun& run)
      : stream_count_(run.stream_count), stride_(run.stride), left_(run.count * run.stream_count) {
    for (size_t s = 0; s < stream_count_; ++s) {
      rows_[s] = static_cast<const T*>(run.rows[s]);
      places_[s] = run.first[s];
    }
  }

  size_t left() const { return left_; }
  bool has_all_streams() const { return stream_count_ == kFewStreams; }

  // The next row and its place in the chunk.
  HWY_INLINE void Next(const T*& row, size_t& place) {
    NextOf(stream_, row, place);
    stream_ = stream_ + 1 == stream_count_ ? 0 : stream_ + 1;
  }

  // The same where `stream` is known to be the next one.
  HWY_INLINE void NextOf(size_t stream, const T*& row, size_t& place) {
    row = rows_[stream];
    place = places_[stream];
    rows_[stream] += stride_;
    ++places_[stream];
    --left_;
  }

 private:
  const size_t stream_count_;
  const int64_t stride_;
  size_t left_;
  size_t stream_ = 0;
  const T* rows_[kFewStreams];  // the next one of each stream
  size_t places_[kFewStreams];
};

// The next N rows of a run, the last one repeated beyond its end.
template <size_t N, class T>
struct NextRows {
  const T* rows[N];
  size_t places[N];
  size_t count;
  bool in_step;  // N / kFewStreams rows of each of all streams

  HWY_INLINE explicit NextRows(RunCursor<T>& cursor)
      : count(HWY_MIN(N, cursor.left())), in_step(count == N && cursor.has_all_streams()) {
    static_assert(N % kFewStreams == 0);
    if (in_step) {
      HWY_UNROLL(16)
      for (size_t i = 0; i < N; ++i) cursor.NextOf(i % kFewStreams, rows[i], places[i]);
      return;
    }
    for (size_t i = 0; i < count; ++i) cursor.Next(rows[i], places[i]);
    for (size_t i = count; i < N; ++i) {
      rows[i] = rows[count - 1];
      places[i] = places[count - 1];
    }
  }
};

// Keys whose scores are computed and stored together: four of each stream.
inline constexpr size_t kScoredKeys = 4 * kFewStreams;

// Stores each kCount lanes of v to its own row.
template <size_t kCount, class D>
HWY_INLINE void StoreParts(D d, hn::Vec<D> v, float* to, [[maybe_unused]] size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= kCount) {
    hn::StoreU(v, d, to);
  }
#if HWY_TARGET != HWY_SCALAR
  else {
    const hn::Half<D> dh;
    StoreParts<kCount>(dh, hn::LowerHalf(dh, v), to, stride);
    StoreParts<kCount>(dh, hn::UpperHalf(dh, v), to + hn::MaxLanes(D()) / 2 / kCount * stride,
                       stride);
  }
#endif
}

template <class T>
struct ScoreTiles {
  const FewScoreArgs& args;
  const NextRows<kScoredKeys, T>& keys;

  template <Rows kRows, size_t R>
  HWY_INLINE void Take(size_t row) const {
    constexpr size_t kKeys = kLanes / R;
    const FloatTag d;
    float* HWY_RESTRICT scores = args.scores + row * args.score_stride;
    if constexpr (kKeys == kFewStreams) {
      if (HWY_LIKELY(keys.in_step)) {
        // A tile has the scores of one key of each stream, row by row; four of them, transposed,
        // have those of four neighbours.
        FloatVec m[kColumns];
        HWY_UNROLL(1)
        for (size_t i = 0; i < kColumns; ++i) {
          m[i] = ScoreTile<kRows, R>(d, args, row, keys.rows + i * kFewStreams);
        }
        TransposeBlocks(d, m);
        HWY_UNROLL(4)
        for (size_t s = 0; s < kFewStreams; ++s) {
          StoreParts<4>(d, m[s], scores + keys.places[s], args.score_stride);
        }
        return;
      }
    }
    for (size_t first = 0; first < keys.count; first += kKeys) {
      HWY_ALIGN float products[kLanes];  // [R, kKeys]
      hn::Store(ScoreTile<kRows, R>(d, args, row, keys.rows + first), d, products);
      for (size_t r = 0; r < R; ++r) {
        HWY_UNROLL(1)  // or gcc takes the vector apart with a shuffle for each lane
        for (size_t i = 0; i < kKeys; ++i) {
          scores[r * args.score_stride + keys.places[first + i]] = products[r * kKeys + i];
        }
      }
    }
  }
};

template <class T>
void FewScore(const FewScoreArgs& args) {
  constexpr size_t kMost = HWY_MIN(kFewRows, HWY_MAX(kLanes / kFewStreams, 1));
  RunCursor<T> cursor(args.keys);
  while (cursor.left() > 0) {
    const NextRows<kScoredKeys, T> keys(cursor);
    TakeRows<kMost, Rows::kFirst>(ScoreTiles<T>{args, keys}, 0, args.row_count);
  }
}

// output += weights · values of R query rows and S rows of values. The output lies in the
// first-level cache; an accumulator in a register would have to wait for all keys, while the
// columns wait for memory.
template <Rows kRows, size_t R, size_t S, class T>
HWY_INLINE void ValueTile(FloatTag d, const FewValueArgs& args, size_t row, const T* const* values,
                          const size_t* places) {
  FloatVec weights[R][S];
  float* HWY_RESTRICT output[R];
  HWY_UNROLL(4)
  for (size_t r = 0; r < R; ++r) {
    output[r] = args.rows[row + r].output;
    HWY_UNROLL(4)
    for (size_t s = 0; s < S; ++s) {
      weights[r][s] = hn::Set(d, args.rows[row + r].scores[places[s]]);
    }
  }
  ForEachVector<kRows, S>(d, values, args.value_dim,
                          [&](size_t c, FloatVec(&v)[S]) LANEWISE_INLINE_LAMBDA {
                            HWY_UNROLL(4)
                            for (size_t r = 0; r < R; ++r) {
                              FloatVec acc = hn::Load(d, output[r] + c);
                              HWY_UNROLL(4)
                              for (size_t s = 0; s < S; ++s)
                                acc = hn::MulAdd(weights[r][s], v[s], acc);
                              hn::Store(acc, d, output[r] + c);
                            }
                          });
}

// S rows of values, for all query rows.
template <size_t S, class T>
struct ValueTiles {
  const FewValueArgs& args;
  const T* const* values;
  const size_t* places;

  template <Rows kRows, size_t R>
  HWY_INLINE void Take(size_t row) const {
    ValueTile<kRows, R, S>(FloatTag(), args, row, values, places);
  }
};

template <size_t S, class T>
HWY_INLINE void AddValues(const FewValueArgs& args, const T* const* values, const size_t* places) {
  TakeRows<kFewRows, Rows::kFirst>(ValueTiles<S, T>{args, values, places}, 0, args.row_count);
}

// One query row and one key at a time, only what is seen.
template <class T>
HWY_NOINLINE void AddSeenValue(const FewValueArgs& args, const T* values, size_t place) {
  for (size_t r = 0; r < args.row_count; ++r) {
    if (!Sees(args.rows[r].edits, place)) continue;
    ValueTile<Rows::kLater, 1, 1>(FloatTag(), args, r, &values, &place);
  }
}

template <class T>
void FewValue(const FewValueArgs& args) {
  RunCursor<T> cursor(args.values);
  while (cursor.left() > 0) {
    const NextRows<kFewStreams, T> next(cursor);
    if (HWY_LIKELY(!args.select && next.count == kFewStreams)) {
      AddValues<kFewStreams>(args, next.rows, next.places);
      continue;
    }
    for (size_t i = 0; i < next.count; ++i) {
      if (args.select) {
        AddSeenValue(args, next.rows[i], next.places[i]);
      } else {
        AddValues<1>(args, next.rows + i, next.places + i);
      }
    }
  }
}

#undef LANEWISE_INLINE_LAMBDA

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_PRODUCTS_INL_H_
