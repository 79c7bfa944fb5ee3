// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The scores of src/kernels/few.h: near plain sums, and of the same bits for any number of query
// rows and any way to cut the keys into runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/core/sizes.h"
#include "src/kernels/few.h"
#include "tests/kernels/few_case.h"
#include "tests/support/array.h"

namespace lanewise::kernels {
namespace {

using testing::Array;
using testing::GuardedArray;

constexpr float kUntouched = -7;
constexpr float kScale = 0.75F;

size_t PaddedRows(size_t rows) {
  return static_cast<size_t>(
      core::RoundUp(static_cast<int64_t>(rows), static_cast<int64_t>(kFewRowPadding)));
}

class FewScoreTest : public FewTest {
 protected:
  // Query rows as the kernel wants them.
  GuardedArray<float> LoadQueries(const Array& q, size_t first_row, size_t row_count, size_t dim,
                                  float scale) const {
    std::vector<const float*> rows;
    for (size_t r = first_row; r < first_row + row_count; ++r) {
      rows.push_back(static_cast<const float*>(q.view().data) +
                     static_cast<int64_t>(r) * q.view().strides[2]);
    }
    GuardedArray<float> queries(PaddedRows(row_count) * Padded(dim));
    Kernel().load({rows.data(), row_count, dim, scale, queries.data(), Padded(dim),
                   type() == DataType::kBF16});
    return queries;
  }

  // [row_count padded, kChunk]
  std::vector<float> Scores(const Array& q, size_t first_row, size_t row_count, size_t dim,
                            const std::vector<FewRun>& runs) const {
    const GuardedArray<float> queries = LoadQueries(q, first_row, row_count, dim, kScale);
    std::vector<float> scores(PaddedRows(row_count) * kChunk, kUntouched);
    GuardedArray<float> stage(type() == DataType::kF32 ? 0 : kFewStageRows * Padded(dim));
    for (const FewRun& run : runs) {
      Kernel().score[static_cast<size_t>(type())](
          {queries.data(), Padded(dim), row_count, dim, run, scores.data(), kChunk, stage.data()});
    }
    return scores;
  }
};

// Query rows and keys of one number of columns.
struct Rows {
  Array q;
  Array k;

  Rows(DataType type, size_t columns)
      : q(MakeRows(DataType::kF32, kMostRows, columns, 1)),
        k(MakeRows(type, kMostKeys, columns, 2)) {}
};

TEST_P(FewScoreTest, ScoresAreNearPlainSums) {
  for (const size_t dim : RowLengths()) {
    const Rows rows(type(), dim);
    const std::vector<float> q = rows.q.Values();
    const std::vector<float> k = rows.k.Values();
    const size_t key_count = 1 + dim % kMostKeys;
    const std::vector<float> scores =
        Scores(rows.q, 0, kMostRows, dim, {MakeRun(rows.k, 1, 0, key_count, 0)});
    for (size_t row = 0; row < kMostRows; row += 4) {
      for (size_t key = 0; key < key_count; key += 3) {
        double sum = 0;
        double magnitude = 0;
        for (size_t c = 0; c < dim; ++c) {
          const double product =
              double{kScale} * double{q[row * dim + c]} * double{k[key * dim + c]};
          sum += product;
          magnitude += std::abs(product);
        }
        const double error = kUnit * static_cast<double>(dim + 4) * magnitude;
        ASSERT_NEAR(double{scores[row * kChunk + key]}, sum, error)
            << Where() << ", dim " << dim << ", row " << row << ", key " << key;
      }
    }
  }
}

// Every dim with some numbers of rows and keys, every number of rows and keys with some dims.
TEST_P(FewScoreTest, ScoresKeepTheirBitsInAnyCompany) {
  for (const size_t dim : RowLengths()) {
    const Rows rows(type(), dim);
    std::vector<float> alone(kMostRows * kChunk);
    for (size_t row = 0; row < kMostRows; ++row) {
      const std::vector<float> scores = Scores(rows.q, row, 1, dim, OneByOne(rows.k, kMostKeys, 1));
      std::copy_n(scores.begin(), kChunk,
                  alone.begin() + static_cast<std::ptrdiff_t>(row * kChunk));
    }
    const bool every_count = dim % 23 == 0;
    for (size_t row_count = 1; row_count <= kMostRows; ++row_count) {
      for (size_t key_count = 1; key_count <= kMostKeys; ++key_count) {
        if (!every_count && (row_count + key_count + dim) % 13 != 0) continue;
        const size_t streams = 1 + (row_count + key_count) % kFewStreams;
        const size_t piece = dim % 3 == 0 ? 3 : kMostKeys;
        const size_t first_row = kMostRows - row_count;
        const std::vector<float> scores = Scores(rows.q, first_row, row_count, dim,
                                                 CutIntoRuns(rows.k, key_count, streams, piece));
        for (size_t row = 0; row < row_count; ++row) {
          for (size_t key = 0; key < kChunk; ++key) {
            const float expected =
                key < key_count ? alone[(first_row + row) * kChunk + key] : kUntouched;
            ASSERT_EQ(std::bit_cast<uint32_t>(scores[row * kChunk + key]),
                      std::bit_cast<uint32_t>(expected))
                << Where() << ", dim " << dim << ", row " << row << " of " << row_count << ", key "
                << key << " of " << key_count << ", " << streams << " streams";
          }
        }
      }
    }
  }
}

// Keys may be one row that repeats: a stride of 0.
TEST_P(FewScoreTest, ScoresOfARowThatRepeats) {
  for (const size_t dim : {1U, 8U, 33U, 64U}) {
    const Rows rows(type(), dim);
    const auto repeat = [](FewRun run) {
      run.stride = 0;
      std::fill_n(run.rows, kFewStreams, run.rows[0]);
      return run;
    };
    for (size_t row_count = 1; row_count <= kMostRows; ++row_count) {
      const std::vector<float> once =
          Scores(rows.q, 0, row_count, dim, {MakeRun(rows.k, 1, 0, 1, 0)});
      for (const size_t streams : {size_t{1}, kFewStreams}) {
        const size_t count = kMostKeys / streams;
        const std::vector<float> scores =
            Scores(rows.q, 0, row_count, dim, {repeat(MakeRun(rows.k, streams, 0, count, count))});
        for (size_t row = 0; row < row_count; ++row) {
          for (size_t key = 0; key < kMostKeys; ++key) {
            ASSERT_EQ(scores[row * kChunk + key], once[row * kChunk])
                << Where() << ", dim " << dim << ", row " << row << " of " << row_count << ", key "
                << key << ", " << streams << " streams";
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FewScoreTest, EveryFewTest(), FewTestName);

}  // namespace
}  // namespace lanewise::kernels
