// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Each mistake is an error that names the argument, what was found and what was expected, and
// leaves the output alone.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lanewise/softmax.h"
#include "tests/softmax/softmax_case.h"

namespace lanewise::testing {
namespace {

class SoftmaxErrors : public ::testing::Test {
 protected:
  // `out` is filled before each call and must be untouched by a failing one.
  void ExpectError(const std::vector<std::string>& words, const ConstTensor& in, const Tensor& out,
                   const SoftmaxOptions& options = {}, const Runtime& runtime = OneThread()) {
    EXPECT_THAT(Softmax(in, out, options, runtime), IsInvalid(words));
    for (const float v : out_) EXPECT_EQ(v, 7);
  }

  std::vector<float> in_ = std::vector<float>(24, 1);
  std::vector<float> out_ = std::vector<float>(24, 7);
  Tensor in_view_ = {in_.data(), {1, 2, 3, 4}};
  Tensor out_view_ = {out_.data(), {1, 2, 3, 4}};
};

TEST_F(SoftmaxErrors, Arrays) {
  ExpectError({"in", "null"}, Tensor(static_cast<float*>(nullptr), {1, 2, 3, 4}), out_view_);
  ExpectError({"out", "null"}, in_view_, Tensor(static_cast<float*>(nullptr), {1, 2, 3, 4}));
  ExpectError({"out", "5", "4"}, in_view_, Tensor(out_.data(), {1, 2, 3, 5}));
  ExpectError({"in", "-1"}, Tensor(in_.data(), {1, 2, 3, -1}), out_view_);
  ExpectError({"in", "last", "stride", "2", "1"}, Tensor(in_.data(), {1, 2, 3, 4}, {0, 0, 0, 2}),
              out_view_);
  ExpectError({"out", "overlap"}, in_view_, Tensor(out_.data(), {1, 2, 3, 4}, {0, 0, 4, 1}));
  const int64_t huge = int64_t{1} << 40;
  ExpectError({"in", "overflows"}, Tensor(in_.data(), {huge, huge, 1, 4}), out_view_);
}

TEST_F(SoftmaxErrors, Types) {
  Tensor mask = in_view_;
  mask.type = DataType::kBool;
  ExpectError({"in", "bool", "f32", "f16", "bf16"}, mask, out_view_);
  mask = out_view_;
  mask.type = DataType::kBool;
  ExpectError({"out", "bool", "f32", "f16", "bf16"}, in_view_, mask);
}

TEST_F(SoftmaxErrors, Numbers) {
  for (const float scale : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    SoftmaxOptions options;
    options.scale = scale;
    ExpectError({"scale", "finite"}, in_view_, out_view_, options);
  }
  Runtime runtime = OneThread();
  runtime.threads = -1;
  ExpectError({"threads", "1"}, in_view_, out_view_, {}, runtime);
  ExpectError({"target", "AVX9"}, in_view_, out_view_, {}, OneThread("AVX9"));
}

TEST_F(SoftmaxErrors, Masks) {
  std::vector<unsigned char> bytes(24, 1);
  SoftmaxOptions options;
  options.mask = {bytes.data(), DataType::kBool, {1, 2, 3, 3}};
  ExpectError({"mask", "3", "4", "1"}, in_view_, out_view_, options);
  options.mask = {bytes.data(), DataType::kF32, {1, 1, 1, 4}};
  ExpectError({"mask", "f32", "bool"}, in_view_, out_view_, options);
  options.mask = {nullptr, DataType::kBool, {1, 2, 3, 4}};
  ExpectError({"mask", "null"}, in_view_, out_view_, options);
  options.mask = {out_.data(), DataType::kBool, {1, 2, 3, 4}};
  ExpectError({"out", "mask", "own"}, in_view_, out_view_, options);
}

TEST_F(SoftmaxErrors, OutputThatOverlapsButIsNotInPlace) {
  const Tensor from(out_.data(), {1, 1, 1, 12});
  ExpectError({"out", "in", "own"}, from, Tensor(out_.data() + 1, {1, 1, 1, 12}));
  // The same first element, but other strides or another type.
  ExpectError({"out", "in", "own"}, Tensor(out_.data(), {1, 1, 2, 4}, {0, 0, 8, 1}),
              Tensor(out_.data(), {1, 1, 2, 4}));
  ExpectError({"out", "in", "own"}, from, Tensor(out_.data(), DataType::kF16, {1, 1, 1, 12}));
}

TEST_F(SoftmaxErrors, LogSumExpToTheWrongArray) {
  EXPECT_THAT(LogSumExp(in_view_, out_view_), IsInvalid({"out", "4", "1"}));
  EXPECT_THAT(LogSumExp(in_view_, Tensor(out_.data(), DataType::kF16, {1, 2, 3, 1})),
              IsInvalid({"out", "f16", "f32"}));
  EXPECT_THAT(LogSumExp(in_view_, Tensor(in_.data(), {1, 2, 3, 1})),
              IsInvalid({"out", "in", "own"}));
  for (const float v : out_) EXPECT_EQ(v, 7);
}

}  // namespace
}  // namespace lanewise::testing
