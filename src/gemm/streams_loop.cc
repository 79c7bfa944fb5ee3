// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/streams_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "src/core/sizes.h"
#include "src/kernels/gemm.h"

namespace lanewise::gemm {
namespace {

constexpr int64_t kFloatsAligned = kernels::kGemmAlignment / sizeof(float);

// Steps of the depth that sums add up before they become a part of C.
int64_t StepsAtOnce(const GemmPlan::Decision& decision) {
  return decision.variant == Variant::kDots ? decision.depth()
                                            : std::min(decision.depth_block, decision.depth());
}

class StreamsLoop {
 public:
  StreamsLoop(const Call& call, int64_t group)
      : call_(call), decision_(call.decision()), group_(group) {
    const kernels::GemmStreams& streams = decision_.streams;
    product_ = decision_.variant == Variant::kDots ? streams.dots
               : decision_.options.packed_b        ? streams.panels
                                                   : streams.rows;
  }

  // The columns of a unit, for all rows of all members.
  void RunUnit(int64_t unit, float* scratch) const {
    const Range columns = BlockOf(unit, decision_.column_block, decision_.shape.columns);
    for (int64_t member = 0; member < call_.group_size(); ++member) {
      const int64_t matrix = call_.MatrixOf(group_, member);
      for (int64_t row = 0; row < decision_.shape.rows; row += decision_.row_block) {
        const Range rows = {row, std::min(decision_.row_block, decision_.shape.rows - row)};
        Multiply(matrix, rows, columns, scratch);
      }
    }
  }

 private:
  void Multiply(int64_t matrix, Range rows, Range columns, float* scratch) const {
    const int64_t depth = decision_.depth();
    const int64_t at_once = StepsAtOnce(decision_);
    const int64_t a_stride = core::RoundUp(at_once, kFloatsAligned);
    float* const a = scratch;
    float* const sums = a + decision_.row_block * a_stride;
    const int64_t sums_stride = core::RoundUp(decision_.column_block, kFloatsAligned);
    float* const total = sums + decision_.row_block * sums_stride;

    int64_t begin = 0;
    do {
      const Range steps = {begin, std::min(at_once, depth - begin)};
      if (steps.size > 0) call_.CopyA(matrix, rows, steps, a, a_stride);
      kernels::GemmStreamArgs args = {};
      args.a = a;
      args.a_stride = a_stride;
      if (steps.size > 0) SetB(matrix, steps, columns, args);
      args.row_count = static_cast<size_t>(rows.size);
      args.column_count = static_cast<size_t>(columns.size);
      args.depth = static_cast<size_t>(steps.size);
      args.sums = sums;
      args.sums_stride = static_cast<size_t>(sums_stride);
      product_(args);
      Finish(args, matrix, rows, columns, steps, total);
      begin += at_once;
    } while (begin < depth);
  }

  void SetB(int64_t matrix, Range steps, Range columns, kernels::GemmStreamArgs& args) const {
    if (decision_.options.packed_b) {
      args.b = call_.PackedPanel(matrix, steps, columns.begin / decision_.tile_columns());
      args.b_stride = steps.size * decision_.tile_columns();
      return;
    }
    const Matrix<const char> b = call_.B(matrix);
    args.b = decision_.options.transpose_b ? b.At(columns.begin, steps.begin)
                                           : b.At(steps.begin, columns.begin);
    args.b_stride = call_.tensors().b.strides[2];
  }

  // Merges the sums of some steps into C, or into `total` until the last ones.
  void Finish(const kernels::GemmStreamArgs& args, int64_t matrix, Range rows, Range columns,
              Range steps, float* total) const {
    kernels::GemmEnd end = call_.End(matrix, rows.begin, columns.begin);
    const auto finish = [&](const float* sums, const kernels::GemmEnd& to) {
      decision_.streams.finish(sums, args.sums_stride, args.row_count, args.column_count, to);
    };
    if (!decision_.sums_apart() || decision_.variant == Variant::kDots) {
      end.add = steps.begin > 0;
      finish(args.sums, end);
      return;
    }
    kernels::GemmEnd apart = {};
    apart.c = total;
    apart.c_stride = static_cast<int64_t>(args.sums_stride);
    apart.c_type = DataType::kF32;
    apart.alpha = 1;
    apart.add = steps.begin > 0;
    finish(args.sums, apart);
    if (steps.begin + steps.size == decision_.depth()) finish(total, end);
  }

  const Call& call_;
  const GemmPlan::Decision& decision_;
  int64_t group_;
  void (*product_)(const kernels::GemmStreamArgs&);
};

}  // namespace

int64_t StreamsScratchFloats(const GemmPlan::Decision& decision) {
  const int64_t sums = core::RoundUp(decision.column_block, kFloatsAligned);
  const int64_t row = core::RoundUp(StepsAtOnce(decision), kFloatsAligned) + sums * 2;
  // What overflows is too much all the same.
  return core::CheckedProduct({decision.row_block, row})
      .value_or(std::numeric_limits<int64_t>::max());
}

void RunStreams(const Call& call, int64_t group, const Crew& crew) {
  const StreamsLoop loop(call, group);
  const GemmPlan::Decision& decision = call.decision();
  const auto run = [&](int worker, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) loop.RunUnit(unit, call.scratch(worker));
  };
  crew.Run(core::DivideUp(decision.shape.columns, decision.column_block), 1, run);
}

}  // namespace lanewise::gemm
