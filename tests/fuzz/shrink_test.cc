// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The shrinker, on faults whose smallest case is known.

#include "tests/fuzz/shrink.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/fuzz/generate.h"

namespace lanewise::testing {
namespace {

// The first generated case that `fails`.
FuzzCase FirstFailing(const std::function<bool(const FuzzCase&)>& fails) {
  for (uint32_t seed = 1; seed < 100'000; ++seed) {
    FuzzCase c = Generate(seed);
    if (fails(c)) return c;
  }
  ADD_FAILURE() << "no such case";
  return {};
}

// Shrinks the first case that `fails`, and prints it without its seed.
std::string SmallestText(const std::function<bool(const FuzzCase&)>& fails) {
  FuzzCase c = Shrink(FirstFailing(fails), fails);
  EXPECT_TRUE(fails(c));
  c.seed = 0;
  return ToText(c);
}

constexpr const char* kSmallestSizes =
    "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 1 --dim 1 --value-dim 1 --seed 0";

TEST(Shrink, DropsEverythingThatDoesNotMatter) {
  // Empty sizes are as simple as it gets and stay.
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.shape.batch > 1 && c.shape.queries > 20 && c.shape.keys > 20 &&
                     c.shape.value_dim > 1;
            }),
            "--batch 2 --heads 1 --kv-heads 1 --queries 21 --keys 21 --dim 1 --value-dim 2 "
            "--seed 0");
}

TEST(Shrink, KeepsTheOptionsThatAreNeededTogether) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.options.causal && c.options.window.left > 2 && !c.kv_len.empty() &&
                     c.kv_len.back() > 3 && c.shape.keys > 5 && c.shape.queries >= 1;
            }),
            "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 6 --dim 1 --value-dim 1 --causal "
            "--window 3,-1 --kv-len 4 --seed 0");
}

TEST(Shrink, KeepsPatternsAndTheirAxes) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.mask.kind == MaskKind::kBlocks && c.mask.varies[2] && !c.mask.varies[0] &&
                     c.bias.kind == BiasKind::kHoles && c.shape.queries >= 1 && c.shape.keys >= 1;
            }),
            "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 1 --dim 1 --value-dim 1 "
            "--mask blocks:q --bias holes: --seed 0");
}

TEST(Shrink, ReducesHeadsWithoutBreakingTheirGroups) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.shape.heads / c.shape.kv_heads > 3 && c.shape.kv_heads > 1 &&
                     c.shape.queries >= 1 && c.shape.keys >= 1;
            }),
            "--batch 1 --heads 8 --kv-heads 2 --queries 1 --keys 1 --dim 1 --value-dim 1 --seed 0");
}

TEST(Shrink, ReducesSequences) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.sequences.size() > 1 && c.sequences[0].queries == 0 &&
                     c.sequences[1].queries > 4;
            }),
            "--batch 2 --heads 1 --kv-heads 1 --queries 5 --keys 0 --dim 1 --value-dim 1 "
            "--ragged 0+0,5+0 --seed 0");
}

TEST(Shrink, ReducesNumbers) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.options.query_offset && *c.options.query_offset < -2 &&
                     c.options.softcap.value_or(0) > 0 && c.shape.batch >= 1 &&
                     c.shape.queries >= 1 && c.shape.keys >= 1 && c.shape.value_dim >= 1;
            }),
            "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 1 --dim 1 --value-dim 1 "
            "--query-offset -3 --softcap 1 --seed 0");
}

TEST(Shrink, ReducesTypesAndSlots) {
  EXPECT_EQ(SmallestText([](const FuzzCase& c) {
              return c.shape.k_type == DataType::kF16 && c.page_size > 2 && !c.kv_first.empty() &&
                     c.kv_first[0] > 1 && c.path.overrides.variant == "few" &&
                     c.shape.queries >= 1 && c.shape.value_dim >= 1;
            }),
            "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 2 --dim 1 --value-dim 1 "
            "--k-type f16 --kv-first 2 --page-size 3 --seed 0 --variant few");
}

TEST(Shrink, KeepsThePathThatFails) {
  const FuzzCase failing = FirstFailing([](const FuzzCase& c) {
    return !c.path.overrides.tile.empty() && c.path.overrides.kv_block > 4 &&
           c.path.runtime.threads > 1 && c.shape.batch >= 1 && c.shape.queries >= 1 &&
           c.shape.keys >= 1 && c.shape.value_dim >= 1;
  });
  const std::string tile = failing.path.overrides.tile;
  FuzzCase c = Shrink(failing, [&](const FuzzCase& simpler) {
    return simpler.path.overrides.tile == tile && simpler.path.overrides.kv_block > 4;
  });
  c.seed = 0;
  EXPECT_EQ(ToText(c), std::string(kSmallestSizes) + " --target " + failing.path.runtime.target +
                           " --tile " + tile + " --kv-block 5");
}

TEST(Shrink, StopsAfterSoManyTries) {
  int64_t tries = 0;
  const auto count = [&](const FuzzCase&) {
    ++tries;
    return true;
  };
  Shrink(Generate(7), count, 5);
  EXPECT_EQ(tries, 5);
}

TEST(Shrink, EveryCaseEndsAtTheSimplest) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    FuzzCase c = Shrink(Generate(seed), [](const FuzzCase& simpler) {
      return simpler.shape.batch >= 1 && simpler.shape.queries >= 1 && simpler.shape.keys >= 1 &&
             simpler.shape.value_dim >= 1;
    });
    if (c.shape.batch * c.shape.queries * c.shape.keys * c.shape.value_dim == 0) continue;
    c.seed = 0;
    EXPECT_EQ(ToText(c), kSmallestSizes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanewise::testing
