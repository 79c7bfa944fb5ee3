// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The outputs of the `few` variant (contract in few.h): weights against rows of values.

#if defined(LANEWISE_SRC_KERNELS_FEW_VALUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_FEW_VALUE_INL_H_
#undef LANEWISE_SRC_KERNELS_FEW_VALUE_INL_H_
#else
#define LANEWISE_SRC_KERNELS_FEW_VALUE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/few.h"
#include "src/kernels/few_edit-inl.h"
#include "src/kernels/few_steps-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Query rows of a register tile, at most: rows x streams weights, or as many accumulators of
// scores, stay in registers.
inline constexpr size_t kFewRows = kLanes == 16 || HWY_TARGET == HWY_NEON ? 4 : 2;

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
  ForEachVector<kRows, S>(d, values.rows, values.next, args.value_dim, add);
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
    for (Step<T> values = RowCursor(run, 0).Take<T>(); key < key_count; key += kFewStreams) {
      AddValues<kFewStreams>(args, values);
      values.Advance();
    }
  } else if (!args.select && key_count >= kFewStreams) {
    for (RowCursor rows(run, 0); key + kFewStreams <= key_count; key += kFewStreams) {
      AddValues<kFewStreams>(args, rows.Take<T>());
    }
  }
  for (; key < key_count; ++key) {
    const Step<T> values = RowCursor(run, key).Take<T>();
    if (args.select) {
      AddSeenValue(args, values);
    } else {
      AddValues<1>(args, values);
    }
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_FEW_VALUE_INL_H_
