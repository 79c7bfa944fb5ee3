// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How wide the panels of a packed B are.

#if defined(LANEWISE_SRC_KERNELS_GEMM_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_GEMM_PANEL_INL_H_
#undef LANEWISE_SRC_KERNELS_GEMM_PANEL_INL_H_
#else
#define LANEWISE_SRC_KERNELS_GEMM_PANEL_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// Vectors of a row of a panel: those of the target's first register tile.
#if HWY_TARGET == HWY_AVX2
inline constexpr size_t kPanelVectors = 3;
#else
inline constexpr size_t kPanelVectors = 2;
#endif

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_GEMM_PANEL_INL_H_
