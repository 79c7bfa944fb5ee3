// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The products of src/kernels/few.h on every target and element type: near plain sums, and of the
// same bits for any number of query rows and any way to cut the keys into runs. Queries, keys and
// values end at inaccessible memory.

#include "src/kernels/few.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "src/core/sizes.h"
#include "src/machine/targets.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"

namespace lanewise::kernels {
namespace {

using testing::Array;
using testing::Gen;
using testing::GuardedArray;

constexpr size_t kMostRows = 17;
constexpr size_t kMostKeys = 40;
constexpr size_t kMostColumns = 70;
constexpr size_t kChunk = 64;  // keys that there is room for
constexpr float kUntouched = -7;
constexpr float kScale = 0.75F;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kUnit = 0x1p-24;

size_t Padded(size_t floats) {
  return static_cast<size_t>(
      core::RoundUp(static_cast<int64_t>(floats), static_cast<int64_t>(kFewPadding)));
}

size_t PaddedRows(size_t rows) {
  return static_cast<size_t>(
      core::RoundUp(static_cast<int64_t>(rows), static_cast<int64_t>(kFewRowPadding)));
}

// Rows of keys or values; those after odd columns lie further apart.
Array MakeRows(DataType type, size_t count, size_t columns, uint32_t seed) {
  const Sizes sizes = {1, 1, static_cast<int64_t>(count), static_cast<int64_t>(columns)};
  Array rows(sizes, columns % 2 == 0 ? DenseStrides : testing::PaddedStrides, {}, type);
  rows.Set(Gen(seed, static_cast<int64_t>(count * columns)));
  return rows;
}

// `count` rows of each of `streams` streams, which begin `apart` rows after each other.
FewRun MakeRun(const Array& rows, size_t streams, size_t first, size_t count, size_t apart) {
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
std::vector<FewRun> CutIntoRuns(const Array& rows, size_t key_count, size_t streams, size_t piece) {
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
std::vector<FewRun> OneByOne(const Array& rows, size_t key_count, size_t streams) {
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

class FewTest : public ::testing::TestWithParam<std::tuple<std::string, DataType>> {
 protected:
  DataType type() const { return std::get<1>(GetParam()); }
  FewKernel Kernel() const { return FewKernelFor(*machine::FindTarget(std::get<0>(GetParam()))); }
  std::string Where() const {
    return std::get<0>(GetParam()) + ", " + std::string(DataTypeName(type()));
  }

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

// Query rows, keys and values of one number of columns.
struct Rows {
  Array q;
  Array k;

  Rows(DataType type, size_t columns)
      : q(MakeRows(DataType::kF32, kMostRows, columns, 1)),
        k(MakeRows(type, kMostKeys, columns, 2)) {}
};

TEST_P(FewTest, ScoresAreNearPlainSums) {
  for (size_t dim = 1; dim <= kMostColumns; ++dim) {
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
TEST_P(FewTest, ScoresKeepTheirBitsInAnyCompany) {
  for (size_t dim = 1; dim <= kMostColumns; ++dim) {
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
TEST_P(FewTest, ScoresOfARowThatRepeats) {
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

// Some weights and outputs of the rows of a chunk.
class ValueRows {
 public:
  ValueRows(size_t first_row, size_t row_count, size_t value_dim)
      : value_dim_(value_dim),
        weights_(row_count * kChunk),
        outputs_(row_count * Padded(value_dim)) {
    for (size_t r = 0; r < row_count; ++r) {
      const std::vector<float> weights = Gen(static_cast<uint32_t>(50 + first_row + r), kChunk);
      std::copy(weights.begin(), weights.end(), weights_.data() + r * kChunk);
      FewRow& row = rows_.emplace_back();
      row.scores = weights_.data() + r * kChunk;
      row.output = outputs_.data() + r * Padded(value_dim);
      row.state = nullptr;
      row.edits.end = kChunk;
    }
  }

  std::vector<FewRow>& rows() { return rows_; }
  // Of row r, with the padding.
  std::vector<uint32_t> Bits(size_t r) const {
    std::vector<uint32_t> bits(Padded(value_dim_));
    std::memcpy(bits.data(), rows_[r].output, bits.size() * sizeof(float));
    return bits;
  }
  void Add(const FewKernel& kernel, DataType type, const std::vector<FewRun>& runs, bool select) {
    for (const FewRun& run : runs) {
      kernel.value[static_cast<size_t>(type)](
          {rows_.data(), rows_.size(), value_dim_, run, select});
    }
  }

 private:
  size_t value_dim_;
  GuardedArray<float> weights_;  // [rows, kChunk]
  GuardedArray<float> outputs_;  // [rows, value_dim padded], 0 at first
  std::vector<FewRow> rows_;
};

// The output of one chunk in the order of the columns: merged with nothing else.
std::vector<float> InOrder(const FewKernel& kernel, DataType type, const FewRow& row,
                           size_t value_dim) {
  float state[kFewStates] = {};
  state[kFewSum] = 1;
  state[kFewSeen] = 1;
  FewMergeArgs merge = {};
  merge.output = row.output;
  merge.state = state;
  merge.chunk_count = 1;
  merge.sink = -std::numeric_limits<float>::infinity();
  merge.pairs = type == DataType::kBF16;
  merge.value_dim = value_dim;
  GuardedArray<float> out(value_dim);
  merge.out = out.data();
  kernel.merge(merge);
  return {out.data(), out.data() + value_dim};
}

TEST_P(FewTest, ValuesAreNearPlainSums) {
  for (size_t value_dim = 1; value_dim <= kMostColumns; ++value_dim) {
    const Array values = MakeRows(type(), kMostKeys, value_dim, 3);
    const std::vector<float> v = values.Values();
    const size_t key_count = 1 + value_dim % kMostKeys;
    ValueRows rows(0, kMostRows, value_dim);
    rows.Add(Kernel(), type(), {MakeRun(values, 1, 0, key_count, 0)}, false);
    for (size_t row = 0; row < kMostRows; row += 4) {
      const std::vector<float> out = InOrder(Kernel(), type(), rows.rows()[row], value_dim);
      for (size_t c = 0; c < value_dim; ++c) {
        double sum = 0;
        double magnitude = 0;
        for (size_t key = 0; key < key_count; ++key) {
          const double product =
              double{rows.rows()[row].scores[key]} * double{v[key * value_dim + c]};
          sum += product;
          magnitude += std::abs(product);
        }
        const double error = kUnit * static_cast<double>(key_count + 4) * magnitude;
        ASSERT_NEAR(double{out[c]}, sum, error)
            << Where() << ", value_dim " << value_dim << ", row " << row << ", column " << c;
      }
    }
  }
}

TEST_P(FewTest, ValuesKeepTheirBitsInAnyCompany) {
  for (size_t value_dim = 1; value_dim <= kMostColumns; ++value_dim) {
    const Array values = MakeRows(type(), kMostKeys, value_dim, 3);
    const bool every_count = value_dim % 23 == 0;
    for (size_t key_count = 1; key_count <= kMostKeys; ++key_count) {
      if (!every_count && (key_count + value_dim) % 5 != 0) continue;
      const size_t streams = 1 + key_count % kFewStreams;
      const size_t piece = value_dim % 3 == 0 ? 3 : kMostKeys;
      std::vector<std::vector<uint32_t>> alone;
      for (size_t row = 0; row < kMostRows; ++row) {
        ValueRows one(row, 1, value_dim);
        one.Add(Kernel(), type(), OneByOne(values, key_count, streams), false);
        alone.push_back(one.Bits(0));
      }
      for (size_t row_count = 1; row_count <= kMostRows; ++row_count) {
        if (!every_count && (row_count + key_count + value_dim) % 3 != 0) continue;
        const size_t first_row = kMostRows - row_count;
        for (const bool select : {false, true}) {
          ValueRows rows(first_row, row_count, value_dim);
          rows.Add(Kernel(), type(), CutIntoRuns(values, key_count, streams, piece), select);
          for (size_t row = 0; row < row_count; ++row) {
            ASSERT_EQ(rows.Bits(row), alone[first_row + row])
                << Where() << ", value_dim " << value_dim << ", row " << row << " of " << row_count
                << ", " << key_count << " keys, " << streams << " streams, select " << select;
          }
        }
      }
    }
  }
}

// Hidden keys have weight 0; what their values hold does not matter where the kernel selects.
TEST_P(FewTest, HiddenValuesAreLeftOut) {
  constexpr size_t kKeys = 23;
  std::vector<uint8_t> mask(kKeys, 1);
  std::vector<float> bias(kKeys, 0.0F);
  mask[5] = mask[6] = 0;
  bias[9] = -std::numeric_limits<float>::infinity();
  const auto is_hidden = [](size_t key) {
    return key < 3 || key >= 20 || key == 5 || key == 6 || key == 9;
  };
  for (const size_t value_dim : {1U, 7U, 16U, 33U, 70U}) {
    const Array finite = MakeRows(type(), kKeys, value_dim, 3);
    std::vector<float> v = finite.Values();
    for (size_t i = 0; i < v.size(); ++i) {
      if (is_hidden(i / value_dim)) v[i] = kNan;
    }
    Array holes = MakeRows(type(), kKeys, value_dim, 3);
    holes.Set(v);
    // The last row sees all.
    const auto run = [&](const Array& values, bool select) {
      ValueRows rows(0, 3, value_dim);
      for (size_t r = 0; r < 2; ++r) {
        FewRow& row = rows.rows()[r];
        row.edits = {.bias = bias.data(), .mask = mask.data(), .begin = 3, .end = 20};
        for (size_t key = 0; key < kKeys; ++key) {
          if (is_hidden(key)) row.scores[key] = 0.0F;
        }
      }
      rows.Add(Kernel(), type(), CutIntoRuns(values, kKeys, 4, 2), select);
      return rows;
    };
    ValueRows clean = run(finite, false);
    ValueRows selected = run(holes, true);
    for (size_t r = 0; r < 2; ++r) {
      EXPECT_EQ(selected.Bits(r), clean.Bits(r))
          << Where() << ", value_dim " << value_dim << ", row " << r;
    }
    EXPECT_TRUE(Kernel().finite(selected.rows().data(), 2, value_dim)) << Where();
    EXPECT_FALSE(Kernel().finite(selected.rows().data(), 3, value_dim)) << Where();
    ValueRows poisoned = run(holes, false);
    EXPECT_FALSE(Kernel().finite(poisoned.rows().data(), 1, value_dim)) << Where();
  }
}

TEST_P(FewTest, FiniteFindsEveryElement) {
  for (const size_t value_dim : {1U, 15U, 16U, 17U, 70U}) {
    ValueRows rows(0, 3, value_dim);
    EXPECT_TRUE(Kernel().finite(rows.rows().data(), 3, value_dim));
    for (size_t r = 0; r < 3; ++r) {
      for (size_t c = 0; c < value_dim; ++c) {
        for (const float value : {kNan, std::numeric_limits<float>::infinity()}) {
          rows.rows()[r].output[c] = value;
          EXPECT_FALSE(Kernel().finite(rows.rows().data(), 3, value_dim))
              << Where() << ", row " << r << ", column " << c << " of " << value_dim;
          rows.rows()[r].output[c] = std::numeric_limits<float>::max();
          EXPECT_TRUE(Kernel().finite(rows.rows().data(), 3, value_dim));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FewTest,
                         ::testing::Combine(::testing::ValuesIn(machine::AvailableTargets()),
                                            ::testing::Values(DataType::kF32, DataType::kF16,
                                                              DataType::kBF16)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  std::string(DataTypeName(std::get<1>(test.param)));
                         });

}  // namespace
}  // namespace lanewise::kernels
