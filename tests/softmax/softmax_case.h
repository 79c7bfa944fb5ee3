// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Calls of softmax and log-sum-exp on guarded arrays, compared with the reference.

#ifndef LANEWISE_TESTS_SOFTMAX_SOFTMAX_CASE_H_
#define LANEWISE_TESTS_SOFTMAX_SOFTMAX_CASE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/softmax.h"
#include "src/reference/softmax.h"
#include "src/reference/tolerance.h"
#include "tests/support/array.h"
#include "tests/support/mentions.h"
#include "tests/support/paths.h"

namespace lanewise::testing {

struct SoftmaxCase {
  Sizes sizes = {1, 1, 1, 0};
  std::vector<float> in;
  DataType in_type = DataType::kF32;
  DataType out_type = DataType::kF32;
  StrideRule in_strides = DenseStrides;
  StrideRule out_strides = DenseStrides;
  float scale = 1;
  Sizes mask_sizes = {0, 0, 0, 0};  // none
  std::vector<uint8_t> mask = {};
};

// The arrays of a case; outputs are unwritten at first.
class PreparedSoftmax {
 public:
  explicit PreparedSoftmax(const SoftmaxCase& c)
      : case_(c),
        in_(c.sizes, c.in_strides, {}, c.in_type),
        out_(c.sizes, c.out_strides, {}, c.out_type),
        lse_({c.sizes[0], c.sizes[1], c.sizes[2], 1}, PaddedStrides, {}) {
    in_.Set(c.in);
    options_.scale = c.scale;
    if (c.mask_sizes == Sizes{0, 0, 0, 0}) return;
    mask_.emplace(c.mask_sizes, PaddedStrides, Placement{});
    mask_->Set(c.mask);
    options_.mask = std::as_const(*mask_).view();
  }

  Status RunSoftmax(const Runtime& runtime) {
    return Softmax(in_.view(), out_.view(), options_, runtime);
  }
  Status RunInPlace(const Runtime& runtime) {
    return Softmax(in_.view(), in_.view(), options_, runtime);
  }
  Status RunLogSumExp(const Runtime& runtime) {
    return LogSumExp(in_.view(), lse_.view(), options_, runtime);
  }

  reference::SoftmaxResult Expected() const {
    return reference::Softmax(in_.view(), options_, case_.out_type);
  }
  const Array& in() const { return in_; }
  const Array& out() const { return out_; }
  const Array& lse() const { return lse_; }

 private:
  SoftmaxCase case_;
  Array in_;
  Array out_;
  Array lse_;
  std::optional<MaskArray> mask_;
  SoftmaxOptions options_;
};

inline Runtime OneThread(const std::string& target = "") {
  return {.threads = 1, .target = target, .note = ""};
}

inline void ExpectNear(const Array& actual, const std::vector<double>& expected,
                       const std::vector<double>& tolerance, const std::string& where) {
  const auto comparison = reference::Compare(actual.view(), expected, tolerance);
  EXPECT_TRUE(comparison.ok()) << where << ": " << reference::Describe(comparison.worst);
  EXPECT_TRUE(actual.IsPaddingIntact()) << where;
}

// Softmax to another array, in place where types allow it, and log-sum-exp, on every target.
inline void ExpectMatchesReference(const SoftmaxCase& c) {
  for (const std::string& target : TestedTargets()) {
    const std::string where = target + ", columns " + std::to_string(c.sizes[3]) + ", " +
                              std::string(DataTypeName(c.in_type)) + " to " +
                              std::string(DataTypeName(c.out_type));
    PreparedSoftmax prepared(c);
    const reference::SoftmaxResult expected = prepared.Expected();
    ASSERT_TRUE(prepared.RunSoftmax(OneThread(target)).ok()) << where;
    ExpectNear(prepared.out(), expected.out, expected.out_tolerance, where);
    ASSERT_TRUE(prepared.RunLogSumExp(OneThread(target)).ok()) << where;
    ExpectNear(prepared.lse(), expected.lse, expected.lse_tolerance, where + ", lse");
    if (c.in_type != c.out_type || c.in_strides == SharedRowStrides) continue;
    ASSERT_TRUE(prepared.RunInPlace(OneThread(target)).ok()) << where;
    ExpectNear(prepared.in(), expected.out, expected.out_tolerance, where + ", in place");
  }
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SOFTMAX_SOFTMAX_CASE_H_
