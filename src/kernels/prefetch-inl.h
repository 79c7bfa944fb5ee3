// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Fetches the rows that a step names (PrefetchRows in lanes.h) while it multiplies.

#if defined(LANEWISE_SRC_KERNELS_PREFETCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_PREFETCH_INL_H_
#undef LANEWISE_SRC_KERNELS_PREFETCH_INL_H_
#else
#define LANEWISE_SRC_KERNELS_PREFETCH_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/register_tile-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Steps of a product between two rows that are fetched. Lines asked for a few at a time find the
// buffers of outstanding lines free; more than there are would stop the core.
inline constexpr size_t kFetchSteps = 16;

// Walks over the rows of all prefetch lists of a step, a few at each call.
class PrefetchCursor {
 public:
  // For both stages of products, by tiles of `tile_rows`.
  PrefetchCursor(const StepArgs& args, size_t tile_rows) : list_(args.prefetch) {
    for (const PrefetchRows& list : args.prefetch) rows_left_ += list.row_count;
    const size_t calls = Whole(args.key_count, tile_rows) * Whole(args.dim, kFetchSteps) +
                         Whole(args.value_dim, tile_rows) * Whole(args.key_count, kFetchSteps);
    rows_per_call_ = Whole(rows_left_, calls);
    calls_per_row_ = calls / HWY_MAX(rows_left_, 1);
  }

  HWY_INLINE void Advance() {
    if (++calls_ < calls_per_row_) return;
    calls_ = 0;
    for (size_t i = 0; i < rows_per_call_ && rows_left_ != 0; ++i, --rows_left_) {
      while (row_ == list_->row_count) {
        ++list_;
        row_ = 0;
      }
      const char* row =
          static_cast<const char*>(list_->first) + static_cast<int64_t>(row_) * list_->stride_bytes;
      for (size_t byte = 0; byte < list_->row_bytes; byte += kLineBytes) {
        __builtin_prefetch(row + byte, 0, 2);
      }
      ++row_;
    }
  }

 private:
  static constexpr size_t kLineBytes = 64;

  // Parts of at most `size` that hold `count`.
  static size_t Whole(size_t count, size_t size) { return (count + size - 1) / size; }

  const PrefetchRows* list_;
  size_t rows_per_call_;
  size_t calls_per_row_;
  size_t calls_ = 0;
  size_t rows_left_ = 0;
  size_t row_ = 0;
};

// What MultiplyAdd of a register tile takes.
struct ProductArgs {
  const float* a;
  int64_t a_stride;
  const float* b;
  size_t b_stride;
  size_t steps;
};

// The same product, of vectors [kFirst, kFirst + kCount) of a tile, with rows fetched on the way.
template <ARows kRows, size_t kFirst, size_t kCount, class Term = Product, size_t MR, size_t NV>
HWY_INLINE void MultiplyAddAndFetch(FloatTag d, const ProductArgs& args, RegisterTile<MR, NV>& tile,
                                    PrefetchCursor& prefetch) {
  const float* a = args.a;
  const float* b = args.b;
  size_t s = 0;
  for (; s + kFetchSteps <= args.steps; s += kFetchSteps) {
    prefetch.Advance();
    tile.template MultiplyAdd<kRows, true, kFirst, kCount, Term>(d, a, args.a_stride, b,
                                                                 args.b_stride, kFetchSteps);
    constexpr int64_t kSteps = kFetchSteps;
    a += kRows == ARows::kStrided ? kSteps : kSteps * args.a_stride;
    b += kFetchSteps * args.b_stride;
  }
  if (s == args.steps) return;
  prefetch.Advance();
  tile.template MultiplyAdd<kRows, true, kFirst, kCount, Term>(d, a, args.a_stride, b,
                                                               args.b_stride, args.steps - s);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_PREFETCH_INL_H_
