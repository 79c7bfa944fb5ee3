// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <type_traits>

#include "lanewise/attention.h"
#include "src/core/tensor_check.h"
#include "src/parallel/float_modes.h"

namespace lanewise {
namespace {

constexpr double kNoKeys = -std::numeric_limits<double>::infinity();

template <typename Void>
auto* RowOf(const BasicTensor<Void>& tensor, const Sizes& row) {
  using Element = std::conditional_t<std::is_const_v<Void>, const float, float>;
  return static_cast<Element*>(tensor.data) + row[0] * tensor.strides[0] +
         row[1] * tensor.strides[1] + row[2] * tensor.strides[2];
}

Status Check(const AttentionPart* parts, int64_t part_count, const Tensor& out, const Tensor& lse) {
  if (part_count < 1 || parts == nullptr) {
    return Status::InvalidArgument(
        fmt::format("parts: found {}, expected at least 1", parts == nullptr ? 0 : part_count));
  }
  if (Status s = core::CheckSizes("out", out.sizes); !s.ok()) return s;
  const Sizes rows = {out.sizes[0], out.sizes[1], out.sizes[2], 1};
  if (Status s = core::CheckOutput("out", out, DataType::kF32, out.sizes); !s.ok()) return s;
  if (lse.data != nullptr) {
    if (Status s = core::CheckOutput("lse", lse, DataType::kF32, rows); !s.ok()) return s;
  }
  for (int64_t p = 0; p < part_count; ++p) {
    const std::string name = fmt::format("parts[{}]", p);
    if (Status s = core::CheckInput(name + ".out", parts[p].out, DataType::kF32, out.sizes);
        !s.ok()) {
      return s;
    }
    if (Status s = core::CheckInput(name + ".lse", parts[p].lse, DataType::kF32, rows); !s.ok()) {
      return s;
    }
  }
  return {};
}

// The parts' log-sum-exps of one row: their maximum, and Σ_p exp(lse_p - largest). Kept apart
// because beside a large maximum the logarithm of the sum would be lost.
struct RowSums {
  double largest = kNoKeys;
  double sum = 0;

  double lse() const { return largest == kNoKeys ? kNoKeys : largest + std::log(sum); }
  double WeightOf(double part_lse) const { return std::exp(part_lse - largest) / sum; }
};

RowSums SumRow(const AttentionPart* parts, int64_t part_count, const Sizes& row) {
  RowSums sums;
  for (int64_t p = 0; p < part_count; ++p) {
    const double lse = *RowOf(parts[p].lse, row);
    if (std::isnan(lse)) return {lse, lse};
    sums.largest = std::max(sums.largest, lse);
  }
  if (sums.largest == kNoKeys) return sums;
  for (int64_t p = 0; p < part_count; ++p) {
    sums.sum += std::exp(*RowOf(parts[p].lse, row) - sums.largest);
  }
  return sums;
}

void MergeRow(const AttentionPart* parts, int64_t part_count, const Tensor& out,
              const RowSums& sums, const Sizes& row) {
  constexpr int64_t kChunk = 64;
  float* merged = RowOf(out, row);  // [value_dim]
  for (int64_t first = 0; first < out.sizes[3]; first += kChunk) {
    const int64_t count = std::min(kChunk, out.sizes[3] - first);
    double sum[kChunk] = {};
    for (int64_t p = 0; p < part_count; ++p) {
      const double part_lse = *RowOf(parts[p].lse, row);
      if (part_lse == kNoKeys) continue;
      const double weight = sums.WeightOf(part_lse);
      const float* part = RowOf(parts[p].out, row) + first;
      for (int64_t c = 0; c < count; ++c) sum[c] += weight * static_cast<double>(part[c]);
    }
    for (int64_t c = 0; c < count; ++c) merged[first + c] = static_cast<float>(sum[c]);
  }
}

}  // namespace

Status MergeAttention(const AttentionPart* parts, int64_t part_count, const Tensor& out,
                      const Tensor& lse) noexcept {
  try {
    if (Status s = Check(parts, part_count, out, lse); !s.ok()) return s;
  } catch (const std::bad_alloc&) {  // only messages allocate
    return Status::OutOfMemory();
  }
  const parallel::DefaultFloatModes modes;
  Sizes row = {0, 0, 0, 0};
  for (row[0] = 0; row[0] < out.sizes[0]; ++row[0]) {
    for (row[1] = 0; row[1] < out.sizes[1]; ++row[1]) {
      for (row[2] = 0; row[2] < out.sizes[2]; ++row[2]) {
        const RowSums sums = SumRow(parts, part_count, row);
        MergeRow(parts, part_count, out, sums, row);
        if (lse.data != nullptr) *RowOf(lse, row) = static_cast<float>(sums.lse());
      }
    }
  }
  return {};
}

}  // namespace lanewise
