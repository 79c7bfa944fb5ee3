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
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return {MakeLanesKernel<4, 4>("4x4v"), MakeLanesKernel<8, 3>("8x3v"),
          MakeLanesKernel<8, 2>("8x2v"), MakeLanesKernel<16, 1>("16x1v"),
          MakeLanesKernel<8, 1>("8x1v")};
#elif HWY_TARGET == HWY_AVX2
  return {MakeLanesKernel<4, 3>("4x3v"), MakeLanesKernel<6, 2>("6x2v"),
          MakeLanesKernel<4, 2>("4x2v"), MakeLanesKernel<8, 1>("8x1v")};
#elif HWY_TARGET == HWY_NEON
  return {MakeLanesKernel<8, 3>("8x3v"), MakeLanesKernel<8, 2>("8x2v"),
          MakeLanesKernel<8, 1>("8x1v")};
#else
  return {MakeLanesKernel<4, 2>("4x2v"), MakeLanesKernel<4, 1>("4x1v")};
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
