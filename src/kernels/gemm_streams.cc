// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Products of few rows, per target.

#include "src/kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/gemm_streams.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/core/half.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/gemm_streams-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

GemmStreams ProductStreams(DataType type) {
  if (type == DataType::kF16) {
    return {&Rows<core::F16>, &Panels<core::F16>, &Dots<core::F16>, &Finish};
  }
  if (type == DataType::kBF16) {
    return {&Rows<core::BF16>, &Panels<core::BF16>, &Dots<core::BF16>, &Finish};
  }
  return {&Rows<float>, &Panels<float>, &Dots<float>, &Finish};
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(ProductStreams);

GemmStreams GemmStreamsFor(int64_t target, DataType b_type) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(ProductStreams), target)(b_type);
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
