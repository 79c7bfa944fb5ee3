// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Errors about score functions and their parameters: each names the argument and what was found,
// and writes nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/attention/overrides.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 42.0F;

struct Request {
  AttentionShape shape = {.queries = 3, .keys = 5, .dim = 6, .value_dim = 7};
  AttentionOptions options = {};
};

Request Bilinear() {
  Request request;
  request.options.score = AttentionScore::kBilinear;
  request.shape.key_dim = 4;
  return request;
}

Request Gaussian() {
  Request request;
  request.options.score = AttentionScore::kGaussian;
  request.options.bandwidth = 1.5F;
  return request;
}

Request Additive() {
  Request request;
  request.options.score = AttentionScore::kAdditive;
  request.options.wq = request.options.wk = true;
  request.shape.key_dim = 4;
  request.shape.hidden = 8;
  return request;
}

Status PlanStatus(const Request& request) {
  return PlanAttention(request.shape, request.options).status();
}

TEST(ScoreErrors, RightRequestsArePlanned) {
  for (const Request& request : {Request(), Bilinear(), Gaussian(), Additive()}) {
    EXPECT_TRUE(PlanStatus(request).ok()) << PlanStatus(request).message();
  }
}

TEST(ScoreErrors, UnknownScore) {
  Request request;
  request.options.score = static_cast<AttentionScore>(17);
  EXPECT_THAT(PlanStatus(request), IsInvalid({"score", "17"}));
}

TEST(ScoreErrors, Bandwidth) {
  Request request = Gaussian();
  request.options.bandwidth.reset();
  EXPECT_THAT(PlanStatus(request), IsInvalid({"bandwidth", "gaussian"}));
  for (const float bandwidth : {0.0F, -1.0F, kInf, -kInf, kNan, 1e-30F, 5e-20F}) {
    request.options.bandwidth = bandwidth;
    EXPECT_THAT(PlanStatus(request), IsInvalid({"bandwidth", "finite"})) << bandwidth;
  }
  for (Request other : {Request(), Bilinear(), Additive()}) {
    other.options.bandwidth = 1.0F;
    EXPECT_THAT(PlanStatus(other), IsInvalid({"bandwidth", "score"}));
  }
}

TEST(ScoreErrors, ScaleOfGaussianScores) {
  Request request = Gaussian();
  request.options.scale = 1.0F;
  EXPECT_THAT(PlanStatus(request), IsInvalid({"scale", "gaussian"}));
}

TEST(ScoreErrors, PartsOfOtherScores) {
  for (const Request& request : {Request(), Bilinear(), Gaussian()}) {
    Request with_wq = request;
    with_wq.options.wq = true;
    EXPECT_THAT(PlanStatus(with_wq), IsInvalid({"wq"}));
    Request with_wk = request;
    with_wk.options.wk = true;
    EXPECT_THAT(PlanStatus(with_wk), IsInvalid({"wk"}));
    Request with_hidden = request;
    with_hidden.shape.hidden = 6;
    EXPECT_THAT(PlanStatus(with_hidden), IsInvalid({"hidden"}));
  }
}

TEST(ScoreErrors, SizesThatDoNotMeet) {
  for (Request request : {Request(), Gaussian()}) {
    request.shape.key_dim = 4;
    EXPECT_THAT(PlanStatus(request), IsInvalid({"key_dim", "4", "6"}));
  }
  Request request = Additive();
  request.options.wq = false;
  EXPECT_THAT(PlanStatus(request), IsInvalid({"hidden", "8", "6"}));
  request = Additive();
  request.options.wk = false;
  EXPECT_THAT(PlanStatus(request), IsInvalid({"key_dim", "4", "8"}));
  for (int64_t AttentionShape::*size : {&AttentionShape::key_dim, &AttentionShape::hidden}) {
    request = Additive();
    request.shape.*size = -1;
    EXPECT_THAT(PlanStatus(request), IsInvalid({"found"}));
    request.shape.*size = int64_t{1} << 61;
    EXPECT_THAT(PlanStatus(request), IsInvalid({"overflows"}));
  }
}

TEST(ScoreErrors, FewTakesDotProductsOnly) {
  for (const Request& request : {Bilinear(), Gaussian(), Additive()}) {
    attention::PlanOverrides overrides;
    overrides.variant = "few";
    EXPECT_THAT(
        attention::PlanAttentionWith(request.shape, request.options, DefaultRuntime(), overrides)
            .status(),
        IsInvalid({"variant", "few", "score"}));
  }
}

// The arrays of a request, right at first.
class ScoreArrayErrors : public ::testing::Test {
 protected:
  ScoreArrayErrors() : numbers_(Gen(1, 200)), written_(Repeat(kUntouched, 21)) {}

  void Use(const Request& request) {
    request_ = request;
    const AttentionShape& shape = request.shape;
    const int64_t key_dim = shape.key_dim == 0 ? shape.dim : shape.key_dim;
    tensors_ = {};
    tensors_.q = ConstTensor(numbers_.data(), {1, 1, 3, shape.dim});
    tensors_.k = ConstTensor(numbers_.data(), {1, 1, 5, key_dim});
    tensors_.v = ConstTensor(numbers_.data(), {1, 1, 5, 7});
    tensors_.out = Tensor(written_.data(), {1, 1, 3, 7});
    if (request.options.score == AttentionScore::kBilinear) tensors_.w = Matrix(6, 4);
    if (request.options.wq) tensors_.wq = Matrix(8, 6);
    if (request.options.wk) tensors_.wk = Matrix(8, 4);
    if (request.options.score == AttentionScore::kAdditive) tensors_.w_out = {numbers_.data(), 8};
  }

  ConstTensor Matrix(int64_t rows, int64_t columns) const {
    return ConstTensor(numbers_.data(), {1, 1, rows, columns});
  }

  Status Run() {
    const Result<AttentionPlan> plan = PlanAttention(request_.shape, request_.options);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    Workspace workspace(plan->workspace_bytes());
    return plan->Run(tensors_, workspace);
  }

  void ExpectRefused(const std::vector<std::string>& words) {
    EXPECT_THAT(Run(), IsInvalid(words));
    EXPECT_EQ(written_, Repeat(kUntouched, 21));
  }

  std::vector<float> numbers_;
  std::vector<float> written_;
  AttentionTensors tensors_;
  Request request_;
};

TEST_F(ScoreArrayErrors, RightArraysAreTaken) {
  for (const Request& request : {Request(), Bilinear(), Gaussian(), Additive()}) {
    Use(request);
    EXPECT_TRUE(Run().ok()) << Run().message();
    EXPECT_TRUE(Attention(tensors_, request.options).ok());
  }
}

TEST_F(ScoreArrayErrors, MissingParameters) {
  Use(Bilinear());
  tensors_.w = {};
  ExpectRefused({"w"});
  Use(Additive());
  tensors_.wq = {};
  ExpectRefused({"wq"});
  Use(Additive());
  tensors_.wk = {};
  ExpectRefused({"wk"});
  Use(Additive());
  tensors_.w_out = {};
  ExpectRefused({"w_out", "0", "8"});
  tensors_.w_out = {nullptr, 8};
  ExpectRefused({"w_out"});
}

TEST_F(ScoreArrayErrors, ParametersOfOtherScores) {
  for (const Request& request : {Request(), Gaussian(), Additive()}) {
    Use(request);
    tensors_.w = Matrix(6, 6);
    ExpectRefused({"w", "score"});
  }
  for (const Request& request : {Request(), Gaussian(), Bilinear()}) {
    Use(request);
    tensors_.w_out = {numbers_.data(), 6};
    ExpectRefused({"w_out", "score"});
    Use(request);
    tensors_.wq = Matrix(6, 6);
    ExpectRefused({"wq", "option"});
    Use(request);
    tensors_.wk = Matrix(6, 6);
    ExpectRefused({"wk", "option"});
  }
}

TEST_F(ScoreArrayErrors, SizesTypesAndStrides) {
  for (const Sizes& sizes : {Sizes{1, 1, 4, 6}, {1, 1, 6, 5}, {1, 2, 6, 4}, {2, 1, 6, 4}}) {
    Use(Bilinear());
    tensors_.w = ConstTensor(numbers_.data(), sizes);
    ExpectRefused({"w"});
  }
  Use(Bilinear());
  tensors_.w.type = DataType::kF16;
  ExpectRefused({"w", "f16"});
  Use(Bilinear());
  tensors_.w.strides[3] = 2;
  ExpectRefused({"w"});
  Use(Additive());
  tensors_.wq = Matrix(6, 8);
  ExpectRefused({"wq"});
  tensors_.wq = Matrix(8, 6);
  tensors_.wk = Matrix(8, 6);
  ExpectRefused({"wk"});
  Use(Additive());
  tensors_.w_out.size = 7;
  ExpectRefused({"w_out", "7", "8"});
}

TEST_F(ScoreArrayErrors, OutputsOverParameters) {
  Use(Bilinear());
  tensors_.out = Tensor(numbers_.data() + 100, {1, 1, 3, 7});
  tensors_.w = ConstTensor(numbers_.data() + 110, {1, 1, 6, 4});
  EXPECT_THAT(Run(), IsInvalid({"out", "w"}));
  Use(Additive());
  tensors_.out = Tensor(numbers_.data() + 100, {1, 1, 3, 7});
  tensors_.w_out = {numbers_.data() + 119, 8};
  EXPECT_THAT(Run(), IsInvalid({"out", "w_out"}));
}

}  // namespace
}  // namespace lanewise::testing
