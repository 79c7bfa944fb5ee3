// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of row softmax, per target and types.

#include "src/kernels/row_softmax.h"

#include "src/core/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/row_softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/row_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

template <class In>
RowSoftmaxKernels KernelsFrom(DataType out_type) {
  if (out_type == DataType::kF16) {
    return {nullptr, SoftmaxStreamed<In, core::F16>, LogSumExpRows<In>};
  }
  if (out_type == DataType::kBF16) {
    return {nullptr, SoftmaxStreamed<In, core::BF16>, LogSumExpRows<In>};
  }
  return {SoftmaxResident<In>, SoftmaxStreamed<In, float>, LogSumExpRows<In>};
}

}  // namespace

RowSoftmaxKernels SoftmaxKernels(DataType in_type, DataType out_type) {
  if (in_type == DataType::kF16) return KernelsFrom<core::F16>(out_type);
  if (in_type == DataType::kBF16) return KernelsFrom<core::BF16>(out_type);
  return KernelsFrom<float>(out_type);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(SoftmaxKernels);

RowSoftmaxKernels RowSoftmaxKernelsFor(int64_t target, DataType in_type, DataType out_type) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(SoftmaxKernels), target)(in_type, out_type);
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
