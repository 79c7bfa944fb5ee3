// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of the `few` variant, per target.

#include "src/kernels/few.h"

#include "src/core/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/few.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/few-inl.h"
#include "src/kernels/few_score-inl.h"
#include "src/kernels/few_value-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

FewKernel FewKernels() {
  FewKernel kernel;
  kernel.tile = kFewRows == 4 ? "4x4s" : "2x4s";
  kernel.lanes = kLanes;
  kernel.load = FewLoad;
  kernel.score[0] = FewScore<float>;
  kernel.score[1] = FewScore<core::F16>;
  kernel.score[2] = FewScore<core::BF16>;
  kernel.softmax = FewSoftmax;
  kernel.value[0] = FewValue<float>;
  kernel.value[1] = FewValue<core::F16>;
  kernel.value[2] = FewValue<core::BF16>;
  kernel.finite = FewFinite;
  kernel.merge = FewMerge;
  kernel.weights = FewWeights;
  return kernel;
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(FewKernels);

FewKernel FewKernelFor(int64_t target) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(FewKernels), target)();
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
