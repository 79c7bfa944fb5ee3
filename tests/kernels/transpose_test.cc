// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The moves of src/kernels/transpose-inl.h on every target, against plain loops. Rows end at
// inaccessible memory, so nothing beyond the columns in question can be touched.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "src/kernels/dispatch.h"
#include "src/machine/targets.h"
#include "tests/support/guard.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/transpose_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/transpose-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_TRANSPOSE_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_TRANSPOSE_TEST_TYPES_
namespace lanewise::kernels {

// The functions of one target. Vectors lie one after the other in memory: [column][lane].
struct Moves {
  size_t lanes;
  size_t columns;  // of load and store
  size_t line_columns;
  void (*load)(const float* const* rows, size_t column, float* vectors);
  void (*load_line)(const float* const* rows, size_t column, float* vectors);
  void (*store)(const float* vectors, float* const* rows, size_t row_count, size_t column);
  void (*store_line)(const float* vectors, float* const* rows, size_t row_count, size_t column);
  void (*store_one)(const float* vectors, float* const* rows, size_t row_count, size_t column);
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_TRANSPOSE_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

void Load(const float* const* rows, size_t column, float* vectors) {
  const FloatTag d;
  FloatVec m[kColumns];
  LoadColumns(d, rows, column, m);
  for (size_t c = 0; c < kColumns; ++c) hn::StoreU(m[c], d, vectors + c * kLanes);
}

void LoadLine(const float* const* rows, size_t column, float* vectors) {
  const FloatTag d;
  FloatVec m[kLineColumns / kColumns][kColumns];
  LoadLineColumns(d, rows, column, m);
  for (size_t c = 0; c < kLineColumns; ++c) {
    hn::StoreU(m[c / kColumns][c % kColumns], d, vectors + c * kLanes);
  }
}

void Store(const float* vectors, float* const* rows, size_t row_count, size_t column) {
  const FloatTag d;
  FloatVec m[kColumns];
  for (size_t c = 0; c < kColumns; ++c) m[c] = hn::LoadU(d, vectors + c * kLanes);
  StoreColumns(d, m, rows, row_count, column);
}

void StoreLine(const float* vectors, float* const* rows, size_t row_count, size_t column) {
  const FloatTag d;
  FloatVec m[kLineColumns / kColumns][kColumns];
  for (size_t c = 0; c < kLineColumns; ++c) {
    m[c / kColumns][c % kColumns] = hn::LoadU(d, vectors + c * kLanes);
  }
  StoreLineColumns(d, m, rows, row_count, column);
}

void StoreOne(const float* vectors, float* const* rows, size_t row_count, size_t column) {
  const FloatTag d;
  StoreColumn(d, hn::LoadU(d, vectors), rows, row_count, column);
}

Moves AllMoves() {
  return {kLanes, kColumns, kLineColumns, &Load, &LoadLine, &Store, &StoreLine, &StoreOne};
}

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(AllMoves);

constexpr float kUntouched = -7;

// One row of floats for each lane, each at the end of its own accessible memory.
class Rows {
 public:
  Rows(size_t count, size_t width) : width_(width) {
    memory_.reserve(count);
    for (size_t row = 0; row < count; ++row) {
      memory_.emplace_back(width);
      pointers_.push_back(memory_.back().data());
      for (size_t c = 0; c < width; ++c) memory_.back()[c] = kUntouched;
    }
  }

  float& at(size_t row, size_t column) { return memory_[row][column]; }
  float* const* pointers() const { return pointers_.data(); }
  size_t width() const { return width_; }

 private:
  size_t width_;
  std::vector<testing::GuardedArray<float>> memory_;
  std::vector<float*> pointers_;
};

float ValueAt(size_t row, size_t column) { return static_cast<float>(100 * row + column + 1); }

class TransposeTest : public ::testing::TestWithParam<std::string> {
 protected:
  Moves AllMoves() const {
    return FunctionForTarget(HWY_DISPATCH_TABLE(AllMoves), *machine::FindTarget(GetParam()))();
  }

  // Loads `columns` columns starting at 0, 1, 2 ... up to the end of the rows.
  void ExpectLoads(size_t columns, void (*load)(const float* const*, size_t, float*)) const {
    const size_t lanes = AllMoves().lanes;
    Rows rows(lanes, columns + 5);
    for (size_t r = 0; r < lanes; ++r) {
      for (size_t c = 0; c < rows.width(); ++c) rows.at(r, c) = ValueAt(r, c);
    }
    for (size_t first = 0; first + columns <= rows.width(); ++first) {
      testing::GuardedArray<float> vectors(columns * lanes);
      load(rows.pointers(), first, vectors.data());
      for (size_t c = 0; c < columns; ++c) {
        for (size_t lane = 0; lane < lanes; ++lane) {
          ASSERT_EQ(vectors[c * lanes + lane], ValueAt(lane, first + c))
              << GetParam() << ", column " << first << " + " << c << ", lane " << lane;
        }
      }
    }
  }

  // Stores `columns` columns for every row count; other rows and columns stay as they are.
  void ExpectStores(size_t columns,
                    void (*store)(const float*, float* const*, size_t, size_t)) const {
    const size_t lanes = AllMoves().lanes;
    std::vector<float> vectors(columns * lanes);
    for (size_t c = 0; c < columns; ++c) {
      for (size_t lane = 0; lane < lanes; ++lane) vectors[c * lanes + lane] = ValueAt(lane, c);
    }
    for (size_t row_count = 0; row_count <= lanes; ++row_count) {
      for (const size_t first : {0U, 1U, 3U}) {
        Rows rows(lanes, columns + 3);
        store(vectors.data(), rows.pointers(), row_count, first);
        for (size_t r = 0; r < lanes; ++r) {
          for (size_t c = 0; c < rows.width(); ++c) {
            const bool stored = r < row_count && c >= first && c < first + columns;
            ASSERT_EQ(rows.at(r, c), stored ? ValueAt(r, c - first) : kUntouched)
                << GetParam() << ", " << row_count << " rows from column " << first << ": row " << r
                << ", column " << c;
          }
        }
      }
    }
  }
};

TEST_P(TransposeTest, LoadColumns) { ExpectLoads(AllMoves().columns, AllMoves().load); }

TEST_P(TransposeTest, LoadLineColumns) {
  ExpectLoads(AllMoves().line_columns, AllMoves().load_line);
}

TEST_P(TransposeTest, StoreColumns) { ExpectStores(AllMoves().columns, AllMoves().store); }

TEST_P(TransposeTest, StoreLineColumns) {
  ExpectStores(AllMoves().line_columns, AllMoves().store_line);
}

TEST_P(TransposeTest, StoreColumn) { ExpectStores(1, AllMoves().store_one); }

TEST_P(TransposeTest, RowsMayRepeat) {
  // Unused lanes read a row that another one reads too.
  const Moves moves = AllMoves();
  Rows rows(1, moves.columns);
  for (size_t c = 0; c < moves.columns; ++c) rows.at(0, c) = ValueAt(0, c);
  const std::vector<const float*> pointers(moves.lanes, rows.pointers()[0]);
  std::vector<float> vectors(moves.columns * moves.lanes);
  moves.load(pointers.data(), 0, vectors.data());
  for (size_t i = 0; i < vectors.size(); ++i) {
    EXPECT_EQ(vectors[i], ValueAt(0, i / moves.lanes)) << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, TransposeTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
