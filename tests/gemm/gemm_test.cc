// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Products against their definition: every target, tile, variant, transposition and term.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/gemm.h"
#include "src/kernels/gemm.h"
#include "src/machine/targets.h"
#include "tests/gemm/gemm_case.h"
#include "tests/support/paths.h"

namespace lanewise::testing {
namespace {

// Variants that can compute a case.
std::vector<std::string> VariantsFor(const GemmOptions& options) {
  std::vector<std::string> variants = {"blocks", "panels"};
  variants.emplace_back(options.transpose_b && !options.packed_b ? "dots" : "rows");
  return variants;
}

// All transpositions, packed or not.
std::vector<GemmOptions> Layouts() {
  std::vector<GemmOptions> layouts;
  for (int bits = 0; bits < 8; ++bits) {
    GemmOptions options;
    options.transpose_a = (bits & 1) != 0;
    options.transpose_b = (bits & 2) != 0;
    options.packed_b = (bits & 4) != 0;
    layouts.push_back(options);
  }
  return layouts;
}

GemmShape Shape(int64_t rows, int64_t columns, int64_t depth) {
  GemmShape shape;
  shape.rows = rows;
  shape.columns = columns;
  shape.depth = depth;
  return shape;
}

class GemmTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<kernels::GemmKernel> Tiles() const {
    return kernels::GemmKernels(*machine::FindTarget(GetParam()));
  }
  GemmPath Path(const std::string& variant = "") const {
    GemmPath path;
    path.target = GetParam();
    path.overrides.variant = variant;
    return path;
  }
};

TEST_P(GemmTest, EveryLayoutAndVariant) {
  int i = 0;
  for (const GemmOptions& options : Layouts()) {
    for (const std::string& variant : VariantsFor(options)) {
      for (const int64_t rows : {1, 5, 14}) {
        GemmCase c = {Shape(rows, 35, 21), options};
        c.options.alpha = i % 2 == 0 ? 1.0F : -1.5F;
        c.options.beta = i % 3 == 0 ? 0.0F : 0.75F;
        c.options.bias = i % 5 < 2;
        c.options.residual = i % 7 < 3;
        c.guard = i % 2 == 0 ? GuardSide::kAfter : GuardSide::kBefore;
        GemmPath path = Path(variant);
        path.threads = 1 + i % 3;
        if (!options.packed_b && i % 2 == 0) path.overrides.depth_block = 8;
        ExpectMatchesReference(c, path);
        ++i;
      }
    }
  }
}

// A packed B keeps its type. Columns around panels, several of which few rows take side by side,
// and depths of one and two blocks.
TEST_P(GemmTest, PackedMatricesOfEveryType) {
  const auto columns = static_cast<int64_t>(Tiles().front().columns);
  int i = 0;
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 21}) {
      for (const int64_t n : {int64_t{1}, columns, columns + 1, 2 * columns - 1, 5 * columns + 3}) {
        for (const int64_t depth : {7, 530}) {
          GemmCase c = {Shape(rows, n, depth)};
          c.shape.b_type = type;
          c.options.packed_b = c.options.bias = true;
          c.options.transpose_b = i % 2 != 0;
          c.b_strides = i % 3 == 0 ? PaddedStrides : lanewise::DenseStrides;
          GemmPath path = Path();
          path.threads = 1 + i % 3;
          ExpectMatchesReference(c, path);
          ++i;
        }
      }
    }
  }
}

// Around the edges of each tile.
TEST_P(GemmTest, EveryTileAndEdge) {
  for (const kernels::GemmKernel& tile : Tiles()) {
    const auto rows = static_cast<int64_t>(tile.rows);
    const auto columns = static_cast<int64_t>(tile.columns);
    const auto lanes = static_cast<int64_t>(tile.lanes);
    for (const int64_t m : {int64_t{1}, rows - 1, rows, rows + 1, 2 * rows - 1, 2 * rows + 1}) {
      for (const int64_t n : {int64_t{1}, lanes - 1, lanes, lanes + 1, columns - 1, columns,
                              columns + 1, 2 * columns + lanes}) {
        if (m == 0 || n == 0) continue;
        GemmCase c = {Shape(m, n, 5)};
        c.options.beta = (m + n) % 2 == 0 ? 0.0F : 1.0F;
        GemmPath path = Path(m % 2 == 0 ? "blocks" : "panels");
        path.overrides.tile = std::string(tile.tile);
        ExpectMatchesReference(c, path);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GemmTest, ::testing::ValuesIn(TestedTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::testing
