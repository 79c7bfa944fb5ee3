// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/verify_array.h"

#include <algorithm>
#include <bit>

#include "src/kernels/convert.h"
#include "src/machine/targets.h"

namespace lanewise::tools {
namespace {

// NaNs that no arithmetic produces. The second is one as f16 and as bf16.
constexpr uint32_t kFloatMark = 0x7FC5A5A5;
constexpr uint16_t kHalfMark = 0x7FE5;

}  // namespace

Sizes StridesOf(const Sizes& sizes, Layout layout) {
  switch (layout) {
    case Layout::kDense:
      break;
    case Layout::kPadded: {
      const int64_t row = sizes[3] + 3;
      const int64_t head = sizes[2] * row + 5;
      return {sizes[1] * head + 7, head, row, 1};
    }
    case Layout::kPacked:
      return {sizes[2] * sizes[1] * sizes[3], sizes[3], sizes[1] * sizes[3], 1};
    case Layout::kShared:
      return {sizes[2] * sizes[3], 0, sizes[3], 1};
  }
  return DenseStrides(sizes);
}

VerifyArray::VerifyArray(const Sizes& sizes, Layout layout, DataType type)
    : sizes_(sizes), strides_(StridesOf(sizes, layout)), type_(type) {
  size_t end = 0;
  ForEachOffset(sizes_, strides_, [&end](size_t at) { end = std::max(end, at + 1); });
  constexpr size_t kGapBehind = 32;
  floats_.resize(end + kGapBehind);
  if (type_ != DataType::kF32) halves_.resize(floats_.size());
  covered_.resize(floats_.size());
  ForEachOffset(sizes_, strides_, [this](size_t at) { covered_[at] = true; });
  Clear();
}

Tensor VerifyArray::view() noexcept {
  if (type_ == DataType::kF32) return floats();
  return {halves_.data(), type_, sizes_, strides_};
}

ConstTensor VerifyArray::view() const noexcept {
  if (type_ == DataType::kF32) return {floats_.data(), sizes_, strides_};
  return {halves_.data(), type_, sizes_, strides_};
}

float& VerifyArray::At(int64_t a, int64_t b, int64_t c, int64_t d) noexcept {
  return floats_[static_cast<size_t>(a * strides_[0] + b * strides_[1] + c * strides_[2] + d)];
}

void VerifyArray::Round() {
  if (type_ == DataType::kF32) return;
  const int64_t best = *machine::FindTarget("");
  const auto count = static_cast<int64_t>(floats_.size());
  kernels::ConvertRowsFor(best, DataType::kF32,
                          type_)({floats_.data(), count, halves_.data(), count, 1, floats_.size()});
}

void VerifyArray::Clear() {
  std::fill(floats_.begin(), floats_.end(), std::bit_cast<float>(kFloatMark));
  std::fill(halves_.begin(), halves_.end(), kHalfMark);
}

bool VerifyArray::GapsIntact() const {
  for (size_t at = 0; at < covered_.size(); ++at) {
    if (covered_[at]) continue;
    const bool marked = type_ == DataType::kF32 ? std::bit_cast<uint32_t>(floats_[at]) == kFloatMark
                                                : halves_[at] == kHalfMark;
    if (!marked) return false;
  }
  return true;
}

}  // namespace lanewise::tools
