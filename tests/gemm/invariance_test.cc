// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What does not change a bit of the result: threads, batch, the other rows and columns, variants
// (but for dots), tiles, blocks, packing.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/kernels/gemm.h"
#include "src/machine/targets.h"
#include "tests/gemm/gemm_case.h"
#include "tests/support/paths.h"

namespace lanewise::testing {
namespace {

GemmCase CaseOf(int64_t rows, int64_t columns, int64_t depth) {
  GemmCase c;
  c.shape.rows = rows;
  c.shape.columns = columns;
  c.shape.depth = depth;
  return c;
}

class GemmInvarianceTest : public ::testing::TestWithParam<std::string> {
 protected:
  GemmPath Path() const {
    GemmPath path;
    path.target = GetParam();
    return path;
  }
};

TEST_P(GemmInvarianceTest, VariantsTilesBlocksAndThreads) {
  for (const bool transpose_b : {false, true}) {
    GemmCase c = CaseOf(29, 75, 50);
    c.options.beta = 0.5F;
    c.options.bias = true;
    c.options.transpose_b = transpose_b;
    GemmPath path = Path();
    path.overrides.depth_block = 16;
    const std::vector<uint32_t> expected = BitsOf(c, path);
    for (const char* variant : {"blocks", "panels", "rows"}) {
      if (transpose_b && std::string(variant) == "rows") continue;
      for (const kernels::GemmKernel& tile :
           kernels::GemmKernels(*machine::FindTarget(GetParam()))) {
        for (const int64_t block : {0, 1, 7, 40}) {
          for (const int threads : {1, 2, 3}) {
            path.threads = threads;
            const int64_t row_block = std::string(variant) == "rows" ? block % 4 : block;
            path.overrides = {variant, std::string(tile.tile), row_block, 16, block};
            ASSERT_EQ(BitsOf(c, path), expected) << path.ToString();
          }
        }
      }
    }
  }
}

TEST_P(GemmInvarianceTest, PackingChangesNothing) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    for (const bool transpose_b : {false, true}) {
      GemmCase c = CaseOf(11, 140, 530);  // more than one depth block
      c.shape.b_type = type;
      c.options.transpose_b = transpose_b;
      const std::vector<uint32_t> expected = BitsOf(c, Path());
      c.options.packed_b = true;
      for (const char* variant : {"", "blocks", "panels", "rows"}) {
        for (const int threads : {1, 3}) {
          GemmPath path = Path();
          path.threads = threads;
          path.overrides.variant = variant;
          EXPECT_EQ(BitsOf(c, path), expected) << DataTypeName(type) << ", " << path.ToString();
        }
      }
    }
  }
}

// One worker packs panels while it multiplies their first rows and fetches the next ones; several
// pack them before. Depths leave any number of steps after those that go with a fetch.
TEST_P(GemmInvarianceTest, PackingOnTheWayChangesNothing) {
  for (const int64_t depth : {3, 130, 331}) {
    GemmCase c = CaseOf(70, 200, depth);
    c.options.bias = true;
    GemmPath path = Path();
    path.threads = 2;
    path.overrides.variant = "blocks";
    path.overrides.row_block = 35;
    const std::vector<uint32_t> expected = BitsOf(c, path);
    path.threads = 1;
    EXPECT_EQ(BitsOf(c, path), expected) << depth;
    path.overrides.row_block = 0;
    path.overrides.variant = "panels";
    EXPECT_EQ(BitsOf(c, path), expected) << depth;
    c.options.packed_b = true;
    EXPECT_EQ(BitsOf(c, path), expected) << depth;
  }
}

// Whole tiles end in registers, the columns after them in memory.
TEST_P(GemmInvarianceTest, ColumnsBesideWholeTilesEndTheSameWay) {
  GemmCase c = CaseOf(20, 130, 40);
  c.options.bias = true;
  c.options.alpha = 0.3F;
  const std::vector<uint32_t> expected = BitsOf(c, Path());
  GemmPath path = Path();
  path.overrides.variant = "rows";
  EXPECT_EQ(BitsOf(c, path), expected);
}

TEST_P(GemmInvarianceTest, DotsDoNotDependOnThreadsOrRows) {
  GemmCase c = CaseOf(4, 30, 100);
  c.options.transpose_b = true;
  const std::vector<uint32_t> expected = BitsOf(c, Path());
  for (const int threads : {2, 3}) {
    GemmPath path = Path();
    path.threads = threads;
    path.overrides.column_block = 7;
    path.overrides.row_block = threads;
    EXPECT_EQ(BitsOf(c, path), expected);
  }
  // The first rows of the same arrays.
  for (const int64_t rows : {1, 2, 3}) {
    c.shape.rows = rows;
    const std::vector<uint32_t> some = BitsOf(c, Path());
    EXPECT_EQ(some, std::vector<uint32_t>(expected.begin(), expected.begin() + rows * 30)) << rows;
  }
}

// Rows of one product, as many products of one row, and as one of a batch.
TEST_P(GemmInvarianceTest, RowsDoNotMeet) {
  const std::vector<uint32_t> expected = BitsOf(CaseOf(6, 33, 40), Path());
  GemmCase c = CaseOf(1, 33, 40);
  c.shape.batch = 6;
  c.b_strides = SharedBatchStrides;
  // Values of B by the first batch item: Set() keeps the last of those that share an element.
  GemmArrays arrays(c);
  std::vector<float> b;
  for (int item = 0; item < 6; ++item) {
    const std::vector<float> one = Gen(2, 33 * 40);
    b.insert(b.end(), one.begin(), one.end());
  }
  arrays.b().Set(b);
  ASSERT_TRUE(arrays.Run(Path()).ok());
  std::vector<uint32_t> bits;
  for (const float value : arrays.c().Values()) bits.push_back(std::bit_cast<uint32_t>(value));
  EXPECT_EQ(bits, expected);
}

TEST_P(GemmInvarianceTest, ManyProductsOnSeveralThreads) {
  GemmCase c = CaseOf(7, 20, 30);
  c.shape.batch = 3;
  c.shape.heads = 4;
  const std::vector<uint32_t> expected = BitsOf(c, Path());
  for (const int threads : {2, 5}) {
    GemmPath path = Path();
    path.threads = threads;
    EXPECT_EQ(BitsOf(c, path), expected) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GemmInvarianceTest, ::testing::ValuesIn(TestedTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::testing
