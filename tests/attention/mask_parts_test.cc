// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Masks of which each key block shows a part: the same bits as the window or length that says the
// same, whatever the block, and no influence of what lies around the part.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/paths.h"

namespace lanewise::testing {
namespace {

constexpr int64_t kQueries = 45;
constexpr int64_t kKeys = 300;

AttentionCase CaseWithoutMask() {
  AttentionCase c;
  c.shape = {
      .heads = 2, .kv_heads = 1, .queries = kQueries, .keys = kKeys, .dim = 12, .value_dim = 9};
  c.options.lse = c.options.weights = true;
  return c;
}

// Query i may see keys [begin(i), end(i)).
template <class Begin, class End>
std::vector<uint8_t> Bands(const Begin& begin, const End& end) {
  std::vector<uint8_t> mask(kQueries * kKeys);
  for (int64_t i = 0; i < kQueries; ++i) {
    const int64_t first = std::clamp<int64_t>(begin(i), 0, kKeys);
    const int64_t last = std::clamp<int64_t>(end(i), first, kKeys);
    std::fill(mask.begin() + i * kKeys + first, mask.begin() + i * kKeys + last, uint8_t{1});
  }
  return mask;
}

// Blocks of one and of several units of a mask's parts.
constexpr int64_t kKvBlocks[] = {32, 256, 0};

void ExpectSameBits(const AttentionCase& masked, const AttentionCase& other) {
  const PreparedCase with_mask(masked);
  const PreparedCase without(other);
  for (const Path& tile : EveryTile()) {
    for (const int64_t kv_block : kKvBlocks) {
      Path path = tile;
      path.overrides.kv_block = kv_block;
      path.lse = path.weights = true;
      const AttentionRun found = with_mask.Run(path);
      const AttentionRun expected = without.Run(path);
      ASSERT_EQ(found.out, expected.out) << path.ToString();
      ASSERT_EQ(found.lse, expected.lse) << path.ToString();
      ASSERT_EQ(found.weights, expected.weights) << path.ToString();
    }
  }
}

TEST(MaskParts, SayWhatAWindowSays) {
  for (const AttentionWindow window : {AttentionWindow{0, 0}, AttentionWindow{7, 3},
                                       AttentionWindow{100, 0}, AttentionWindow{-1, 5}}) {
    AttentionCase other = CaseWithoutMask();
    other.options.window = window;
    AttentionCase masked = CaseWithoutMask();
    const auto position = [](int64_t i) { return i + kKeys - kQueries; };
    masked.SetMask({1, 1, kQueries, kKeys},
                   Bands([&](int64_t i) { return window.left < 0 ? 0 : position(i) - window.left; },
                         [&](int64_t i) { return position(i) + window.right + 1; }));
    ExpectSameBits(masked, other);
  }
}

TEST(MaskParts, SayWhatALengthSays) {
  for (const int64_t length : {1, 37, 64, 257, 299}) {
    AttentionCase other = CaseWithoutMask();
    other.SetKvLen({length});
    for (const bool broadcasts : {false, true}) {
      AttentionCase masked = CaseWithoutMask();
      std::vector<uint8_t> mask = Bands([](int64_t) { return 0; }, [&](int64_t) { return length; });
      if (broadcasts) mask.resize(kKeys);
      masked.SetMask({1, 1, broadcasts ? 1 : kQueries, kKeys}, mask);
      ExpectSameBits(masked, other);
    }
  }
}

// Parts that begin and end between units, and differ from row to row: NaN outside stays outside.
TEST(MaskParts, HideWhatLiesAround) {
  for (const int64_t begin : {0, 3, 129, 255}) {
    for (const int64_t size : {1, 5, 40}) {
      AttentionCase masked = CaseWithoutMask();
      masked.SetMask({1, 1, kQueries, kKeys},
                     Bands([&](int64_t i) { return begin + i % 2; },
                           [&](int64_t i) { return begin + size + i % 2; }));
      AttentionCase clean = masked;
      masked.k = Gen(2, kKeys * masked.shape.dim);
      masked.v = Gen(3, kKeys * masked.shape.value_dim);
      const auto spoil = [&](std::vector<float>& rows, int64_t columns) {
        for (int64_t key = 0; key < kKeys; ++key) {
          if (key >= begin && key <= begin + size) continue;
          std::fill_n(rows.begin() + key * columns, columns,
                      std::numeric_limits<float>::quiet_NaN());
        }
      };
      spoil(masked.k, masked.shape.dim);
      spoil(masked.v, masked.shape.value_dim);
      ExpectSameBits(masked, clean);
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
