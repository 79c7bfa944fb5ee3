// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/packed_matrix.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/core/tensor_check.h"
#include "src/gemm/call.h"
#include "src/kernels/convert.h"
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

// Fills the panels of a layout. Kernels pack to f32; panels of other types go by way of `stage`,
// [workers, depth block, columns of a panel], which loses nothing.
class Filling {
 public:
  Filling(const PackedMatrix::Layout& layout, const ConstTensor& b, bool transpose_b, float* stage)
      : layout_(layout),
        b_(b),
        transpose_b_(transpose_b),
        stage_(stage),
        moves_(kernels::GemmMovesFor(layout.target_id, b.type)),
        narrow_(kernels::ConvertRowsFor(layout.target_id, DataType::kF32, b.type)) {}

  void Run(const parallel::Team& team) const {
    const int64_t blocks = core::DivideUp(layout_.depth, layout_.depth_block);
    const auto pack = [&](int worker, int64_t unit_begin, int64_t unit_end) {
      for (int64_t unit = unit_begin; unit < unit_end; ++unit) {
        PackSteps(unit / blocks, gemm::BlockOf(unit % blocks, layout_.depth_block, layout_.depth),
                  worker);
      }
    };
    team.Run(layout_.batch * layout_.heads * blocks, 1, parallel::RangeBody(pack));
  }

 private:
  // A depth block of a matrix.
  void PackSteps(int64_t matrix, gemm::Range steps, int worker) const {
    const auto panel_at = [&](int64_t p) {
      return layout_.Panel(matrix, steps.begin, steps.size, p);
    };
    if (layout_.type == DataType::kF32) {
      PackPanels(matrix, steps, {0, layout_.columns}, reinterpret_cast<float*>(panel_at(0)));
      return;
    }
    const auto panel_elements = static_cast<size_t>(steps.size * layout_.tile_columns);
    float* const panel = stage_ + worker * layout_.depth_block * layout_.tile_columns;
    for (int64_t p = 0; p < layout_.panels(); ++p) {
      PackPanels(matrix, steps, gemm::BlockOf(p, layout_.tile_columns, layout_.columns), panel);
      narrow_({panel, 0, panel_at(p), 0, 1, panel_elements});
    }
  }

  void PackPanels(int64_t matrix, gemm::Range steps, gemm::Range columns, float* to) const {
    const int64_t stride = b_.strides[2];
    const int64_t offset =
        transpose_b_ ? columns.begin * stride + steps.begin : steps.begin * stride + columns.begin;
    kernels::GemmPackArgs args = {};
    args.b = MatrixAt(b_, matrix) + offset * core::ElementBytes(b_.type);
    args.b_stride = stride;
    args.depth = static_cast<size_t>(steps.size);
    args.column_count = static_cast<size_t>(columns.size);
    args.to = to;
    args.panel_stride = static_cast<size_t>(steps.size * layout_.tile_columns);
    (transpose_b_ ? moves_.pack_transposed : moves_.pack)(
        args, static_cast<size_t>(layout_.tile_columns));
  }

  const PackedMatrix::Layout& layout_;
  const ConstTensor& b_;
  const bool transpose_b_;
  float* const stage_;
  const kernels::GemmMoves moves_;
  const kernels::ConvertRows narrow_;
};

Status Fill(const PackedMatrix::Layout& layout, const ConstTensor& b, bool transpose_b,
            const Runtime& runtime) {
  const parallel::Team team(runtime.threads);
  const int64_t floats =
      layout.type == DataType::kF32 ? 0 : team.workers() * layout.depth_block * layout.tile_columns;
  const Workspace stage(static_cast<size_t>(floats) * sizeof(float));
  if (stage.size_bytes() < static_cast<size_t>(floats) * sizeof(float)) {
    return Status::OutOfMemory();
  }
  Filling(layout, b, transpose_b, static_cast<float*>(stage.data())).Run(team);
  return {};
}

Result<PackedMatrix> Pack(const ConstTensor& b, bool transpose_b, const Runtime& runtime) {
  if (Status s = core::CheckNumberType("b", b.type); !s.ok()) return s;
  if (Status s = core::CheckSizes("b", b.sizes); !s.ok()) return s;
  if (Status s = core::CheckInput("b", b, b.type, b.sizes); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto layout = std::make_unique<PackedMatrix::Layout>();
  layout->type = b.type;
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
                            layout->tile_columns, core::ElementBytes(b.type)});
  if (!bytes) return Status::OutOfMemory();
  layout->memory = Workspace(static_cast<size_t>(*bytes));
  if (layout->memory.size_bytes() < static_cast<size_t>(*bytes)) return Status::OutOfMemory();
  if (*bytes > 0) {
    if (Status s = Fill(*layout, b, transpose_b, runtime); !s.ok()) return s;
  }
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
