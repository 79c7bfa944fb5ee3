// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The scores of the `few` variant (contract in few.h): rows of queries against rows of keys.

#if defined(LANEWISE_SRC_KERNELS_FEW_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_SCORE_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_SCORE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_SCORE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/few_score_alone-inl.h"
#include "src/kernels/few_steps-inl.h"
#include "src/kernels/few_widening-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/transpose-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Keys that are scored before their scores are stored.
inline constexpr size_t kScoredKeys = kFewScoredSteps * kFewStreams;
// Query rows whose sums against a step of keys fill a vector, and the vectors that they lie in.
inline constexpr size_t kSumRows = kLanes < kFewStreams ? 1 : kLanes / kFewStreams;
inline constexpr size_t kSumVectors = kSumRows / kBlockRows;
inline constexpr size_t kStepSums = kSumRows * kFewStreams;

// Vectors of queries that are taken together, at most: vectors x keys accumulators stay in
// registers, beside a vector of queries each and one of a key.
inline constexpr size_t kFewVectors = kLanes == 16 || HWY_TARGET == HWY_NEON ? 4 : 3;
// The same if two steps of keys are taken together.
inline constexpr size_t kPairedVectors = kFewVectors / 2;
static_assert((kBlockRows > 1) == (HWY_TARGET == HWY_AVX3));

#if HWY_TARGET == HWY_AVX3
// Calls add(c, vectors) for N rows of `columns` elements, kBlockDims of them at a time, once for
// each row of queries that shares a vector. What is left at the end is filled up with 0.
template <Rows kRows, size_t N, class Wide, class Add>
HWY_INLINE void ForEachBlock(FloatTag d, const float* const* rows, int64_t next, size_t columns,
                             const Wide& wide, const Add& add) {
  FloatVec v[N];
  size_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    wide.Take(c);
    HWY_UNROLL(2)
    for (size_t line = 0; line < 2 * kLanes; line += kLanes) {
      HWY_UNROLL(2)
      for (size_t b = line; b < line + kLanes; b += kBlockDims) {
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i) {
          v[i] = FloatVec{_mm512_broadcast_f32x8(_mm256_loadu_ps(rows[i] + c + b))};
          if (b > 0) continue;
          if constexpr (kRows == Rows::kOnly) {
            __builtin_prefetch(reinterpret_cast<const char*>(rows[i] + c + b) + kBytesAhead);
          } else if constexpr (kRows == Rows::kSecond) {
            __builtin_prefetch(rows[i] + c + b + next);
          }
        }
        add(c + b, v);
      }
    }
  }
  wide.TakeRest(c, columns);
  for (; c < columns; c += kBlockDims) {
    const auto some = static_cast<__mmask8>((1u << HWY_MIN(columns - c, kBlockDims)) - 1);
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i) {
      v[i] = FloatVec{_mm512_broadcast_f32x8(_mm256_maskz_loadu_ps(some, rows[i] + c))};
    }
    add(c, v);
  }
}
#endif

// Sums of kSumRows rows against kFewStreams keys, from those rows' accumulators.
HWY_INLINE FloatVec SumsOfRows(FloatTag d, const FloatVec* a, const FloatVec* b) {
#if HWY_TARGET == HWY_SCALAR
  (void)a, (void)b;
  return hn::Zero(d);
#else
  const FloatVec x = MergeFour(d, a);
  if constexpr (kLanes == 4) return x;
  const FloatVec y = a == b ? x : MergeFour(d, b);
#if HWY_TARGET == HWY_AVX3
  // [row 0, row 2, row 1, row 3]
  const FloatVec straight = hn::OddEvenBlocks(y, x);
  const FloatVec crossed = hn::SwapAdjacentBlocks(hn::OddEvenBlocks(x, y));
  return hn::Add(straight, crossed);
#else
  return hn::Add(hn::ConcatLowerLower(d, y, x), hn::ConcatUpperUpper(d, y, x));
#endif
#endif
}

// Scores of V vectors of queries against S steps of keys.
template <Rows kRows, size_t V, size_t S, class T, class Wide>
HWY_INLINE void ScoreTile(const FewScoreArgs& args, const T* const* rows, int64_t next,
                          const Wide& wide, size_t vector, float* sums) {
  constexpr size_t kKeys = S * kFewStreams;
  const FloatTag d;
  const size_t query_stride = args.query_stride * kBlockRows;
  const float* HWY_RESTRICT queries = args.queries + vector * query_stride;
  FloatVec acc[V][kKeys];
  HWY_UNROLL(4)
  for (size_t v = 0; v < V; ++v) {
    HWY_UNROLL(8)
    for (size_t i = 0; i < kKeys; ++i) acc[v][i] = hn::Zero(d);
  }
  const auto add = [&](size_t c, FloatVec(&k)[kKeys]) LANEWISE_INLINE_LAMBDA {
    if constexpr (V > 1) {
      HWY_UNROLL(8)
      for (size_t i = 0; i < kKeys; ++i) KeepInRegister(k[i]);
    }
    HWY_UNROLL(4)
    for (size_t v = 0; v < V; ++v) {
      const FloatVec q = hn::Load(d, queries + v * query_stride + c * kBlockRows);
      HWY_UNROLL(8)
      for (size_t i = 0; i < kKeys; ++i) acc[v][i] = hn::MulAdd(q, k[i], acc[v][i]);
    }
  };
#if HWY_TARGET == HWY_AVX3
  ForEachBlock<kRows, kKeys>(d, rows, next, args.dim, wide, add);
#else
  (void)wide;
  ForEachVector<kRows, kKeys>(d, rows, next, args.dim, add);
#endif
#if HWY_TARGET == HWY_SCALAR
  for (size_t s = 0; s < S; ++s) {
    for (size_t v = 0; v < V; ++v) {
      for (size_t i = 0; i < kFewStreams; ++i) {
        hn::Store(acc[v][s * kFewStreams + i], d,
                  sums + ((vector + v) * kFewScoredSteps + s) * kStepSums + i);
      }
    }
  }
#else
  HWY_UNROLL(2)
  for (size_t s = 0; s < S; ++s) {
    HWY_UNROLL(4)
    for (size_t v = 0; v < V; v += kSumVectors) {
      const FloatVec* const a = acc[v] + s * kFewStreams;
      const FloatVec* const b = v + 1 < V ? acc[v + 1] + s * kFewStreams : a;
      hn::Store(SumsOfRows(d, a, b), d,
                sums + ((vector + v) / kSumVectors * kFewScoredSteps + s) * kStepSums);
    }
  }
#endif
}

// How many vectors of queries are taken next. A vector alone after others would wait for its own
// sums.
HWY_INLINE size_t VectorsToTake(size_t left) {
  if (left <= kFewVectors) return left;
  return left == kFewVectors + 1 ? 2 : kFewVectors / 2 * 2;
}

// Vectors of queries that are taken together.
struct VectorRange {
  size_t first;
  size_t count;
};

// Scores of `vectors` against S steps of keys.
template <Rows kRows, size_t S, class T, class Wide>
HWY_INLINE void ScoreVectors(const FewScoreArgs& args, const T* const* rows, int64_t next,
                             const Wide& wide, const VectorRange& vectors, float* sums) {
  if constexpr (S == 2) {
    if (kPairedVectors == 1 || vectors.count == 1) {
      ScoreTile<kRows, 1, S>(args, rows, next, wide, vectors.first, sums);
    } else {
      ScoreTile<kRows, kPairedVectors, S>(args, rows, next, wide, vectors.first, sums);
    }
  } else {
    switch (vectors.count) {
      case 1:
        return ScoreTile<kRows, 1, S>(args, rows, next, wide, vectors.first, sums);
      case 2:
        return ScoreTile<kRows, 2, S>(args, rows, next, wide, vectors.first, sums);
      case 3:
        return ScoreTile<kRows, 3, S>(args, rows, next, wide, vectors.first, sums);
      default:
        return ScoreTile<kRows, kFewVectors, S>(args, rows, next, wide, vectors.first, sums);
    }
  }
}

// Scores of all query rows against S steps of keys.
template <bool kFetches, size_t S, class T, class Wide>
HWY_INLINE void ScoreRows(const FewScoreArgs& args, const T* const* rows, int64_t next,
                          const Wide& wide, size_t vector_count, float* sums) {
  if (vector_count <= kFewVectors) {
    constexpr Rows kRows = kFetches ? Rows::kOnly : Rows::kLater;
    ScoreVectors<kRows, S>(args, rows, next, wide, {0, vector_count}, sums);
    return;
  }
  if constexpr (S == 1) {
    size_t vector = VectorsToTake(vector_count);
    ScoreVectors<kFetches ? Rows::kFirst : Rows::kLater, S>(args, rows, next, wide, {0, vector},
                                                            sums);
    if constexpr (kFetches) {
      const size_t count = VectorsToTake(vector_count - vector);
      ScoreVectors<Rows::kSecond, S>(args, rows, next, NoWidening(), {vector, count}, sums);
      vector += count;
    }
    while (vector < vector_count) {
      const size_t count = VectorsToTake(vector_count - vector);
      ScoreVectors<Rows::kLater, S>(args, rows, next, NoWidening(), {vector, count}, sums);
      vector += count;
    }
  }
}

// Whether keys that are not floats are widened before they are taken: where rows share a vector.
template <class T>
inline constexpr bool kWidensAhead = kBlockRows > 1 && !std::is_same_v<T, float>;

// The rows of S steps, and of the S steps after them.
template <class T, size_t S>
struct StepRows {
  static constexpr size_t kCount = S * kFewStreams;
  const T* rows[kCount];

  explicit StepRows(const Step<T>& keys) {
    HWY_UNROLL(8)
    for (size_t i = 0; i < kCount; ++i) {
      rows[i] = keys.rows[i % kFewStreams] + static_cast<int64_t>(i / kFewStreams) * keys.next;
    }
  }
};

// Steps of a run that are scored together, and what follows them.
struct Turn {
  size_t index;
  bool last;
  int64_t next;  // elements to the rows of the next turn; 0 if there is none, or rows repeat
};

// Scores of all query rows against S steps of keys.
template <size_t S, class T>
HWY_INLINE void ScoreSteps(const FewScoreArgs& args, const Step<T>& keys, const Turn& turn,
                           size_t vector_count, float* sums) {
  const StepRows<T, S> step(keys);
#if HWY_TARGET == HWY_AVX3
  if (S == 2 && args.row_count == 1) {
    ScoreTwoSteps(args, step.rows, keys.next, sums, kStepSums);
    return;
  }
#endif
  if constexpr (kWidensAhead<T>) {
    constexpr size_t kCount = StepRows<T, S>::kCount;
    float* const stage = args.stage + turn.index % 2 * 2 * kFewStreams * args.query_stride;
    float* const other = args.stage + (turn.index + 1) % 2 * 2 * kFewStreams * args.query_stride;
    if (turn.index == 0) {
      Widening<T, kCount> now;
      for (size_t i = 0; i < kCount; ++i) now.rows[i] = step.rows[i];
      now.to = stage;
      now.stride = args.query_stride;
      size_t c = 0;
      for (; c + 2 * kLanes <= args.dim; c += 2 * kLanes) now.Take(c);
      now.TakeRest(c, args.dim);
    }
    const float* staged[kCount];
    for (size_t i = 0; i < kCount; ++i) staged[i] = stage + i * args.query_stride;
    if (!turn.last) {
      Widening<T, kCount> ahead;
      for (size_t i = 0; i < kCount; ++i) ahead.rows[i] = step.rows[i] + turn.next;
      ahead.to = other;
      ahead.stride = args.query_stride;
      ScoreRows<false, S>(args, staged, 0, ahead, vector_count, sums);
    } else {
      ScoreRows<false, S>(args, staged, 0, NoWidening(), vector_count, sums);
    }
  } else {
    ScoreRows<true, S>(args, step.rows, turn.next, NoWidening(), vector_count, sums);
  }
}

// Stores the parts of kFewStreams lanes, each to its own row.
template <class D>
HWY_INLINE void StoreParts(D d, hn::Vec<D> v, float* to, [[maybe_unused]] size_t stride) {
  constexpr size_t kHalf = hn::MaxLanes(D()) / 2 / kFewStreams;
  if constexpr (kHalf == 0) {
    hn::StoreU(v, d, to);
  }
#if HWY_TARGET != HWY_SCALAR
  else {
    const hn::Half<D> dh;
    // Halves of four parts hold the even rows and the odd ones.
    StoreParts(dh, hn::LowerHalf(dh, v), to, stride * kHalf);
    StoreParts(dh, hn::UpperHalf(dh, v), to + stride, stride * kHalf);
  }
#endif
}

// Keys of a stream, scored in steps, come to lie side by side in kSumRows rows.
HWY_INLINE void StoreByStream(const float* HWY_RESTRICT sums, const size_t* first,
                              float* HWY_RESTRICT to, [[maybe_unused]] size_t stride) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 0; k < kScoredKeys; ++k) to[first[k % kFewStreams] + k / kFewStreams] = sums[k];
#else
  const FloatTag d;
  FloatVec m[kFewScoredSteps];
  HWY_UNROLL(4)
  for (size_t i = 0; i < kFewScoredSteps; ++i) m[i] = hn::Load(d, sums + i * kStepSums);
  TransposeBlocks(d, m);
  HWY_UNROLL(4)
  for (size_t s = 0; s < kFewStreams; ++s) StoreParts(d, m[s], to + first[s], stride);
#endif
}

// Scores of the keys of four streams, as many as are stored together at a time. Returns their
// number.
template <size_t S, class T>
HWY_INLINE size_t ScoreStreams(const FewScoreArgs& args, size_t vector_count, float* sums) {
  const FewRun& run = args.keys;
  const size_t steps = run.count / kFewScoredSteps * kFewScoredSteps;
  Step<T> keys = RowCursor(run, 0).Take<T>();
  size_t step = 0;
  for (size_t down = 0; down < steps; down += kFewScoredSteps) {
    HWY_UNROLL(1)
    for (size_t i = 0; i < kFewScoredSteps; i += S, step += S) {
      const bool last = step + S >= steps;
      const Turn turn = {step / S, last, last ? 0 : static_cast<int64_t>(S) * keys.next};
      ScoreSteps<S>(args, keys, turn, vector_count, sums + i * kStepSums);
      for (size_t s = 0; s < S; ++s) keys.Advance();
    }
    for (size_t r = 0; r < args.row_count; r += kSumRows) {
      StoreByStream(sums + r / kSumRows * kFewScoredSteps * kStepSums, run.first,
                    args.scores + r * args.score_stride + down, args.score_stride);
    }
  }
  return steps * kFewStreams;
}

template <class T>
void FewScore(const FewScoreArgs& args) {
  constexpr size_t kSums = (kMaxFewRows + kSumRows - 1) / kSumRows * kFewScoredSteps * kStepSums;
  HWY_ALIGN float sums[kSums];  // [kSumRows rows, steps, those rows, streams]
  const FewRun& run = args.keys;
  const size_t key_count = run.stream_count * run.count;
  const size_t vector_count = (args.row_count + kBlockRows - 1) / kBlockRows;
  size_t key = 0;
  if (run.stream_count == kFewStreams) {
    key = vector_count <= kPairedVectors ? ScoreStreams<2, T>(args, vector_count, sums)
                                         : ScoreStreams<1, T>(args, vector_count, sums);
  }
  if (key == key_count) return;
  for (RowCursor rows(run, key); key < key_count; key += kFewStreams) {
    const Step<T> keys = rows.Take<T>();
    ScoreSteps<1>(args, keys, {0, true, 0}, vector_count, sums);
    const size_t count = HWY_MIN(key_count - key, kFewStreams);
    for (size_t r = 0; r < args.row_count; ++r) {
      // The parts of four rows: 0, 2, 1, 3.
      const size_t in = r % kSumRows;
      const size_t part = kBlockRows > 1 ? in % 2 * 2 + in / 2 : in;
      const float* const from =
          sums + r / kSumRows * kFewScoredSteps * kStepSums + part * kFewStreams;
      for (size_t i = 0; i < count; ++i) {
        args.scores[r * args.score_stride + keys.places[i]] = from[i];
      }
    }
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_SCORE_INL_H_
