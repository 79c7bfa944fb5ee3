// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Parts of arrays and of cases: the same rows computed in other company.

#ifndef LANEWISE_TESTS_SUPPORT_SLICES_H_
#define LANEWISE_TESTS_SUPPORT_SLICES_H_

#include <cstdint>
#include <vector>

#include "tests/support/attention_case.h"

namespace lanewise::testing {

// begin <= i < end
struct Range {
  int64_t begin;
  int64_t end;
};

// The given part of each axis of a row-major array; axes of size 1, which broadcast, stay whole.
template <typename T>
std::vector<T> Slice(const std::vector<T>& values, const Sizes& sizes, const Range (&parts)[4]) {
  std::vector<T> slice;
  const Sizes strides = DenseStrides(sizes);
  const auto part = [&](size_t axis) { return sizes[axis] == 1 ? Range{0, 1} : parts[axis]; };
  for (int64_t a = part(0).begin; a < part(0).end; ++a) {
    for (int64_t b = part(1).begin; b < part(1).end; ++b) {
      for (int64_t c = part(2).begin; c < part(2).end; ++c) {
        const auto row = values.begin() + a * strides[0] + b * strides[1] + c * strides[2];
        slice.insert(slice.end(), row + part(3).begin, row + part(3).end);
      }
    }
  }
  return slice;
}

// Some queries of some heads of some batch items of a case. Heads are either one or all.
struct CasePart {
  Range items;
  Range heads;
  Range queries;
};

// The case that computes `part` of `whole` alone. Its data must be given, and its positions must be
// the same for all items: no kv_len, or one item.
AttentionCase PartOf(const AttentionCase& whole, const CasePart& part);

// What `run`, of `whole`, says about `part`.
AttentionRun PartOf(const AttentionRun& run, const AttentionCase& whole, const CasePart& part);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_SLICES_H_
