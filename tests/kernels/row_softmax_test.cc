// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The two ways of a row through softmax (src/kernels/row_softmax.h) on every target: each near the
// definition at sizes around lanes and blocks, whatever the maximum does from block to block.

#include "src/kernels/row_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/machine/targets.h"
#include "src/reference/softmax.h"
#include "src/reference/tolerance.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"
#include "tests/support/paths.h"
#include "tests/support/patterns.h"

namespace lanewise::kernels {
namespace {

using testing::Array;
using testing::Gen;
using testing::MaskArray;

// Two rows of `values`, with or without a mask, through `kernel`.
void ExpectNearDefinition(const std::string& target, RowSoftmax kernel, const Array& in,
                          const MaskArray* mask, const std::string& where) {
  const ConstTensor view = in.view();
  Array out(view.sizes, testing::PaddedStrides, {});
  RowSoftmaxArgs args = {};
  args.in = view.data;
  args.in_stride = view.strides[2];
  args.out = out.view().data;
  args.out_stride = out.view().strides[2];
  args.row_count = static_cast<size_t>(view.sizes[2]);
  args.columns = static_cast<size_t>(view.sizes[3]);
  args.scale = 1;
  SoftmaxOptions options;
  if (mask != nullptr) {
    options.mask = mask->view();
    args.mask = static_cast<const uint8_t*>(options.mask.data);
    args.mask_stride = options.mask.strides[2];
  }
  kernel(args);
  const auto expected = reference::Softmax(view, options);
  const auto comparison = reference::Compare(out.view(), expected.out, expected.out_tolerance);
  EXPECT_TRUE(comparison.ok()) << target << ", " << where << ", columns " << args.columns << ": "
                               << reference::Describe(comparison.worst);
  EXPECT_TRUE(out.IsPaddingIntact()) << target << ", " << where;
}

void ExpectBothNearDefinition(int64_t columns, const std::vector<float>& values) {
  const Sizes sizes = {1, 1, 2, columns};
  Array in(sizes, testing::PaddedStrides, {});
  in.Set(values);
  MaskArray mask(sizes, DenseStrides, {});
  mask.Set(testing::RandomMask(6, 2 * columns, 50));
  for (const std::string& target : testing::TestedTargets()) {
    const auto kernels =
        RowSoftmaxKernelsFor(*machine::FindTarget(target), DataType::kF32, DataType::kF32);
    for (const MaskArray* m : {static_cast<const MaskArray*>(nullptr), &std::as_const(mask)}) {
      const std::string masked = m == nullptr ? "" : ", masked";
      ExpectNearDefinition(target, kernels.resident, in, m, "resident" + masked);
      ExpectNearDefinition(target, kernels.streamed, in, m, "streamed" + masked);
    }
  }
}

TEST(RowSoftmax, SizesAroundLanesAndBlocks) {
  for (const int64_t columns :
       {0, 1, 3, 4, 5, 8, 9, 16, 17, 31, 33, 64, 65, 4095, 4096, 4097, 8191, 8192, 8193, 9000}) {
    ExpectBothNearDefinition(columns, Gen(static_cast<uint32_t>(columns), 2 * columns, 5));
  }
}

// The shift of one block is of no use in the next.
TEST(RowSoftmax, MaximaThatRiseAndFallFromBlockToBlock) {
  const int64_t columns = 3 * 4096 + 5;
  for (const float step : {-60.0F, 60.0F, 200.0F}) {
    std::vector<float> values = Gen(1, 2 * columns);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t block = i % static_cast<size_t>(columns) / 4096;
      values[i] += step * static_cast<float>(block % 3);
    }
    ExpectBothNearDefinition(columns, values);
  }
}

TEST(RowSoftmax, ABlockWithoutAnyWeightBeforeOthers) {
  const int64_t columns = 2 * 4096 + 5;
  std::vector<float> values = Gen(1, 2 * columns);
  for (size_t i = 0; i < 4096; ++i) values[i] = -INFINITY;
  ExpectBothNearDefinition(columns, values);
}

}  // namespace
}  // namespace lanewise::kernels
