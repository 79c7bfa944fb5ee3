// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/core/tensor_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"

namespace lanewise::core {
namespace {

bool IsEmpty(const Sizes& sizes) { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }

int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

using Axis = std::pair<int64_t, int64_t>;  // |stride|, size

// Addresses of the first byte and of the byte after the last.
std::pair<uintptr_t, uintptr_t> Extent(const ConstTensor& tensor) {
  uintptr_t first = reinterpret_cast<uintptr_t>(tensor.data);
  uintptr_t last = first;
  const int64_t bytes = ElementBytes(tensor.type);
  for (size_t axis = 0; axis < 4; ++axis) {
    const int64_t reach = (tensor.sizes[axis] - 1) * tensor.strides[axis] * bytes;
    (reach < 0 ? first : last) += static_cast<uintptr_t>(reach);
  }
  return {first, last + static_cast<uintptr_t>(bytes)};
}

// Distance from the first to the last element, or nothing if it overflows.
std::optional<int64_t> Span(const ConstTensor& tensor) {
  int64_t span = 0;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (tensor.strides[axis] == INT64_MIN) return std::nullopt;
    const auto reach =
        CheckedProduct({tensor.sizes[axis] - 1, Magnitude(tensor.strides[axis]), int64_t{4}});
    const auto sum = reach ? CheckedSum({span, *reach}) : std::nullopt;
    if (!sum) return std::nullopt;
    span = *sum;
  }
  return span;
}

}  // namespace

std::string SizesText(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

Status CheckNumberType(std::string_view name, DataType type) {
  if (type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16) return {};
  return Status::InvalidArgument(
      fmt::format("{}: found {}, expected f32, f16 or bf16", name, DataTypeName(type)));
}

Status CheckSizes(std::string_view name, const Sizes& sizes) {
  if (*std::min_element(sizes.begin(), sizes.end()) < 0) {
    return Status::InvalidArgument(
        fmt::format("{}: sizes are {}, expected none below 0", name, SizesText(sizes)));
  }
  if (!CheckedProduct({sizes[0], sizes[1], sizes[2], sizes[3], 4})) {
    return Status::InvalidArgument(fmt::format(
        "{}: the product of sizes {} overflows 64 bits, expected less", name, SizesText(sizes)));
  }
  return {};
}

Status CheckInput(std::string_view name, const ConstTensor& tensor, DataType type,
                  const Sizes& sizes) {
  if (tensor.type != type) {
    return Status::InvalidArgument(fmt::format("{}: type is {}, expected {}", name,
                                               DataTypeName(tensor.type), DataTypeName(type)));
  }
  if (tensor.sizes != sizes) {
    return Status::InvalidArgument(fmt::format("{}: sizes are {}, expected {}", name,
                                               SizesText(tensor.sizes), SizesText(sizes)));
  }
  if (IsEmpty(sizes)) return {};
  if (tensor.data == nullptr) {
    return Status::InvalidArgument(
        fmt::format("{}: data is null, expected an array of sizes {}", name, SizesText(sizes)));
  }
  if (sizes[3] > 1 && tensor.strides[3] != 1) {
    return Status::InvalidArgument(
        fmt::format("{}: last stride is {}, expected 1", name, tensor.strides[3]));
  }
  if (!Span(tensor)) {
    return Status::InvalidArgument(
        fmt::format("{}: sizes {} with strides {} reach beyond 64 bits, expected an array that "
                    "memory can hold",
                    name, SizesText(sizes), SizesText(tensor.strides)));
  }
  return {};
}

Status CheckOutput(std::string_view name, const Tensor& tensor, DataType type, const Sizes& sizes) {
  if (Status status = CheckInput(name, tensor, type, sizes); !status.ok()) return status;
  if (IsEmpty(sizes)) return {};
  std::array<Axis, 4> axes;
  for (size_t axis = 0; axis < 4; ++axis) {
    axes[axis] = {Magnitude(tensor.strides[axis]), sizes[axis]};
  }
  std::sort(axes.begin(), axes.end());
  int64_t span = 0;
  for (const auto& [stride, size] : axes) {
    if (size == 1) continue;
    if (stride <= span) {
      return Status::InvalidArgument(
          fmt::format("{}: strides {} make elements of sizes {} overlap, expected each stride to "
                      "exceed the span of the smaller ones: found {}, expected more than {}",
                      name, SizesText(tensor.strides), SizesText(sizes), stride, span));
    }
    span += stride * (size - 1);
  }
  return {};
}

Status CheckApart(std::string_view output_name, const Tensor& output, std::string_view other_name,
                  const ConstTensor& other) {
  if (IsEmpty(output.sizes) || IsEmpty(other.sizes)) return {};
  const auto [first, end] = Extent(output);
  const auto [other_first, other_end] = Extent(other);
  if (end <= other_first || other_end <= first) return {};
  return Status::InvalidArgument(
      fmt::format("{}: its memory [{:#x}, {:#x}) meets that of {}, [{:#x}, {:#x}), expected memory "
                  "of its own",
                  output_name, first, end, other_name, other_first, other_end));
}

Status CheckEntries(std::string_view name, const void* data, int64_t found, int64_t expected) {
  if (found != expected) {
    return Status::InvalidArgument(
        fmt::format("{}: found {} entries, expected {}", name, found, expected));
  }
  if (data == nullptr && expected > 0) {
    return Status::InvalidArgument(
        fmt::format("{}: data is null, expected {} entries", name, expected));
  }
  return {};
}

}  // namespace lanewise::core
