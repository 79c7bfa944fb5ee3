// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The register tiles of matrix products, per target. Adding one is one line.

#include "src/kernels/gemm.h"

#include <cstddef>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/gemm-inl.h"
#include "src/kernels/gemm_panel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// The first tile of the target.
template <size_t MR, size_t NV>
GemmKernel MakeFirstKernel(const char* tile) {
  static_assert(NV == kPanelVectors);
  return MakeGemmKernel<MR, NV>(tile);
}

std::vector<GemmKernel> ProductKernels() {
#if HWY_TARGET == HWY_AVX3
  return {MakeFirstKernel<8, 2>("8x2v"), MakeGemmKernel<4, 4>("4x4v")};
#elif HWY_TARGET == HWY_AVX2
  return {MakeFirstKernel<4, 3>("4x3v"), MakeGemmKernel<6, 2>("6x2v")};
#elif HWY_TARGET == HWY_NEON
  return {MakeFirstKernel<8, 2>("8x2v")};
#else
  return {MakeFirstKernel<4, 2>("4x2v")};
#endif
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(ProductKernels);

std::vector<GemmKernel> GemmKernels(int64_t target) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(ProductKernels), target)();
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
