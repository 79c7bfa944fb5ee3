// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// src/kernels/lanes_spans-inl.h on every target: no lane misses a key that it sees, whatever the
// bounds, and vectors keep away from keys that a window hides from them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/kernels/dispatch.h"
#include "src/kernels/lanes.h"
#include "src/machine/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/lanes_spans_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/lanes_spans-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_LANES_SPANS_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_LANES_SPANS_TEST_TYPES_
namespace lanewise::kernels {

struct KeysOfVectors {
  size_t begin;
  size_t end;
  size_t vector;
  size_t vector_count;
};

// The spans of one register tile.
struct SpansOfTile {
  size_t rows;
  size_t vectors;
  size_t lanes;  // of a vector
  std::vector<KeysOfVectors> (*spans)(const StepArgs& args);
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_LANES_SPANS_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

template <size_t MR, size_t NV>
std::vector<KeysOfVectors> ListSpans(const StepArgs& args) {
  std::vector<KeysOfVectors> list;
  const Spans<MR, NV> spans(args);
  for (const Span& span : spans) {
    list.push_back({span.keys.begin, span.keys.end, span.vector, span.vector_count});
  }
  return list;
}

std::vector<SpansOfTile> Tiles() {
  return {{8, 1, kLanes, &ListSpans<8, 1>},
          {8, 2, kLanes, &ListSpans<8, 2>},
          {4, 3, kLanes, &ListSpans<4, 3>},
          {4, 4, kLanes, &ListSpans<4, 4>}};
}

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(Tiles);

// Bounds of the lanes of a step.
struct Step {
  std::vector<int32_t> begin;
  std::vector<int32_t> end;
  size_t key_count;
};

class LanesSpansTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<SpansOfTile> AllTiles() {
    return FunctionForTarget(HWY_DISPATCH_TABLE(Tiles), *machine::FindTarget(GetParam()))();
  }

  static std::vector<KeysOfVectors> SpansOf(const SpansOfTile& tile, const Step& step) {
    const LaneBounds bounds = {step.begin.data(), step.end.data(), 0, 0};
    StepArgs args = {};
    args.key_count = step.key_count;
    args.edits.bounds = &bounds;
    return tile.spans(args);
  }

  // Spans follow each other from the first key to the last, and hold all vectors that see a key.
  static void ExpectSpans(const SpansOfTile& tile, const Step& step) {
    const std::vector<KeysOfVectors> spans = SpansOf(tile, step);
    EXPECT_LE(spans.size(), 2 * tile.vectors + 1);
    size_t key = 0;
    for (const KeysOfVectors& span : spans) {
      ASSERT_EQ(span.begin, key);
      ASSERT_LT(span.begin, span.end);
      ASSERT_LE(span.vector + span.vector_count, tile.vectors);
      for (; key < span.end; ++key) {
        for (size_t lane = 0; lane < tile.vectors * tile.lanes; ++lane) {
          const int32_t k = static_cast<int32_t>(key);
          if (k < step.begin[lane] || k >= step.end[lane]) continue;
          const size_t vector = lane / tile.lanes;
          ASSERT_TRUE(span.vector <= vector && vector < span.vector + span.vector_count)
              << GetParam() << ", " << tile.rows << " x " << tile.vectors << ": lane " << lane
              << " sees key " << key;
        }
      }
    }
    ASSERT_EQ(key, step.key_count);
  }
};

TEST_P(LanesSpansTest, NoLaneMissesAKey) {
  std::mt19937 random(1);
  for (const SpansOfTile& tile : AllTiles()) {
    const size_t lanes = tile.vectors * tile.lanes;
    for (int i = 0; i < 2000; ++i) {
      Step step;
      step.key_count = 1 + random() % 200;
      for (std::vector<int32_t>* ends : {&step.begin, &step.end}) {
        // Few different numbers, so that ends meet.
        const size_t unit = 1 + random() % 40;
        for (size_t lane = 0; lane < lanes; ++lane) {
          const size_t key = random() % 250 / unit * unit;
          ends->push_back(static_cast<int32_t>(std::min<size_t>(key, step.key_count)));
        }
        std::sort(ends->begin(), ends->end());
      }
      ExpectSpans(tile, step);
      if (HasFatalFailure()) return;
    }
  }
}

// Rows that see 128 keys each, one key on from row to row.
TEST_P(LanesSpansTest, VectorsTakeTheKeysOfTheirWindow) {
  constexpr size_t kWindow = 128;
  for (const SpansOfTile& tile : AllTiles()) {
    const size_t lanes = tile.vectors * tile.lanes;
    Step step;
    step.key_count = (kWindow + lanes - 1 + tile.rows - 1) / tile.rows * tile.rows;
    for (size_t lane = 0; lane < lanes; ++lane) {
      step.begin.push_back(static_cast<int32_t>(lane));
      step.end.push_back(static_cast<int32_t>(lane + kWindow));
    }
    ExpectSpans(tile, step);
    std::vector<size_t> keys(tile.vectors);
    for (const KeysOfVectors& span : SpansOf(tile, step)) {
      for (size_t j = 0; j < span.vector_count; ++j) {
        keys[span.vector + j] += span.end - span.begin;
      }
    }
    // Whole register tiles at both ends, of up to as many rows as tiles of one vector have.
    const size_t most = kWindow + tile.lanes - 1 + 2 * tile.rows * tile.vectors;
    for (size_t j = 0; j < tile.vectors; ++j) {
      EXPECT_GE(keys[j], kWindow + tile.lanes - 1) << GetParam();
      EXPECT_LE(keys[j], most) << GetParam() << ", vector " << j << " of " << tile.vectors;
    }
  }
}

TEST_P(LanesSpansTest, AllVectorsTakeAllKeysWithoutBounds) {
  for (const SpansOfTile& tile : AllTiles()) {
    StepArgs args = {};
    args.key_count = 37;
    const std::vector<KeysOfVectors> spans = tile.spans(args);
    ASSERT_EQ(spans.size(), 1U);
    EXPECT_EQ(spans[0].begin, 0U);
    EXPECT_EQ(spans[0].end, 37U);
    EXPECT_EQ(spans[0].vector, 0U);
    EXPECT_EQ(spans[0].vector_count, tile.vectors);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LanesSpansTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
