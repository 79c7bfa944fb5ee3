// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Few rows against a B that is read once, where it lies. Contract in gemm.h.

#if defined(LANEWISE_SRC_KERNELS_GEMM_STREAMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_GEMM_STREAMS_INL_H_
#undef LANEWISE_SRC_KERNELS_GEMM_STREAMS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_GEMM_STREAMS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/gemm.h"
#include "src/kernels/gemm_end-inl.h"
#include "src/kernels/gemm_panel-inl.h"
#include "src/kernels/lane_sums-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Adds U steps of R rows to the sums of all columns: U rows of B are streams side by side, and sums
// are loaded and stored once for U multiply-adds.
template <class T, size_t R, size_t U>
HWY_INLINE void AddSteps(const GemmStreamArgs& args, size_t step) {
  const FloatTag d;
  FloatVec a[R][U];
  const T* from[U];
  HWY_UNROLL(8)
  for (size_t u = 0; u < U; ++u) {
    const int64_t s = static_cast<int64_t>(step + u);
    from[u] = static_cast<const T*>(args.b) + s * args.b_stride;
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      a[r][u] = hn::Set(d, args.a[static_cast<int64_t>(r) * args.a_stride + s]);
    }
  }
  const auto add = [&](size_t j, const FloatVec(&b)[U]) HWY_ATTR {
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      float* HWY_RESTRICT to = args.sums + r * args.sums_stride + j;
      FloatVec sum = hn::Load(d, to);
      HWY_UNROLL(8)
      for (size_t u = 0; u < U; ++u) sum = hn::MulAdd(a[r][u], b[u], sum);
      hn::Store(sum, d, to);
    }
  };
  size_t j = 0;
  for (; j + kLanes <= args.column_count; j += kLanes) {
    FloatVec b[U];
    HWY_UNROLL(8)
    for (size_t u = 0; u < U; ++u) b[u] = LoadElements(d, from[u] + j);
    add(j, b);
  }
  if (j < args.column_count) {
    FloatVec b[U];
    HWY_UNROLL(8)
    for (size_t u = 0; u < U; ++u) {
      b[u] = LoadUpTo(d, from[u] + j, args.column_count - j);
    }
    add(j, b);
  }
}

template <class T, size_t R>
HWY_INLINE void RowsOf(const GemmStreamArgs& args) {
  const FloatTag d;
  for (size_t r = 0; r < R; ++r) {
    float* HWY_RESTRICT sums = args.sums + r * args.sums_stride;
    for (size_t j = 0; j < args.column_count; j += kLanes) hn::Store(hn::Zero(d), d, sums + j);
  }
  constexpr size_t kSteps = R == 1 ? 8 : R == 2 ? 4 : 2;
  size_t s = 0;
  for (; s + kSteps <= args.depth; s += kSteps) AddSteps<T, R, kSteps>(args, s);
  for (; s < args.depth; ++s) AddSteps<T, R, 1>(args, s);
}

// Sums of R rows and the columns of P panels, which are streams side by side. A stream alone is
// fetched ahead.
template <class T, size_t R, size_t P>
HWY_INLINE void MultiplyPanels(const GemmStreamArgs& args, size_t panel) {
  const FloatTag d;
  constexpr size_t kStepBytes = kPanelVectors * kLanes * sizeof(T);
  constexpr size_t kLineBytes = 64;
  constexpr size_t kAheadBytes = 1024;
  const T* from[P];
  FloatVec acc[R][P][kPanelVectors];
  HWY_UNROLL(4)
  for (size_t p = 0; p < P; ++p) {
    from[p] = static_cast<const T*>(args.b) + static_cast<int64_t>(panel + p) * args.b_stride;
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (size_t v = 0; v < kPanelVectors; ++v) acc[r][p][v] = hn::Zero(d);
    }
  }
  for (size_t s = 0; s < args.depth; ++s) {
    HWY_UNROLL(4)
    for (size_t p = 0; p < P; ++p) {
      FloatVec b[kPanelVectors];
      if constexpr (P == 1) {
        HWY_UNROLL(4)
        for (size_t line = 0; line < kStepBytes; line += kLineBytes) {
          __builtin_prefetch(reinterpret_cast<const char*>(from[0]) + s * kStepBytes + kAheadBytes +
                             line);
        }
      }
      HWY_UNROLL(4)
      for (size_t v = 0; v < kPanelVectors; ++v) {
        b[v] = LoadElements(d, from[p] + (s * kPanelVectors + v) * kLanes);
      }
      HWY_UNROLL(4)
      for (size_t r = 0; r < R; ++r) {
        const FloatVec a =
            hn::Set(d, args.a[static_cast<int64_t>(r) * args.a_stride + static_cast<int64_t>(s)]);
        HWY_UNROLL(4)
        for (size_t v = 0; v < kPanelVectors; ++v) acc[r][p][v] = hn::MulAdd(a, b[v], acc[r][p][v]);
      }
    }
  }
  HWY_UNROLL(4)
  for (size_t r = 0; r < R; ++r) {
    float* HWY_RESTRICT sums = args.sums + r * args.sums_stride + panel * kPanelVectors * kLanes;
    HWY_UNROLL(16)
    for (size_t i = 0; i < P * kPanelVectors; ++i) {
      hn::Store(acc[r][i / kPanelVectors][i % kPanelVectors], d, sums + i * kLanes);
    }
  }
}

template <class T, size_t R>
HWY_INLINE void PanelsOf(const GemmStreamArgs& args) {
  constexpr size_t kColumns = kPanelVectors * kLanes;
  // As many streams as their accumulators leave registers for everything else.
  constexpr size_t kMostVectors = 12;
  constexpr size_t kOfPanel = R * kPanelVectors;
  constexpr size_t kTogether = 4 * kOfPanel <= kMostVectors   ? 4
                               : 2 * kOfPanel <= kMostVectors ? 2
                                                              : 1;
  const size_t count = (args.column_count + kColumns - 1) / kColumns;
  size_t panel = 0;
  for (; panel + kTogether <= count; panel += kTogether) {
    MultiplyPanels<T, R, kTogether>(args, panel);
  }
  for (; panel < count; ++panel) MultiplyPanels<T, R, 1>(args, panel);
}

// Sums of the columns [column, column + C): each B row of the depth is a stream.
template <class T, size_t R, size_t C>
HWY_INLINE void DotColumns(const GemmStreamArgs& args, size_t column) {
  const FloatTag d;
  constexpr size_t kVectors = 2;
  FloatVec acc[R][C][kVectors];
  HWY_UNROLL(4)
  for (size_t r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (size_t c = 0; c < C; ++c) acc[r][c][0] = acc[r][c][1] = hn::Zero(d);
  }
  const T* b = static_cast<const T*>(args.b) + static_cast<int64_t>(column) * args.b_stride;
  const auto add = [&](size_t s, size_t v, size_t count) HWY_ATTR {
    FloatVec a[R];
    HWY_UNROLL(4)
    for (size_t r = 0; r < R; ++r) {
      a[r] = LoadUpTo(d, args.a + static_cast<int64_t>(r) * args.a_stride + s, count);
    }
    HWY_UNROLL(4)
    for (size_t c = 0; c < C; ++c) {
      const FloatVec x = LoadUpTo(d, b + static_cast<int64_t>(c) * args.b_stride + s, count);
      HWY_UNROLL(4)
      for (size_t r = 0; r < R; ++r) acc[r][c][v] = hn::MulAdd(a[r], x, acc[r][c][v]);
    }
  };
  size_t s = 0;
  for (; s + kVectors * kLanes <= args.depth; s += kVectors * kLanes) {
    add(s, 0, kLanes);
    add(s + kLanes, 1, kLanes);
  }
  if (s + kLanes <= args.depth) {
    add(s, 0, kLanes);
    s += kLanes;
    if (s < args.depth) add(s, 1, args.depth - s);
  } else if (s < args.depth) {
    add(s, 0, args.depth - s);
  }
  for (size_t r = 0; r < R; ++r) {
    for (size_t c = 0; c < C; ++c) {
      args.sums[r * args.sums_stride + column + c] =
          LaneSum(d, hn::Add(acc[r][c][0], acc[r][c][1]));
    }
  }
}

template <class T, size_t R>
HWY_INLINE void DotsOf(const GemmStreamArgs& args) {
  constexpr size_t kTogether = R == 1 ? 4 : R == 2 ? 2 : 1;
  size_t j = 0;
  for (; j + kTogether <= args.column_count; j += kTogether) DotColumns<T, R, kTogether>(args, j);
  for (; j < args.column_count; ++j) DotColumns<T, R, 1>(args, j);
}

template <class T>
void Rows(const GemmStreamArgs& args) {
  static_assert(kMaxStreamRows == 4);
  if (args.row_count == 1) return RowsOf<T, 1>(args);
  if (args.row_count == 2) return RowsOf<T, 2>(args);
  if (args.row_count == 3) return RowsOf<T, 3>(args);
  RowsOf<T, 4>(args);
}

template <class T>
void Panels(const GemmStreamArgs& args) {
  if (args.row_count == 1) return PanelsOf<T, 1>(args);
  if (args.row_count == 2) return PanelsOf<T, 2>(args);
  if (args.row_count == 3) return PanelsOf<T, 3>(args);
  PanelsOf<T, 4>(args);
}

template <class T>
void Dots(const GemmStreamArgs& args) {
  if (args.row_count == 1) return DotsOf<T, 1>(args);
  if (args.row_count == 2) return DotsOf<T, 2>(args);
  if (args.row_count == 3) return DotsOf<T, 3>(args);
  DotsOf<T, 4>(args);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_STREAMS_INL_H_
