// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A layer of a real model, against what the model computes (tests/data/README.md).

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"
#include "tools/npy.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kModel = 384;

npy::Array Load(const std::string& name) {
  Result<npy::Array> array =
      npy::Read(std::string(LANEWISE_TEST_DATA) + "/minilm_layer0_" + name + ".npy");
  EXPECT_TRUE(array.ok()) << array.status().message();
  return array.ok() ? *array : npy::Array();
}

ConstTensor Matrix(const npy::Array& array) {
  return {array.floats(), {1, 1, array.shape.at(0), array.shape.at(1)}};
}

ArrayView<float> Vector(const npy::Array& array) { return {array.floats(), array.ElementCount()}; }

class MiniLm : public ::testing::TestWithParam<std::string> {};

TEST_P(MiniLm, LayerGivesTheModelsOutput) {
  const npy::Array wq = Load("wq"), wk = Load("wk"), wv = Load("wv"), wo = Load("wo");
  const npy::Array bq = Load("bq"), bk = Load("bk"), bv = Load("bv"), bo = Load("bo");
  MultiHeadWeights weights;
  weights.q = Matrix(wq);
  weights.k = Matrix(wk);
  weights.v = Matrix(wv);
  weights.out = Matrix(wo);
  weights.q_bias = Vector(bq);
  weights.k_bias = Vector(bk);
  weights.v_bias = Vector(bv);
  weights.out_bias = Vector(bo);
  const MultiHeadAttention layer =
      MakeLayer(LayerShape(12, 12, 32), weights, OneThread(GetParam()));

  const npy::Array x = Load("x");
  const npy::Array expected = Load("attention");
  const int64_t tokens = x.shape.at(0);
  std::vector<float> out(static_cast<size_t>(tokens * kModel));
  const Result<MultiHeadPlan> plan = layer.Plan(SelfCall(1, tokens));
  ASSERT_TRUE(plan.ok());
  Workspace workspace(plan->workspace_bytes());
  MultiHeadTensors tensors;
  tensors.x = ConstTensor(x.floats(), {1, 1, tokens, kModel});
  tensors.out = Tensor(out.data(), {1, 1, tokens, kModel});
  ASSERT_TRUE(plan->Run(tensors, workspace).ok());
  // Scores reach 61, so that one rounding changes a weight by 1.9e-6 of itself.
  double largest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    largest = std::max(largest, std::abs(double{out[i]} - double{expected.floats()[i]}));
  }
  EXPECT_LT(largest, 1e-5) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Targets, MiniLm, ::testing::ValuesIn(TestedTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::testing
