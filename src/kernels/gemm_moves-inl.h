// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Copies of A and B into the order that products read them in. Contract in gemm.h.

#if defined(LANEWISE_SRC_KERNELS_GEMM_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_GEMM_MOVES_INL_H_
#undef LANEWISE_SRC_KERNELS_GEMM_MOVES_INL_H_
#else
#define LANEWISE_SRC_KERNELS_GEMM_MOVES_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"
#include "src/kernels/gemm.h"
#include "src/kernels/gemm_end-inl.h"
#include "src/kernels/transpose-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Steps of the depth that are copied for all panels before the next ones: the rows of B that they
// read advance side by side.
inline constexpr size_t kPackSteps = 8;

// Columns of B and the panel that they go to.
template <class T>
struct PanelCopy {
  const T* from;  // [depth, count]
  int64_t from_stride;
  size_t count;
  float* to;  // [depth, columns]
  size_t columns;
};

// Steps [begin, end) of a panel of NV whole vectors.
template <size_t NV, class T>
HWY_INLINE void PackWhole(FloatTag d, const PanelCopy<T>& panel, size_t begin, size_t end) {
  const T* HWY_RESTRICT from = panel.from + static_cast<int64_t>(begin) * panel.from_stride;
  float* HWY_RESTRICT to = panel.to + begin * NV * kLanes;
  for (size_t s = begin; s < end; ++s) {
    HWY_UNROLL(4)
    for (size_t v = 0; v < NV; ++v) {
      hn::Store(LoadElements(d, from + v * kLanes), d, to + v * kLanes);
    }
    from += panel.from_stride;
    to += NV * kLanes;
  }
}

// The same for a panel of any number of columns, with zeros after the last one that B has.
template <class T>
HWY_INLINE void PackSome(FloatTag d, const PanelCopy<T>& panel, size_t begin, size_t end) {
  float* HWY_RESTRICT to = panel.to;
  for (size_t s = begin; s < end; ++s) {
    const T* HWY_RESTRICT from = panel.from + static_cast<int64_t>(s) * panel.from_stride;
    for (size_t v = 0; v < panel.columns; v += kLanes) {
      const FloatVec x =
          v < panel.count ? LoadUpTo(d, from + v, HWY_MIN(panel.count - v, kLanes)) : hn::Zero(d);
      hn::Store(x, d, to + s * panel.columns + v);
    }
  }
}

template <class T>
void Pack(const GemmPackArgs& args, size_t columns) {
  const FloatTag d;
  const T* b = static_cast<const T*>(args.b);
  for (size_t begin = 0; begin < args.depth; begin += kPackSteps) {
    const size_t end = HWY_MIN(begin + kPackSteps, args.depth);
    float* to = args.to;
    for (size_t j = 0; j < args.column_count; j += columns, to += args.panel_stride) {
      const size_t count = HWY_MIN(args.column_count - j, columns);
      const PanelCopy<T> panel = {b + j, args.b_stride, count, to, columns};
      if (count == columns && columns == 2 * kLanes) {
        PackWhole<2>(d, panel, begin, end);
      } else if (count == columns && columns == 3 * kLanes) {
        PackWhole<3>(d, panel, begin, end);
      } else {
        PackSome(d, panel, begin, end);
      }
    }
  }
}

// Transposes kLanes rows at a time. Half types are widened on the way, a few columns at a time.
template <class T>
void Transpose(const GemmTransposeArgs& args) {
  const FloatTag d;
  constexpr size_t kWidened = 64;  // columns
  const T* from = static_cast<const T*>(args.from);
  const auto to = [&](size_t column) {
    return args.to + static_cast<int64_t>(column) * args.to_stride;
  };
  size_t row = 0;
  for (; row + kLanes <= args.rows; row += kLanes) {
    HWY_ALIGN float widened[std::is_same_v<T, float> ? 1 : kLanes * kWidened];
    for (size_t begin = 0; begin < args.columns; begin += kWidened) {
      const size_t count = HWY_MIN(args.columns - begin, kWidened);
      const float* rows[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const T* source = from + static_cast<int64_t>(row + lane) * args.from_stride + begin;
        if constexpr (std::is_same_v<T, float>) {
          rows[lane] = source;
        } else {
          float* line = widened + lane * kWidened;
          for (size_t c = 0; c < count; c += kLanes) {
            const size_t some = HWY_MIN(count - c, kLanes);
            hn::Store(LoadUpTo(d, source + c, some), d, line + c);
          }
          rows[lane] = line;
        }
      }
      size_t c = 0;
      for (; c + kColumns <= count; c += kColumns) {
        FloatVec m[kColumns];
        LoadColumns(d, rows, c, m);
        HWY_UNROLL(4)
        for (size_t i = 0; i < kColumns; ++i) hn::StoreU(m[i], d, to(begin + c + i) + row);
      }
      for (; c < count; ++c) {
        for (size_t lane = 0; lane < kLanes; ++lane) to(begin + c)[row + lane] = rows[lane][c];
      }
    }
  }
  for (; row < args.rows; ++row) {
    const T* source = from + static_cast<int64_t>(row) * args.from_stride;
    for (size_t c = 0; c < args.columns; c += kLanes) {
      const size_t count = HWY_MIN(args.columns - c, kLanes);
      HWY_ALIGN float lanes[kLanes];
      hn::Store(LoadUpTo(d, source + c, count), d, lanes);
      for (size_t i = 0; i < count; ++i) to(c + i)[row] = lanes[i];
    }
  }
}

template <class T>
void PackTransposed(const GemmPackArgs& args, size_t columns) {
  const FloatTag d;
  const T* b = static_cast<const T*>(args.b);
  float* panel = args.to;
  for (size_t j = 0; j < args.column_count; j += columns, panel += args.panel_stride) {
    const size_t count = HWY_MIN(args.column_count - j, columns);
    if (count < columns) {
      for (size_t i = 0; i < args.depth * columns; i += kLanes)
        hn::Store(hn::Zero(d), d, panel + i);
    }
    Transpose<T>({b + static_cast<int64_t>(j) * args.b_stride, args.b_stride, count, args.depth,
                  panel, static_cast<int64_t>(columns)});
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_MOVES_INL_H_
