// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The products with values of src/kernels/few.h: near plain sums, of the same bits for any number
// of query rows and any way to cut the keys into runs, and blind to hidden values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "src/kernels/few.h"
#include "tests/kernels/few_case.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"

namespace lanewise::kernels {
namespace {

using testing::Array;
using testing::Gen;
using testing::GuardedArray;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class FewValueTest : public FewTest {};

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

TEST_P(FewValueTest, ValuesAreNearPlainSums) {
  for (const size_t value_dim : RowLengths()) {
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

TEST_P(FewValueTest, ValuesKeepTheirBitsInAnyCompany) {
  for (const size_t value_dim : RowLengths()) {
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
TEST_P(FewValueTest, HiddenValuesAreLeftOut) {
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
        row.edits.bias = bias.data();
        row.edits.mask = mask.data();
        row.edits.begin = 3;
        row.edits.end = 20;
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

TEST_P(FewValueTest, FiniteFindsEveryElement) {
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

INSTANTIATE_TEST_SUITE_P(Targets, FewValueTest, EveryFewTest(), FewTestName);

}  // namespace
}  // namespace lanewise::kernels
