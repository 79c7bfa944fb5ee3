// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Copies for matrix products, per target.

#include "src/kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/gemm_moves.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/core/half.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/gemm_moves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

template <class T>
GemmMoves MakeMoves() {
  return {&Pack<T>, &PackTransposed<T>, &Transpose<T>};
}

GemmMoves ProductMoves(DataType type) {
  if (type == DataType::kF16) return MakeMoves<core::F16>();
  if (type == DataType::kBF16) return MakeMoves<core::BF16>();
  return MakeMoves<float>();
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(ProductMoves);

GemmMoves GemmMovesFor(int64_t target, DataType type) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(ProductMoves), target)(type);
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
