// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Which vectors of a lane group take part in which keys of a step. Where bounds move with the
// query, the first vectors see keys that the last ones do not, and the other way round:
//
//   keys        0      16                 144     160
//   vector 0    [------------------------)
//   vector 1           [-------------------------)
//   spans       |  0   |       0 and 1    |   1   |

#if defined(LANEWISE_SRC_KERNELS_LANES_SPANS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_SPANS_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_SPANS_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_SPANS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// NV neighbouring vectors of a lane group of GV.
template <size_t GV, size_t NV>
struct Part {
  static constexpr size_t kGroupWidth = GV * kLanes;
  size_t lane;  // the first one
};

// Neighbouring keys of a step and the vectors that take part in them; scores of the others are
// -inf.
struct Span {
  Keys keys;
  size_t vector;
  size_t vector_count;
};

// Rows of the register tile for a part of a lane group whose tile has `group_rows`: as many
// accumulators as that has at most.
constexpr size_t PartRows(size_t group_rows, size_t group_vectors, size_t vectors) {
  if (vectors == group_vectors) return group_rows;
  size_t rows = 1;
  while (2 * rows * vectors <= group_rows * group_vectors) rows *= 2;
  return rows;
}

// Calls `function` with the part of a lane group that takes part in a span, which is not empty.
template <size_t GV, size_t NV = GV, class Function>
HWY_INLINE void WithPart(const Span& span, const Function& function) {
  if constexpr (NV > 1) {
    if (span.vector_count != NV) return WithPart<GV, NV - 1>(span, function);
  }
  function(Part<GV, NV>{span.vector * kLanes});
}

// The spans of a step in order of the keys.
template <size_t MR, size_t NV>
class Spans {
 public:
  explicit Spans(const StepArgs& args) {
    const LaneBounds* bounds = args.edits.bounds;
    if (NV == 1 || bounds == nullptr) {
      Add({{0, args.key_count}, 0, NV});
      return;
    }
    for (size_t j = 0; j < NV; ++j) {
      begin_[j] = static_cast<size_t>(bounds->begin[j * kLanes]);
      end_[j] = static_cast<size_t>(bounds->end[(j + 1) * kLanes - 1]);
    }
    for (size_t key = 0; key < args.key_count;) key = AddFrom(key, args.key_count);
  }

  const Span* begin() const { return spans_; }
  const Span* end() const { return spans_ + size_; }

  // The keys of a vector: those of the spans that it takes part in.
  Keys Of(size_t vector) const {
    Keys keys = {0, 0};
    for (const Span& span : *this) {
      if (vector < span.vector || vector >= span.vector + span.vector_count) continue;
      if (keys.begin == keys.end) keys.begin = span.keys.begin;
      keys.end = span.keys.end;
    }
    return keys;
  }

 private:
  // Rows of the register tile by the number of vectors.
  struct RowsByVectors {
    size_t of[NV + 1];
  };
  static constexpr RowsByVectors kRows = [] {
    RowsByVectors rows = {};
    for (size_t vectors = 1; vectors <= NV; ++vectors) {
      rows.of[vectors] = PartRows(MR, NV, vectors);
    }
    return rows;
  }();

  // Every vector begins and ends once; rounding adds no span.
  static constexpr size_t kMost = 2 * NV + 1;

  void Add(const Span& span) { spans_[size_++] = span; }

  // Adds the span that begins at `key` and returns its end. Whole register tiles: keys are left to
  // the next span if that has more vectors, and taken from it if it has fewer.
  size_t AddFrom(size_t key, size_t key_count) {
    size_t first = 0;
    size_t last = 0;  // one beyond
    for (;;) {
      while (first < NV && end_[first] <= key) ++first;
      while (last < NV && begin_[last] <= key) ++last;
      size_t limit = last < NV ? HWY_MIN(begin_[last], key_count) : key_count;
      if (first >= last) {
        Add({{key, limit}, 0, 0});
        return limit;
      }
      const size_t rows = kRows.of[last - first];
      if (end_[first] < limit) {
        const size_t round = (end_[first] - key + rows - 1) / rows * rows;
        limit = HWY_MIN(limit, key + round);
      } else if (last < NV && limit < key_count) {
        const size_t round = (limit - key) / rows * rows;
        if (round == 0) {
          begin_[last] = key;
          continue;
        }
        limit = key + round;
      }
      Add({{key, limit}, first, last - first});
      return limit;
    }
  }

  size_t begin_[NV];
  size_t end_[NV];
  Span spans_[kMost];
  size_t size_ = 0;
};

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_SPANS_INL_H_
