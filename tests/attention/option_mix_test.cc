// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Options in all combinations, drawn at random, against the definition: what each does alone is
// tested elsewhere, here they meet.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

// Reproducible draws.
class Dice {
 public:
  explicit Dice(uint32_t seed) : seed_(seed) {}

  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(GenBits(seed_, draws_++) / 16 % static_cast<uint32_t>(limit));
  }
  bool OneIn(int64_t count) { return Below(count) == 0; }
  uint32_t Seed() { return static_cast<uint32_t>(Below(1000)); }

 private:
  uint32_t seed_;
  uint32_t draws_ = 0;
};

AttentionShape AnyShape(Dice& dice) {
  AttentionShape shape;
  shape.batch = 1 + dice.Below(3);
  shape.kv_heads = 1 + dice.Below(2);
  shape.heads = shape.kv_heads * (1 + dice.Below(3));
  shape.queries = dice.OneIn(4) ? 1 : dice.Below(90);
  shape.keys = dice.OneIn(12) ? 0 : 1 + dice.Below(160);
  shape.dim = 1 + dice.Below(24);
  shape.value_dim = 1 + dice.Below(24);
  return shape;
}

void AddPositions(Dice& dice, AttentionCase& c) {
  c.options.causal = dice.OneIn(2);
  const auto side = [&] { return dice.OneIn(3) ? kUnlimited : dice.Below(dice.OneIn(3) ? 4 : 80); };
  if (dice.OneIn(2)) c.options.window = {side(), side()};
  if (dice.OneIn(5)) {
    c.options.top_left = true;
  } else if (dice.OneIn(4)) {
    c.options.query_offset = dice.Below(120) - 50;
  }
}

Sizes AnyBroadcast(Dice& dice, Sizes sizes) {
  for (int64_t& size : sizes) {
    if (dice.OneIn(3)) size = 1;
  }
  return sizes;
}

void AddMask(Dice& dice, AttentionCase& c) {
  const Sizes sizes = AnyBroadcast(dice, c.pair_sizes());
  const uint32_t percent = static_cast<uint32_t>(dice.Below(101));
  if (dice.OneIn(2)) {
    c.SetMask(sizes, RandomMask(dice.Seed(), Count(sizes), percent));
  } else {
    c.SetMask(sizes,
              BlockMask(dice.Seed(), sizes, {1 + dice.Below(40), 1 + dice.Below(60)}, percent));
  }
}

void AddBias(Dice& dice, AttentionCase& c) {
  const Sizes sizes = AnyBroadcast(dice, c.pair_sizes());
  const uint32_t holes = dice.OneIn(2) ? 0 : static_cast<uint32_t>(dice.Below(90));
  c.SetBias(sizes, BiasWithHoles(dice.Seed(), Count(sizes), dice.OneIn(4) ? 50.0F : 2.0F, holes));
}

// Ragged batches of the sizes in c.shape, and what does not go with them.
void AddSequencesOrPairs(Dice& dice, AttentionCase& c) {
  if (dice.OneIn(5)) {
    std::vector<int64_t> queries;
    std::vector<int64_t> keys;
    for (int64_t left = 1 + dice.Below(6); left > 0; --left) {
      queries.push_back(dice.OneIn(4) ? 0 : dice.Below(60));
      keys.push_back(dice.OneIn(4) ? 0 : dice.Below(90));
    }
    c.SetSequences(queries, keys);
    return;
  }
  if (dice.OneIn(3)) AddMask(dice, c);
  if (dice.OneIn(3)) AddBias(dice, c);
  if (!dice.OneIn(3)) return;
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < c.shape.batch; ++b) lengths.push_back(dice.Below(c.shape.keys + 1));
  c.SetKvLen(lengths);
}

AttentionCase AnyCase(uint32_t seed) {
  Dice dice(seed);
  AttentionCase c;
  c.shape = AnyShape(dice);
  AddPositions(dice, c);
  AddSequencesOrPairs(dice, c);
  if (dice.OneIn(3)) c.options.scale = static_cast<float>(dice.Below(7)) / 4.0F - 0.5F;
  if (dice.OneIn(3)) c.options.softcap = static_cast<float>(1 + dice.Below(40)) / 4.0F;
  if (dice.OneIn(3)) c.SetAlibiSlopes(Gen(dice.Seed(), c.shape.heads));
  if (dice.OneIn(3)) c.SetSinks(Gen(dice.Seed(), c.shape.heads, 6.0F));
  const StrideRule rules[] = {DenseStrides, PaddedStrides, PackedStrides};
  c.q_strides = rules[dice.Below(3)];
  c.kv_strides = rules[dice.Below(3)];
  c.pair_strides = rules[dice.Below(3)];
  c.out_strides = rules[dice.Below(3)];
  if (dice.OneIn(2)) c.placement.guard = GuardSide::kBefore;
  c.q = Gen(dice.Seed(), Count(c.q_sizes()), dice.OneIn(3) ? 20.0F : 2.0F);
  return c;
}

// `count` cases a tile, each with other data, outputs and settings.
void CheckMixes(uint32_t first, uint32_t count) {
  uint32_t tile_number = 0;
  for (const std::string& target : AvailableTargets()) {
    for (const kernels::LanesKernel& tile : TilesOf(target)) {
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t seed = first + tile_number * count + i;
        Dice dice(seed + 1000000);
        Path path = TilePath(target, tile);
        path.runtime.threads = static_cast<int>(1 + dice.Below(3));
        path.lse = dice.OneIn(2);
        path.weights = dice.OneIn(2);
        path.overrides.q_groups = dice.Below(4);
        path.overrides.kv_block = dice.OneIn(2) ? 0 : 1 + dice.Below(70);
        ExpectMatchesReference(AnyCase(seed), {path});
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
      }
      ++tile_number;
    }
  }
}

TEST(AttentionOptionMix, RandomCases) { CheckMixes(0, 60); }

TEST(SlowAttentionOptionMix, RandomCases) { CheckMixes(10000, 1000); }

}  // namespace
}  // namespace lanewise::testing
