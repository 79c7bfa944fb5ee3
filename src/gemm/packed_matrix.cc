// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/packed_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/core/tensor_check.h"
#include "src/kernels/gemm.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"
#include "src/parallel/parallel.h"
#include "src/profile/gemm_defaults.h"
#include "src/profile/machine_caches.h"

namespace lanewise {
namespace {

// Where matrix `index` of an array lies.
const char* MatrixAt(const ConstTensor& tensor, int64_t index) {
  const int64_t batch = index / tensor.sizes[1];
  const int64_t head = index % tensor.sizes[1];
  return static_cast<const char*>(tensor.data) +
         (batch * tensor.strides[0] + head * tensor.strides[1]) * core::ElementBytes(tensor.type);
}

// Fills the panels of `layout`; work is a depth block of a matrix.
void Fill(const PackedMatrix::Layout& layout, const ConstTensor& b, bool transpose_b,
          const parallel::Team& team) {
  const kernels::GemmMoves moves = kernels::GemmMovesFor(layout.target_id, b.type);
  const int64_t blocks = core::DivideUp(layout.depth, layout.depth_block);
  const auto pack = [&](int /*worker*/, int64_t unit_begin, int64_t unit_end) {
    for (int64_t unit = unit_begin; unit < unit_end; ++unit) {
      const int64_t matrix = unit / blocks;
      const int64_t begin = unit % blocks * layout.depth_block;
      const int64_t steps = std::min(layout.depth_block, layout.depth - begin);
      const int64_t offset = begin * (transpose_b ? 1 : b.strides[2]);
      kernels::GemmPackArgs args = {};
      args.b = MatrixAt(b, matrix) + offset * core::ElementBytes(b.type);
      args.b_stride = b.strides[2];
      args.depth = static_cast<size_t>(steps);
      args.column_count = static_cast<size_t>(layout.columns);
      args.to = layout.Panel(matrix, begin, steps, 0);
      args.panel_stride = static_cast<size_t>(steps * layout.tile_columns);
      (transpose_b ? moves.pack_transposed : moves.pack)(args,
                                                         static_cast<size_t>(layout.tile_columns));
    }
  };
  team.Run(layout.batch * layout.heads * blocks, 1, parallel::RangeBody(pack));
}

Result<PackedMatrix> Pack(const ConstTensor& b, bool transpose_b, const Runtime& runtime) {
  if (Status s = core::CheckNumberType("b", b.type); !s.ok()) return s;
  if (Status s = core::CheckSizes("b", b.sizes); !s.ok()) return s;
  if (Status s = core::CheckInput("b", b, b.type, b.sizes); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto layout = std::make_unique<PackedMatrix::Layout>();
  layout->batch = b.sizes[0];
  layout->heads = b.sizes[1];
  layout->depth = b.sizes[transpose_b ? 3 : 2];
  layout->columns = b.sizes[transpose_b ? 2 : 3];
  layout->target_id = *target;
  layout->tile_columns = static_cast<int64_t>(kernels::GemmKernels(*target).front().columns);
  layout->depth_block =
      profile::GemmDepthBlock(profile::MachineCaches(), layout->tile_columns, layout->depth);
  const auto bytes =
      core::CheckedProduct({layout->batch, layout->heads, layout->depth, layout->panels(),
                            layout->tile_columns, static_cast<int64_t>(sizeof(float))});
  if (!bytes) return Status::OutOfMemory();
  layout->memory = Workspace(static_cast<size_t>(*bytes));
  if (layout->memory.size_bytes() < static_cast<size_t>(*bytes)) return Status::OutOfMemory();
  if (*bytes > 0) Fill(*layout, b, transpose_b, parallel::Team(runtime.threads));
  return PackedMatrix(std::move(layout));
}

}  // namespace

PackedMatrix::PackedMatrix() noexcept = default;
PackedMatrix::PackedMatrix(PackedMatrix&& other) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&& other) noexcept = default;
PackedMatrix::~PackedMatrix() = default;

PackedMatrix::PackedMatrix(std::unique_ptr<const Layout> layout) noexcept
    : layout_(std::move(layout)) {}

size_t PackedMatrix::size_bytes() const noexcept {
  return layout_ == nullptr ? 0 : layout_->memory.size_bytes();
}

Result<PackedMatrix> PackB(const ConstTensor& b, bool transpose_b,
                           const Runtime& runtime) noexcept {
  try {
    return Pack(b, transpose_b, runtime);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
