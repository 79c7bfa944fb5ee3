// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/blocks_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/kernels/gemm.h"
#include "src/profile/gemm_defaults.h"
#include "src/profile/machine_caches.h"

namespace lanewise::gemm {
namespace {

constexpr int64_t kFloatBytes = sizeof(float);

// Floats from row to row of a copied block of A: whole vectors, so that rows are aligned.
int64_t CopyStride(int64_t steps) {
  return core::RoundUp(steps, static_cast<int64_t>(kernels::kGemmAlignment / sizeof(float)));
}

// What the loops inside a depth block look at.
struct Block {
  int64_t group = 0;
  Range columns;
  Range steps;
  bool first = false;  // of the depth
  bool last = false;
};

class BlocksLoop {
 public:
  BlocksLoop(const Call& call, int64_t group, const Crew& crew)
      : call_(call), decision_(call.decision()), crew_(crew), group_(group) {
    row_blocks_ = core::DivideUp(decision_.shape.rows, decision_.row_block);
    if (decision_.uses_packed_panels()) {
      source_ = PanelSource::kPacked;
    } else if (decision_.variant == Variant::kPanels && row_blocks_ * call.group_size() == 1) {
      source_ = PanelSource::kOwn;
    } else {
      source_ = PanelSource::kBlock;
    }
    fetches_ =
        profile::GemmFetchesPanels(profile::MachineCaches(), tile_columns(), decision_.depth_block);
  }

  void Run() {
    const GemmShape& shape = decision_.shape;
    const int64_t depth = decision_.depth();
    const int64_t depth_blocks = std::max<int64_t>(core::DivideUp(depth, decision_.depth_block), 1);
    for (int64_t j = 0; j < shape.columns; j += decision_.column_block) {
      for (int64_t s = 0; s < depth_blocks; ++s) {
        Block block;
        block.columns = {j, std::min(decision_.column_block, shape.columns - j)};
        block.steps = BlockOf(s, decision_.depth_block, depth);
        block.first = s == 0;
        block.last = s + 1 == depth_blocks;
        if (source_ == PanelSource::kBlock && !packs_late()) PackBlock(block);
        MultiplyBlock(block);
      }
    }
  }

 private:
  // Where panels of B come from.
  enum class PanelSource {
    kPacked,  // the caller packed them, as f32
    kBlock,   // a block of them was packed for all rows
    kOwn,     // only these rows need it: packed into a worker's scratch
  };

  // Rows of a block of A against a range of panels.
  struct Unit {
    int64_t matrix = 0;
    Range rows;
    Range panels;
    const float* a = nullptr;
    int64_t a_stride = 0;
    float* own_panels = nullptr;  // two
    bool first = false;           // to need its panels
  };

  // Panels are packed when the first rows need them, where no other worker waits for them.
  bool packs_late() const {
    return source_ == PanelSource::kOwn || (source_ == PanelSource::kBlock && crew_.workers() == 1);
  }

  int64_t tile_columns() const { return decision_.tile_columns(); }
  int64_t Panels(const Block& block) const {
    return core::DivideUp(block.columns.size, tile_columns());
  }
  int64_t PanelFloats(const Block& block) const { return block.steps.size * tile_columns(); }

  // Packs panels [begin, end) of the block to `to`.
  void PackPanels(const Block& block, int64_t begin, int64_t end, float* to) const {
    if (block.steps.size == 0) return;
    if (decision_.options.packed_b) {
      const auto columns = static_cast<size_t>((end - begin) * PanelFloats(block));
      decision_.widen_b({PackedPanel(block, begin), 0, to, 0, 1, columns});
      return;
    }
    const bool transposed = decision_.options.transpose_b;
    const int64_t columns_end = std::min(end * tile_columns(), block.columns.size);
    kernels::GemmPackArgs args = {};
    args.b = ArrayOfB(block, begin);
    args.b_stride = call_.tensors().b.strides[2];
    args.depth = static_cast<size_t>(block.steps.size);
    args.column_count = static_cast<size_t>(columns_end - begin * tile_columns());
    args.to = to;
    args.panel_stride = static_cast<size_t>(PanelFloats(block));
    const kernels::GemmMoves& moves = decision_.b_moves;
    (transposed ? moves.pack_transposed : moves.pack)(args, decision_.kernel.columns);
  }

  void PackBlock(const Block& block) const {
    float* const to = call_.b_block(crew_);
    const int64_t panels = Panels(block);
    const auto pack = [&](int /*worker*/, int64_t begin, int64_t end) {
      PackPanels(block, begin, end, to + begin * PanelFloats(block));
    };
    crew_.Run(panels, profile::GemmGrain(panels, crew_.workers()), pack);
  }

  // Units are row blocks of all members times ranges of panels; those of one row block follow each
  // other, so that a worker copies it once.
  void MultiplyBlock(const Block& block) const {
    const int64_t panels = Panels(block);
    const int64_t blocks = row_blocks_ * call_.group_size();
    const int64_t parts = profile::GemmColumnParts(blocks, panels, crew_.workers());
    const int64_t panels_per_part = core::DivideUp(panels, parts);
    const auto multiply = [&](int worker, int64_t begin, int64_t end) {
      int64_t copied = -1;
      for (int64_t index = begin; index < end; ++index) {
        const int64_t row_block = index / parts;
        Unit unit;
        unit.panels = BlockOf(index % parts, panels_per_part, panels);
        if (unit.panels.size <= 0) continue;
        unit.matrix = call_.MatrixOf(group_, row_block / row_blocks_);
        unit.rows = BlockOf(row_block % row_blocks_, decision_.row_block, decision_.shape.rows);
        SetA(block, worker, copied != row_block, unit);
        copied = row_block;
        unit.first = row_block == 0;
        MultiplyUnit(block, unit);
      }
    };
    crew_.Run(blocks * parts, 1, multiply);
  }

  // Rows of A, in place where no cache line of theirs drives out another one.
  void SetA(const Block& block, int worker, bool changed, Unit& unit) const {
    const int64_t steps = block.steps.size;
    float* const scratch = call_.scratch(worker);
    unit.own_panels = scratch + decision_.row_block * CopyStride(decision_.depth_block);
    const int64_t stride = call_.tensors().a.strides[2];
    const bool in_place =
        decision_.shape.a_type == DataType::kF32 && !decision_.options.transpose_a && steps > 0 &&
        profile::GemmReadsRowsInPlace(profile::MachineCaches(), unit.rows.size, stride, steps);
    if (in_place) {
      unit.a = reinterpret_cast<const float*>(
          call_.A(unit.matrix).At(unit.rows.begin, block.steps.begin));
      unit.a_stride = stride;
      return;
    }
    unit.a = scratch;
    unit.a_stride = CopyStride(steps);
    if (changed) call_.CopyA(unit.matrix, unit.rows, block.steps, scratch, unit.a_stride);
  }

  // Where the columns of a panel lie in the array.
  const char* ArrayOfB(const Block& block, int64_t panel) const {
    const Matrix<const char> b = call_.B(call_.MatrixOf(group_, 0));
    const int64_t column = block.columns.begin + panel * tile_columns();
    return decision_.options.transpose_b ? b.At(column, block.steps.begin)
                                         : b.At(block.steps.begin, column);
  }

  // What PackB has left of a panel.
  const char* PackedPanel(const Block& block, int64_t panel) const {
    return call_.PackedPanel(call_.MatrixOf(group_, 0), block.steps,
                             block.columns.begin / tile_columns() + panel);
  }

  // Whether the kernel packs panel `panel` while it multiplies the first rows by the one before.
  bool PacksOnTheWay(const Block& block, const Unit& unit, int64_t panel) const {
    const bool follows = panel > unit.panels.begin && panel < unit.panels.begin + unit.panels.size;
    return follows && unit.first && packs_late() && !decision_.options.transpose_b &&
           decision_.shape.b_type == DataType::kF32 &&
           (panel + 1) * tile_columns() <= block.columns.size;
  }

  float* PanelOf(const Block& block, const Unit& unit, int64_t panel) const {
    return source_ == PanelSource::kOwn
               ? unit.own_panels + panel % 2 * decision_.depth_block * tile_columns()
               : call_.b_block(crew_) + panel * PanelFloats(block);
  }

  // Panel `panel` of the block, packed now if it has not been, and what the kernel does about the
  // next one: packs it on the way, or fetches it.
  void SetB(const Block& block, const Unit& unit, int64_t panel,
            kernels::GemmPanelArgs& args) const {
    const bool follows = panel + 1 < unit.panels.begin + unit.panels.size;
    const int64_t panel_bytes = tile_columns() * kFloatBytes;
    if (source_ == PanelSource::kPacked) {
      args.b = reinterpret_cast<const float*>(PackedPanel(block, panel));
      if (unit.first && follows) SetAhead(PackedPanel(block, panel + 1), panel_bytes, args);
      return;
    }
    float* const packed = PanelOf(block, unit, panel);
    args.b = packed;
    if (args.depth == 0) return;
    if (!unit.first || !packs_late()) {
      if (fetches_ && follows) SetAhead(PanelOf(block, unit, panel + 1), panel_bytes, args);
      return;
    }
    if (!PacksOnTheWay(block, unit, panel)) PackPanels(block, panel, panel + 1, packed);
    if (!follows) return;
    if (decision_.options.packed_b) {
      // Two rows of a half type are as long as one of f32.
      SetAhead(PackedPanel(block, panel + 1), panel_bytes, args);
      args.ahead.row_count /= 2;
      return;
    }
    if (decision_.options.transpose_b) return;
    SetAhead(ArrayOfB(block, panel + 1),
             call_.tensors().b.strides[2] * core::ElementBytes(decision_.shape.b_type), args);
    if (PacksOnTheWay(block, unit, panel + 1)) args.ahead.to = PanelOf(block, unit, panel + 1);
  }

  static void SetAhead(const void* rows, int64_t row_bytes, kernels::GemmPanelArgs& args) {
    args.ahead = {static_cast<const char*>(rows), row_bytes, args.depth, nullptr};
  }

  void MultiplyUnit(const Block& block, const Unit& unit) const {
    const int64_t panels_end = unit.panels.begin + unit.panels.size;
    for (int64_t panel = unit.panels.begin; panel < panels_end; ++panel) {
      const Range columns = BlockOf(panel, tile_columns(), block.columns.size);
      kernels::GemmPanelArgs args = {};
      args.a = unit.a;
      args.a_stride = unit.a_stride;
      args.row_count = static_cast<size_t>(unit.rows.size);
      args.column_count = static_cast<size_t>(columns.size);
      args.depth = static_cast<size_t>(block.steps.size);
      SetB(block, unit, panel, args);
      args.end = call_.End(unit.matrix, unit.rows.begin, block.columns.begin + columns.begin);
      if (decision_.sums_apart()) {
        MultiplyApart(block, unit.matrix, unit.rows, columns, args);
        continue;
      }
      args.end.add = !block.first;
      decision_.kernel.panel(args);
    }
  }

  // The sums of all depth blocks are kept as f32 until the last one.
  void MultiplyApart(const Block& block, int64_t matrix, Range rows, Range columns,
                     kernels::GemmPanelArgs args) const {
    const int64_t stride = decision_.sums_stride();
    float* const sums = call_.sums(matrix) + rows.begin * stride + columns.begin;
    kernels::GemmEnd end = args.end;
    args.end = {};
    args.end.c = sums;
    args.end.c_stride = stride;
    args.end.c_type = DataType::kF32;
    args.end.alpha = 1;
    args.end.add = !block.first;
    decision_.kernel.panel(args);
    if (!block.last) return;
    decision_.streams.finish(sums, static_cast<size_t>(stride), args.row_count, args.column_count,
                             end);
  }

  const Call& call_;
  const GemmPlan::Decision& decision_;
  const Crew& crew_;
  int64_t group_;
  int64_t row_blocks_ = 0;
  PanelSource source_;
  bool fetches_ = false;  // panels that were packed before
};

}  // namespace

int64_t BlockOfBFloats(const GemmPlan::Decision& decision) {
  const bool never = decision.uses_packed_panels() ||
                     (decision.variant == Variant::kPanels && decision.matrices() == 1);
  if (never) return 0;
  return std::min(decision.depth_block, decision.depth()) *
         core::RoundUp(std::min(decision.column_block, decision.shape.columns),
                       decision.tile_columns());
}

int64_t BlocksScratchFloats(const GemmPlan::Decision& decision) {
  return decision.row_block * CopyStride(decision.depth_block) +
         2 * decision.depth_block * decision.tile_columns();
}

void RunBlocks(const Call& call, int64_t group, const Crew& crew) {
  BlocksLoop(call, group, crew).Run();
}

}  // namespace lanewise::gemm
