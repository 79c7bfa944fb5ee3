// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a product reads and writes: strides, batches, types, NaN, zero sizes, residual in place.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/gemm/gemm_case.h"
#include "tests/support/paths.h"

namespace lanewise::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

GemmShape Shape(int64_t batch, int64_t heads, int64_t rows, int64_t columns, int64_t depth) {
  GemmShape shape;
  shape.batch = batch;
  shape.heads = heads;
  shape.rows = rows;
  shape.columns = columns;
  shape.depth = depth;
  return shape;
}

class GemmTermsTest : public ::testing::TestWithParam<std::string> {
 protected:
  GemmPath Path(int threads = 1) const {
    GemmPath path;
    path.target = GetParam();
    path.threads = threads;
    return path;
  }
};

TEST_P(GemmTermsTest, StridesAndBatches) {
  const StrideRule rules[] = {lanewise::DenseStrides, PaddedStrides, PackedStrides,
                              SharedHeadStrides, SharedBatchStrides};
  int i = 0;
  for (const StrideRule a : rules) {
    for (const StrideRule b : rules) {
      for (const int64_t rows : {2, 7}) {
        GemmCase c = {Shape(2, 3, rows, 19, 10)};
        c.a_strides = a;
        c.b_strides = b;
        c.c_strides = i % 2 == 0 ? PaddedStrides : PackedStrides;
        c.options.transpose_b = i % 3 == 0;
        c.options.transpose_a = i % 4 == 1;
        c.options.residual = i % 5 == 2;
        ExpectMatchesReference(c, Path(1 + i % 3));
        ++i;
      }
    }
  }
}

// One B for a batch, as an array of its own and packed; one for each head; one for each product.
TEST_P(GemmTermsTest, PackedBatches) {
  for (const bool transpose_b : {false, true}) {
    for (const int64_t heads : {1, 3}) {
      GemmCase c = {Shape(4, heads, 9, 20, 11)};
      c.options.packed_b = true;
      c.options.transpose_b = transpose_b;
      for (const int threads : {1, 2}) ExpectMatchesReference(c, Path(threads));
    }
  }
}

TEST_P(GemmTermsTest, EveryType) {
  const DataType types[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
  int i = 0;
  for (const DataType a : types) {
    for (const DataType b : types) {
      for (const DataType out : types) {
        for (const int64_t rows : {1, 8}) {
          GemmCase c = {Shape(1, 2, rows, 21, 30)};
          c.shape.a_type = a;
          c.shape.b_type = b;
          c.shape.c_type = out;
          c.options.transpose_a = i % 2 == 0;
          c.options.transpose_b = i % 3 == 0;
          c.options.beta = i % 4 == 0 ? 0.5F : 0.0F;
          c.options.bias = i % 5 == 0;
          c.options.residual = i % 3 == 1;
          GemmPath path = Path(1 + i % 2);
          // Several depth blocks: partial sums of a half-typed C are kept as f32.
          if (i % 2 == 1) path.overrides.depth_block = 7;
          ExpectMatchesReference(c, path);
          ++i;
        }
      }
    }
  }
}

TEST_P(GemmTermsTest, ZeroSizes) {
  for (const bool packed : {false, true}) {
    for (const Sizes& sizes : {Sizes{0, 5, 7, 3}, Sizes{1, 0, 7, 3}, Sizes{1, 5, 0, 3}}) {
      GemmCase c = {Shape(sizes[0], 1, sizes[1], sizes[2], sizes[3])};
      c.options.packed_b = packed;
      GemmArrays arrays(c);
      EXPECT_TRUE(arrays.Run(Path()).ok());
    }
    // No depth: beta C + bias + residual.
    for (const int64_t rows : {1, 9}) {
      GemmCase c = {Shape(1, 1, rows, 20, 0)};
      c.options.packed_b = packed;
      ExpectMatchesReference(c, Path());
      c.options.beta = 2;
      c.options.bias = c.options.residual = true;
      ExpectMatchesReference(c, Path());
    }
  }
}

// alpha 0 and beta 0 leave out what they multiply.
TEST_P(GemmTermsTest, FactorsOfZeroKeepNanOut) {
  for (const int64_t rows : {1, 9}) {
    for (const bool transpose_b : {false, true}) {
      GemmCase c = {Shape(1, 1, rows, 20, 6)};
      c.options.alpha = 0;
      c.options.bias = true;
      c.options.transpose_b = transpose_b;
      GemmArrays arrays(c);  // C is NaN
      arrays.a().Set(std::vector<float>(static_cast<size_t>(rows * 6), kNan));
      arrays.b().Set(std::vector<float>(20 * 6, kNan));
      ASSERT_TRUE(arrays.Run(Path()).ok());
      const std::vector<float> bias = Gen(5, 20);
      const std::vector<float> values = arrays.c().Values();
      for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], bias[i % 20]) << i;
    }
  }
}

TEST_P(GemmTermsTest, NanStaysInItsRowAndColumn) {
  constexpr int64_t kRows = 14;
  constexpr int64_t kColumns = 37;
  constexpr int64_t kDepth = 9;
  for (const int64_t row : {0, 6, 13}) {
    for (const int64_t column : {0, 16, 36}) {
      const GemmCase c = {Shape(1, 1, kRows, kColumns, kDepth)};
      GemmArrays arrays(c);
      std::vector<float> a = Gen(1, kRows * kDepth);
      std::vector<float> b = Gen(2, kDepth * kColumns);
      a[static_cast<size_t>(row * kDepth + 4)] = kNan;
      b[static_cast<size_t>(2 * kColumns + column)] = std::numeric_limits<float>::infinity();
      arrays.a().Set(a);
      arrays.b().Set(b);
      ASSERT_TRUE(arrays.Run(Path()).ok());
      const std::vector<float> values = arrays.c().Values();
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kColumns; ++j) {
          const float value = values[static_cast<size_t>(i * kColumns + j)];
          EXPECT_EQ(std::isnan(value), i == row) << i << ", " << j;
          if (i != row) {
            EXPECT_EQ(std::isinf(value), j == column) << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST_P(GemmTermsTest, ResidualMayBeC) {
  for (const int64_t depth : {5, 40}) {
    for (const int64_t rows : {1, 13}) {
      GemmCase c = {Shape(1, 2, rows, 18, depth)};
      c.options.residual = true;
      GemmArrays arrays(c);
      arrays.c().Set(Gen(9, rows * 2 * 18));
      GemmTensors tensors = arrays.tensors();
      tensors.residual = tensors.c;
      const reference::GemmResult expected = reference::Gemm(tensors, c.options);
      gemm::PlanOverrides overrides;
      overrides.depth_block = 16;
      Runtime runtime;
      runtime.threads = 1;
      runtime.target = GetParam();
      const Result<GemmPlan> plan = gemm::PlanGemmWith(c.shape, c.options, runtime, overrides);
      ASSERT_TRUE(plan.ok());
      Workspace workspace(plan->workspace_bytes());
      ASSERT_TRUE(plan->Run(tensors, workspace).ok());
      const reference::Comparison comparison =
          reference::Compare(tensors.c, expected.c, expected.tolerance);
      EXPECT_TRUE(comparison.ok()) << reference::Describe(comparison.worst);
    }
  }
}

TEST_P(GemmTermsTest, OneCallForm) {
  std::vector<float> a = Gen(1, 10 * 6);
  std::vector<float> b = Gen(2, 6 * 20);
  std::vector<float> c(10 * 20, kNan);
  Runtime runtime;
  runtime.threads = 1;
  runtime.target = GetParam();
  GemmTensors tensors = {{a.data(), {1, 1, 10, 6}}, {b.data(), {1, 1, 6, 20}}, {}};
  tensors.c = Tensor(c.data(), {1, 1, 10, 20});
  const reference::GemmResult expected = reference::Gemm(tensors, {});
  ASSERT_TRUE(Gemm(tensors, {}, runtime).ok());
  EXPECT_TRUE(reference::Compare(tensors.c, expected.c, expected.tolerance).ok());
}

INSTANTIATE_TEST_SUITE_P(Targets, GemmTermsTest, ::testing::ValuesIn(TestedTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::testing
