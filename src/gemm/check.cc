// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/gemm/check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "src/core/tensor_check.h"
#include "src/gemm/packed_matrix.h"
#include "src/machine/targets.h"

namespace lanewise::gemm {
namespace {

Sizes SizesOfA(const GemmShape& shape, const GemmOptions& options) {
  if (options.transpose_a) return {shape.batch, shape.heads, shape.depth, shape.rows};
  return {shape.batch, shape.heads, shape.rows, shape.depth};
}

Sizes SizesOfB(const GemmShape& shape, const GemmOptions& options) {
  if (options.transpose_b) return {shape.batch, shape.heads, shape.columns, shape.depth};
  return {shape.batch, shape.heads, shape.depth, shape.columns};
}

Sizes SizesOfC(const GemmShape& shape) {
  return {shape.batch, shape.heads, shape.rows, shape.columns};
}

// Arrays whose option is off.
Status CheckUnwanted(const GemmOptions& options, const GemmTensors& tensors) {
  const struct {
    const char* name;
    const char* option;
    bool wanted;
    bool given;
  } arrays[] = {{"bias", "bias", options.bias, tensors.bias.data != nullptr},
                {"residual", "residual", options.residual, tensors.residual.data != nullptr},
                {"packed_b", "packed_b", options.packed_b, tensors.packed_b != nullptr}};
  for (const auto& array : arrays) {
    if (array.given && !array.wanted) {
      return Status::InvalidArgument(
          fmt::format("{}: found an array, expected none because the plan's option {} is off",
                      array.name, array.option));
    }
  }
  if (options.packed_b && tensors.b.data != nullptr) {
    return Status::InvalidArgument(
        "b: found an array, expected none because the plan's option packed_b is on");
  }
  return {};
}

Status CheckPacked(const GemmPlan::Decision& decision, const PackedMatrix* packed) {
  if (packed == nullptr || packed->layout() == nullptr) {
    return Status::InvalidArgument("packed_b: is null or empty, expected what PackB returned");
  }
  const GemmShape& shape = decision.shape;
  const PackedMatrix::Layout& layout = *packed->layout();
  if (layout.type != shape.b_type) {
    return Status::InvalidArgument(fmt::format("packed_b: found type {}, expected {}",
                                               DataTypeName(layout.type),
                                               DataTypeName(shape.b_type)));
  }
  if (layout.depth != shape.depth || layout.columns != shape.columns) {
    return Status::InvalidArgument(
        fmt::format("packed_b: found depth {} and {} columns, expected {} and {}", layout.depth,
                    layout.columns, shape.depth, shape.columns));
  }
  if ((layout.batch != shape.batch && layout.batch != 1) ||
      (layout.heads != shape.heads && layout.heads != 1)) {
    return Status::InvalidArgument(
        fmt::format("packed_b: found batch {} and {} heads, expected {} and {}, or 1", layout.batch,
                    layout.heads, shape.batch, shape.heads));
  }
  if (layout.target_id != decision.target_id) {
    return Status::InvalidArgument(fmt::format("packed_b: found target {}, expected {}",
                                               machine::TargetName(layout.target_id),
                                               decision.target));
  }
  if (layout.depth_block != decision.depth_block) {
    return Status::InvalidArgument(fmt::format("packed_b: found depth_block {}, expected {}",
                                               layout.depth_block, decision.depth_block));
  }
  return {};
}

Status CheckInputs(const GemmPlan::Decision& decision, const GemmTensors& tensors) {
  const GemmShape& shape = decision.shape;
  const GemmOptions& options = decision.options;
  if (Status s = core::CheckInput("a", tensors.a, shape.a_type, SizesOfA(shape, options)); !s.ok())
    return s;
  if (Status s = options.packed_b
                     ? CheckPacked(decision, tensors.packed_b)
                     : core::CheckInput("b", tensors.b, shape.b_type, SizesOfB(shape, options));
      !s.ok()) {
    return s;
  }
  if (options.bias) {
    if (Status s = core::CheckEntries("bias", tensors.bias, shape.columns); !s.ok()) return s;
  }
  if (!options.residual) return {};
  return core::CheckInput("residual", tensors.residual, shape.c_type, SizesOfC(shape));
}

bool IsSameArray(const Tensor& c, const ConstTensor& other) {
  return c.data == other.data && c.strides == other.strides;
}

Status CheckOutput(const GemmPlan::Decision& decision, const GemmTensors& tensors) {
  const Tensor& c = tensors.c;
  if (Status s = core::CheckOutput("c", c, decision.shape.c_type, SizesOfC(decision.shape));
      !s.ok()) {
    return s;
  }
  const bool in_place = decision.options.residual && IsSameArray(c, tensors.residual);
  const ConstTensor bias = core::BytesOf(tensors.bias);
  const struct {
    const char* name;
    const ConstTensor& tensor;
    bool read;
  } inputs[] = {{"a", tensors.a, true},
                {"b", tensors.b, !decision.options.packed_b},
                {"bias", bias, decision.options.bias},
                {"residual", tensors.residual, decision.options.residual && !in_place}};
  for (const auto& input : inputs) {
    if (!input.read || input.tensor.data == nullptr) continue;
    if (Status s = core::CheckApart("c", c, input.name, input.tensor); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status CheckRequest(const GemmShape& shape, const GemmOptions& options) {
  const struct {
    const char* name;
    int64_t size;
  } sizes[] = {{"batch", shape.batch},
               {"heads", shape.heads},
               {"rows", shape.rows},
               {"columns", shape.columns},
               {"depth", shape.depth}};
  for (const auto& size : sizes) {
    if (size.size < 0) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected at least 0", size.name, size.size));
    }
  }
  if (Status s = core::CheckSizes("a", SizesOfA(shape, options)); !s.ok()) return s;
  if (Status s = core::CheckSizes("b", SizesOfB(shape, options)); !s.ok()) return s;
  if (Status s = core::CheckSizes("c", SizesOfC(shape)); !s.ok()) return s;
  if (Status s = core::CheckNumberType("a_type", shape.a_type); !s.ok()) return s;
  if (Status s = core::CheckNumberType("b_type", shape.b_type); !s.ok()) return s;
  if (Status s = core::CheckNumberType("c_type", shape.c_type); !s.ok()) return s;
  const struct {
    const char* name;
    float value;
  } factors[] = {{"alpha", options.alpha}, {"beta", options.beta}};
  for (const auto& factor : factors) {
    if (!std::isfinite(factor.value)) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected a finite number", factor.name, factor.value));
    }
  }
  return {};
}

Status CheckTensors(const GemmPlan::Decision& decision, const GemmTensors& tensors) {
  if (Status s = CheckUnwanted(decision.options, tensors); !s.ok()) return s;
  if (Status s = CheckInputs(decision, tensors); !s.ok()) return s;
  return CheckOutput(decision, tensors);
}

}  // namespace lanewise::gemm
