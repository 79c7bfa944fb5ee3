// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/softmax/check.h"

#include <fmt/format.h>

#include <cmath>

#include "src/core/tensor_check.h"

namespace lanewise::softmax {
namespace {

bool IsAbsent(const ConstTensor& mask) {
  return mask.data == nullptr && mask.sizes == ConstTensor().sizes;
}

Status CheckMask(const ConstTensor& mask, const Sizes& sizes) {
  if (IsAbsent(mask)) return {};
  for (size_t axis = 0; axis < 4; ++axis) {
    if (mask.sizes[axis] != sizes[axis] && mask.sizes[axis] != 1) {
      return Status::InvalidArgument(
          fmt::format("mask: sizes are {}, expected those of in, {}, or 1",
                      core::SizesText(mask.sizes), core::SizesText(sizes)));
    }
  }
  return core::CheckInput("mask", mask, DataType::kBool, mask.sizes);
}

Status CheckInputs(const ConstTensor& in, const SoftmaxOptions& options) {
  if (Status s = core::CheckNumberType("in", in.type); !s.ok()) return s;
  if (Status s = core::CheckSizes("in", in.sizes); !s.ok()) return s;
  if (Status s = core::CheckInput("in", in, in.type, in.sizes); !s.ok()) return s;
  if (Status s = CheckMask(options.mask, in.sizes); !s.ok()) return s;
  if (std::isfinite(options.scale)) return {};
  return Status::InvalidArgument(
      fmt::format("scale: found {}, expected a finite number", options.scale));
}

// Whether every element of `out` is that of `in`.
bool IsInPlace(const ConstTensor& in, const Tensor& out) {
  if (in.data != out.data || in.type != out.type) return false;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (in.sizes[axis] > 1 && in.strides[axis] != out.strides[axis]) return false;
  }
  return true;
}

}  // namespace

Status CheckSoftmax(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options) {
  if (Status s = CheckInputs(in, options); !s.ok()) return s;
  if (Status s = core::CheckNumberType("out", out.type); !s.ok()) return s;
  if (Status s = core::CheckOutput("out", out, out.type, in.sizes); !s.ok()) return s;
  if (!IsInPlace(in, out)) {
    if (Status s = core::CheckApart("out", out, "in", in); !s.ok()) return s;
  }
  return core::CheckApart("out", out, "mask", options.mask);
}

Status CheckLogSumExp(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options) {
  if (Status s = CheckInputs(in, options); !s.ok()) return s;
  const Sizes sizes = {in.sizes[0], in.sizes[1], in.sizes[2], 1};
  if (Status s = core::CheckOutput("out", out, DataType::kF32, sizes); !s.ok()) return s;
  if (Status s = core::CheckApart("out", out, "in", in); !s.ok()) return s;
  return core::CheckApart("out", out, "mask", options.mask);
}

}  // namespace lanewise::softmax
