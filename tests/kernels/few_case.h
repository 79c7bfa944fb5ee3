// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Rows of keys and values, cut into runs, for the kernels of src/kernels/few.h on every target and
// element type. The rows end at inaccessible memory.

#ifndef LANEWISE_TESTS_KERNELS_FEW_CASE_H_
#define LANEWISE_TESTS_KERNELS_FEW_CASE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "src/kernels/few.h"
#include "src/machine/targets.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"

namespace lanewise::kernels {

inline constexpr size_t kMostRows = 17;
inline constexpr size_t kMostKeys = 40;
inline constexpr size_t kMostColumns = 70;
inline constexpr size_t kChunk = 64;  // keys that there is room for
inline constexpr double kUnit = 0x1p-24;

inline size_t Padded(size_t floats) {
  return static_cast<size_t>(
      core::RoundUp(static_cast<int64_t>(floats), static_cast<int64_t>(kFewPadding)));
}

// Rows of keys or values; those after odd columns lie further apart.
inline testing::Array MakeRows(DataType type, size_t count, size_t columns, uint32_t seed) {
  const Sizes sizes = {1, 1, static_cast<int64_t>(count), static_cast<int64_t>(columns)};
  testing::Array rows(sizes, columns % 2 == 0 ? DenseStrides : testing::PaddedStrides, {}, type);
  rows.Set(testing::Gen(seed, static_cast<int64_t>(count * columns)));
  return rows;
}

// `count` rows of each of `streams` streams, which begin `apart` rows after each other.
inline FewRun MakeRun(const testing::Array& rows, size_t streams, size_t first, size_t count,
                      size_t apart) {
  const ConstTensor view = rows.view();
  FewRun run = {};
  run.stride = view.strides[2];
  run.stream_count = streams;
  run.count = count;
  const size_t bytes = static_cast<size_t>(core::ElementBytes(view.type));
  for (size_t s = 0; s < streams; ++s) {
    run.first[s] = first + s * apart;
    run.rows[s] = static_cast<const char*>(view.data) +
                  run.first[s] * static_cast<size_t>(run.stride) * bytes;
  }
  return run;
}

// Runs that hold keys [0, key_count): `streams` streams of equally many keys, cut into pieces of at
// most `piece`, then what is left, key by key.
inline std::vector<FewRun> CutIntoRuns(const testing::Array& rows, size_t key_count, size_t streams,
                                       size_t piece) {
  std::vector<FewRun> runs;
  const size_t apart = key_count / streams;
  for (size_t first = 0; first < apart; first += piece) {
    runs.push_back(MakeRun(rows, streams, first, std::min(piece, apart - first), apart));
  }
  for (size_t key = streams * apart; key < key_count; ++key) {
    runs.push_back(MakeRun(rows, 1, key, 1, 0));
  }
  return runs;
}

// The same keys in the same order, one at a time.
inline std::vector<FewRun> OneByOne(const testing::Array& rows, size_t key_count, size_t streams) {
  std::vector<FewRun> runs;
  const size_t apart = key_count / streams;
  for (size_t i = 0; i < apart; ++i) {
    for (size_t s = 0; s < streams; ++s) runs.push_back(MakeRun(rows, 1, s * apart + i, 1, 0));
  }
  for (size_t key = streams * apart; key < key_count; ++key) {
    runs.push_back(MakeRun(rows, 1, key, 1, 0));
  }
  return runs;
}

// A target and the type of keys and values.
class FewTest : public ::testing::TestWithParam<std::tuple<std::string, DataType>> {
 protected:
  DataType type() const { return std::get<1>(GetParam()); }
  FewKernel Kernel() const { return FewKernelFor(*machine::FindTarget(std::get<0>(GetParam()))); }
  // Every length of up to five vectors, and the multiples of 9 and 23 beyond.
  std::vector<size_t> RowLengths() const {
    std::vector<size_t> lengths;
    for (size_t n = 1; n <= kMostColumns; ++n) {
      if (n <= 5 * Kernel().lanes || n % 9 == 0 || n % 23 == 0) lengths.push_back(n);
    }
    return lengths;
  }
  std::string Where() const {
    return std::get<0>(GetParam()) + ", " + std::string(DataTypeName(type()));
  }
};

// Every parameter of such tests, and their names.
inline auto EveryFewTest() {
  return ::testing::Combine(::testing::ValuesIn(machine::AvailableTargets()),
                            ::testing::Values(DataType::kF32, DataType::kF16, DataType::kBF16));
}
inline std::string FewTestName(const ::testing::TestParamInfo<FewTest::ParamType>& test) {
  return std::get<0>(test.param) + "_" + std::string(DataTypeName(std::get<1>(test.param)));
}

}  // namespace lanewise::kernels

#endif  // LANEWISE_TESTS_KERNELS_FEW_CASE_H_
