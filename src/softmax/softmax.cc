// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/softmax.h"

#include <cstdint>
#include <new>

#include "src/core/element_bytes.h"
#include "src/kernels/row_softmax.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"
#include "src/parallel/parallel.h"
#include "src/profile/defaults.h"
#include "src/softmax/check.h"
#include "src/softmax/row_grid.h"

namespace lanewise {
namespace softmax {
namespace {

// One call; its arrays have been checked.
struct Call {
  const ConstTensor& in;
  const Tensor& out;
  const SoftmaxOptions& options;
  kernels::RowSoftmax kernel;
};

bool HasMask(const Call& call) { return call.options.mask.data != nullptr; }

RowGrid GridOf(const Call& call) {
  const ConstTensor& mask = call.options.mask;
  Sizes mask_strides = {0, 0, 0, 1};
  for (size_t axis = 0; axis < 3 && HasMask(call); ++axis) {
    mask_strides[axis] = mask.sizes[axis] == 1 ? 0 : mask.strides[axis];
  }
  return RowGrid(call.in.sizes, {call.in.strides, mask_strides, call.out.strides});
}

void RunRows(const Call& call, const RowRun& rows) {
  const auto at = [](auto* data, DataType type, int64_t elements) {
    return data + elements * core::ElementBytes(type);
  };
  kernels::RowSoftmaxArgs args;
  args.in = at(static_cast<const char*>(call.in.data), call.in.type, rows.first[0]);
  args.in_stride = rows.strides[0];
  args.mask =
      HasMask(call) ? static_cast<const uint8_t*>(call.options.mask.data) + rows.first[1] : nullptr;
  args.mask_stride = rows.strides[1];
  args.mask_repeats = HasMask(call) && call.options.mask.sizes[3] == 1;
  args.out = at(static_cast<char*>(call.out.data), call.out.type, rows.first[2]);
  args.out_stride = rows.strides[2];
  args.row_count = static_cast<size_t>(rows.count);
  args.columns = static_cast<size_t>(call.in.sizes[3]);
  args.scale = call.options.scale;
  call.kernel(args);
}

// Threads worth waking: none for what one thread does in some 20 microseconds.
int ThreadsFor(int64_t rows, int64_t columns, int threads) {
  constexpr int64_t kOneThreadElements = 32768;
  return rows * columns < kOneThreadElements ? 1 : threads;
}

void Run(const Call& call, int threads) {
  const RowGrid grid = GridOf(call);
  const int64_t rows = grid.RowCount();
  const parallel::Team team(ThreadsFor(rows, call.in.sizes[3], threads));
  const auto body = [&](int /*worker*/, int64_t begin, int64_t end) {
    grid.ForEachRun(begin, end, [&](const RowRun& run) { RunRows(call, run); });
  };
  team.Run(rows, profile::SoftmaxGrain(rows, team.workers()), parallel::RangeBody(body));
}

Status SoftmaxRows(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options,
                   const Runtime& runtime) {
  if (Status s = CheckSoftmax(in, out, options); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();
  const auto kernels = kernels::RowSoftmaxKernelsFor(*target, in.type, out.type);
  const bool resident = kernels.resident != nullptr && in.sizes[3] <= profile::kResidentColumns;
  if (in.sizes[3] > 0) {
    Run({in, out, options, resident ? kernels.resident : kernels.streamed}, runtime.threads);
  }
  return {};
}

Status LogSumExpRows(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options,
                     const Runtime& runtime) {
  if (Status s = CheckLogSumExp(in, out, options); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();
  const auto kernels = kernels::RowSoftmaxKernelsFor(*target, in.type, out.type);
  Run({in, out, options, kernels.log_sum_exp}, runtime.threads);
  return {};
}

}  // namespace
}  // namespace softmax

Status Softmax(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options,
               const Runtime& runtime) noexcept {
  try {
    return softmax::SoftmaxRows(in, out, options, runtime);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

Status LogSumExp(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options,
                 const Runtime& runtime) noexcept {
  try {
    return softmax::LogSumExpRows(in, out, options, runtime);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
