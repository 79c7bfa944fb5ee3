// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The register tile of src/kernels/register_tile-inl.h on every target and in every shape that any
// target uses, bit for bit against one plain chain of operations for each element.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/kernels/dispatch.h"
#include "src/machine/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/register_tile_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/aligned_allocator.h"
#include "hwy/highway.h"
#include "src/kernels/register_tile-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_REGISTER_TILE_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_REGISTER_TILE_TEST_TYPES_
namespace lanewise::kernels {

// tile = from, or 0 if null; tile *= factor unless null; tile += a b; to = tile.
struct TileCall {
  const float* from;  // [rows][row_stride]
  const float* factor;
  const float* a;
  int64_t a_stride;
  const float* b;  // [steps][b_stride]
  size_t b_stride;
  size_t steps;
  float* to;  // [rows][row_stride]
  size_t row_stride;
};

// One shape of one target.
struct Tile {
  size_t rows;
  size_t lanes;
  bool fma;                             // one rounding a step instead of two
  void (*strided)(const TileCall&);     // a(i, s) = a[i * a_stride + s]
  void (*contiguous)(const TileCall&);  // a(i, s) = a[i + s * a_stride]
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_REGISTER_TILE_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

template <size_t MR, size_t NV, ARows kRows>
void RunTile(const TileCall& call) {
  const FloatTag d;
  RegisterTile<MR, NV> tile;
  if (call.from == nullptr) {
    tile.Zero(d);
  } else {
    tile.Load(d, call.from, call.row_stride);
  }
  if (call.factor != nullptr) tile.Scale(d, call.factor);
  tile.template MultiplyAdd<kRows>(d, call.a, call.a_stride, call.b, call.b_stride, call.steps);
  tile.Store(d, call.to, call.row_stride);
}

template <size_t MR, size_t NV>
Tile MakeTile() {
  return {MR, NV * kLanes, HWY_NATIVE_FMA != 0, &RunTile<MR, NV, ARows::kStrided>,
          &RunTile<MR, NV, ARows::kContiguous>};
}

std::vector<Tile> Tiles() {
  return {MakeTile<4, 4>(),  MakeTile<8, 2>(), MakeTile<8, 1>(), MakeTile<4, 3>(),
          MakeTile<6, 2>(),  MakeTile<4, 2>(), MakeTile<4, 1>(), MakeTile<1, 1>(),
          MakeTile<16, 1>(), MakeTile<11, 1>()};
}

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(Tiles);

constexpr float kUntouched = -7;

float MultiplyAdd(bool fma, float a, float b, float c) {
  if (fma) return std::fma(a, b, c);
  const volatile float product = a * b;  // the compiler must not fuse it
  return product + c;
}

class RegisterTileTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<Tile> Tiles() const {
    return FunctionForTarget(HWY_DISPATCH_TABLE(Tiles), *machine::FindTarget(GetParam()))();
  }

  // A 64-byte aligned array of numbers with full mantissas.
  hwy::AlignedFreeUniquePtr<float[]> Random(size_t count) {
    auto array = hwy::AllocateAligned<float>(count + 1);  // never empty
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (size_t i = 0; i < count; ++i) array[i] = numbers(random_);
    return array;
  }

  // All arrays have gaps after each row; those of `to` stay as they are.
  void Expect(const Tile& tile, bool strided, size_t steps, bool load, bool scale) {
    const size_t row_stride = tile.lanes + 16;
    const size_t b_stride = tile.lanes + 16;
    const size_t a_stride = (strided ? steps : tile.rows) + 3;
    const auto from = Random(tile.rows * row_stride);
    const auto to = Random(tile.rows * row_stride);
    const auto factor = Random(tile.lanes);
    const auto a = Random(a_stride * (strided ? tile.rows : steps));
    const auto b = Random(steps * b_stride);
    for (size_t i = 0; i < tile.rows * row_stride; ++i) to[i] = kUntouched;

    const TileCall call = {.from = load ? from.get() : nullptr,
                           .factor = scale ? factor.get() : nullptr,
                           .a = a.get(),
                           .a_stride = static_cast<int64_t>(a_stride),
                           .b = b.get(),
                           .b_stride = b_stride,
                           .steps = steps,
                           .to = to.get(),
                           .row_stride = row_stride};
    (strided ? tile.strided : tile.contiguous)(call);

    for (size_t i = 0; i < tile.rows; ++i) {
      for (size_t j = 0; j < row_stride; ++j) {
        float expected = kUntouched;
        if (j < tile.lanes) {
          expected = load ? from[i * row_stride + j] : 0.0F;
          if (scale) expected *= factor[j];
          for (size_t s = 0; s < steps; ++s) {
            const float multiplier = a[strided ? i * a_stride + s : i + s * a_stride];
            expected = MultiplyAdd(tile.fma, multiplier, b[s * b_stride + j], expected);
          }
        }
        ASSERT_EQ(std::bit_cast<uint32_t>(to[i * row_stride + j]),
                  std::bit_cast<uint32_t>(expected))
            << GetParam() << ", tile " << tile.rows << " x " << tile.lanes << " lanes, "
            << (strided ? "strided" : "contiguous") << " rows, " << steps << " steps: row " << i
            << ", lane " << j;
      }
    }
  }

 private:
  std::mt19937 random_{20};
};

TEST_P(RegisterTileTest, EqualsPlainChains) {
  for (const Tile& tile : Tiles()) {
    for (const bool strided : {true, false}) {
      for (const size_t steps : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 31U, 64U, 100U}) {
        for (const bool load : {false, true}) Expect(tile, strided, steps, load, false);
        Expect(tile, strided, steps, true, true);
      }
    }
  }
}

// Rows of `a` may run backwards in memory, as views with negative strides do.
TEST_P(RegisterTileTest, NegativeStride) {
  constexpr size_t kSteps = 9;
  for (const Tile& tile : Tiles()) {
    const auto a = Random(tile.rows * kSteps);
    const auto b = Random(kSteps * tile.lanes);
    const auto to = Random(tile.rows * tile.lanes);
    const float* last = a.get() + (tile.rows - 1) * kSteps;
    tile.strided({nullptr, nullptr, last, -static_cast<int64_t>(kSteps), b.get(), tile.lanes,
                  kSteps, to.get(), tile.lanes});
    for (size_t i = 0; i < tile.rows; ++i) {
      for (size_t j = 0; j < tile.lanes; ++j) {
        float expected = 0;
        for (size_t s = 0; s < kSteps; ++s) {
          expected = MultiplyAdd(tile.fma, a[(tile.rows - 1 - i) * kSteps + s],
                                 b[s * tile.lanes + j], expected);
        }
        ASSERT_EQ(std::bit_cast<uint32_t>(to[i * tile.lanes + j]),
                  std::bit_cast<uint32_t>(expected))
            << GetParam() << ", row " << i << ", lane " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RegisterTileTest,
                         ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
