// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The register tiles of the `lanes` variant, per target. Adding one is one line.

#include "src/kernels/lanes.h"

#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/lanes.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

std::vector<LanesKernel> Kernels() {
#if HWY_TARGET == HWY_AVX3
  return {MakeLanesKernel<4, 4>("4x4v", 1.0), MakeLanesKernel<8, 2>("8x2v", 1.005),
          MakeLanesKernel<8, 1>("8x1v", 1.1), MakeLanesKernel<16, 1>("16x1v", 1.04)};
#elif HWY_TARGET == HWY_AVX2
  return {MakeLanesKernel<4, 3>("4x3v", 1.0), MakeLanesKernel<6, 2>("6x2v", 1.01),
          MakeLanesKernel<8, 1>("8x1v", 1.25)};
#elif HWY_TARGET == HWY_NEON
  return {MakeLanesKernel<8, 2>("8x2v", 1.0), MakeLanesKernel<8, 1>("8x1v", 1.1)};
#else
  return {MakeLanesKernel<4, 2>("4x2v", 1.0), MakeLanesKernel<4, 1>("4x1v", 1.2)};
#endif
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(Kernels);

std::vector<LanesKernel> LanesKernels(int64_t target) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(Kernels), target)();
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
