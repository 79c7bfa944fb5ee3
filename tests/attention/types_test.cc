// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every mix of the types of q, k, v and out: widening on loading and rounding on storing are all
// that tells them from f32.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/half.h"
#include "tests/support/mentions.h"
#include "tests/support/patterns.h"

namespace lanewise::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
constexpr DataType kHalves[] = {DataType::kF16, DataType::kBF16};

struct Types {
  DataType q, k, v;
};

std::vector<Types> InputMixes() {
  std::vector<Types> mixes;
  for (const DataType q : kTypes) {
    for (const DataType k : kTypes) {
      for (const DataType v : kTypes) mixes.push_back({q, k, v});
    }
  }
  return mixes;
}

AttentionCase WithTypes(AttentionCase c, const Types& types, DataType out) {
  c.shape.q_type = types.q;
  c.shape.k_type = types.k;
  c.shape.v_type = types.v;
  c.shape.out_type = out;
  return c;
}

AttentionCase Shaped(const AttentionShape& shape) {
  AttentionCase c;
  c.shape = shape;
  c.q = Gen(1, Count(c.q_sizes()), 2.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  return c;
}

// Every option that edits scores, hides keys or adds an output.
AttentionCase EditedCase() {
  AttentionCase c = Shaped({.batch = 2,
                            .heads = 4,
                            .kv_heads = 2,
                            .queries = 21,
                            .keys = 52,
                            .dim = 19,
                            .value_dim = 23});
  c.options.causal = true;
  c.options.window = {30, 0};
  c.options.softcap = 2.5F;
  c.options.lse = c.options.weights = true;
  c.SetMask(c.pair_sizes(), RandomMask(5, Count(c.pair_sizes()), 80));
  c.SetBias({2, 1, 21, 52}, BiasWithHoles(6, 2 * 21 * 52, 2.0F, 10));
  c.SetAlibiSlopes({0.5F, 0.25F, 0, -0.125F});
  c.SetSinks({0, 1, -1, 3});
  c.SetKvLen({52, 33});
  return c;
}

// Tails around lanes and key blocks, widths that differ, shared heads, layouts.
std::vector<AttentionCase> Cases() {
  std::vector<AttentionCase> cases = {
      Shaped({.queries = 1, .keys = 1, .dim = 1, .value_dim = 1}),
      Shaped({.queries = 19, .keys = 50, .dim = 20, .value_dim = 11}),
      Shaped({.heads = 4, .kv_heads = 1, .queries = 1, .keys = 130, .dim = 64, .value_dim = 64}),
      Shaped({.heads = 2, .kv_heads = 2, .queries = 17, .keys = 48, .dim = 33, .value_dim = 7}),
      Shaped({.batch = 2,
              .heads = 3,
              .kv_heads = 3,
              .queries = 5,
              .keys = 49,
              .dim = 15,
              .value_dim = 32}),
      EditedCase()};
  cases[2].SetKvLen({97});
  cases[3].options.causal = true;
  cases[3].q_strides = cases[3].kv_strides = cases[3].out_strides = PaddedStrides;
  cases[4].q_strides = cases[4].kv_strides = cases[4].out_strides = PackedStrides;
  cases[4].placement = {.guard = GuardSide::kBefore, .lead = 1};
  cases[5].pair_strides = PaddedStrides;
  return cases;
}

TEST(AttentionTypes, EveryMixMatchesTheReference) {
  for (const AttentionCase& c : Cases()) {
    for (const Types& types : InputMixes()) {
      for (const DataType out : kTypes) {
        ExpectMatchesReference(WithTypes(c, types, out), EveryTile());
      }
    }
  }
}

// `path` with the numbers that `plan` chose, which may depend on the types.
Path SameNumbers(Path path, const PlanExplanation& plan) {
  path.overrides.kv_block = plan.kv_block;
  return path;
}

// What an array of `type` holds.
std::vector<float> AsElements(DataType type, std::vector<float> values) {
  for (float& value : values) value = Rounded(type, value);
  return values;
}

// But for bf16 keys in `few`, whose dims are added up in another order.
TEST(AttentionTypes, InputsAreWidenedExactly) {
  for (const AttentionCase& c : Cases()) {
    for (const Types& types : InputMixes()) {
      const PreparedCase typed(WithTypes(c, types, DataType::kF32));
      AttentionCase widened = c;
      widened.q = AsElements(types.q, c.q);
      widened.k = AsElements(types.k, c.k);
      widened.v = AsElements(types.v, c.v);
      const PreparedCase plain(widened);
      for (const Path& path : EveryTile()) {
        const AttentionRun run = typed.Run(path);
        if (run.plan.variant == "few" && types.k == DataType::kBF16) continue;
        EXPECT_TRUE(SameBits(run, plain.Run(SameNumbers(path, run.plan))))
            << path.ToString() << "; " << typed.description().ToString();
      }
    }
  }
}

TEST(AttentionTypes, OutputsAreRoundedOnce) {
  for (const AttentionCase& c : Cases()) {
    for (const DataType in : kTypes) {
      for (const DataType out : kHalves) {
        const PreparedCase rounded(WithTypes(c, {in, in, in}, out));
        const PreparedCase plain(WithTypes(c, {in, in, in}, DataType::kF32));
        for (const Path& path : EveryTile()) {
          const AttentionRun run = rounded.Run(path);
          AttentionRun want = plain.Run(SameNumbers(path, run.plan));
          want.out = AsElements(out, want.out);
          EXPECT_TRUE(SameBits(run, want))
              << path.ToString() << "; " << rounded.description().ToString();
        }
      }
    }
  }
}

// With one key the result is its value, of any magnitude: subnormal numbers stay, what is too large
// becomes an infinity.
TEST(AttentionTypes, OneValueOfAnyMagnitude) {
  const std::vector<float> values = {
      0,           -0.0F,     1,         -1.0F / 3,  65504,     65519.99F,   65520,
      -65520,      1e30F,     0x1p-14F,  0x1p-15F,   0x1p-24F,  0x1p-25F,    0x1.8p-25F,
      -0x1.8p-24F, 0x1p-126F, 0x1p-127F, -0x1p-133F, 0x1p-134F, 0x1.8p-133F, 0x1.FFp110F};
  for (const DataType v : kTypes) {
    for (const DataType out : kTypes) {
      for (const int64_t queries : {1, 18}) {
        AttentionCase c = PlainCase(queries, 1);
        c.shape.value_dim = static_cast<int64_t>(values.size());
        c.shape.v_type = v;
        c.shape.out_type = out;
        c.v = values;
        const std::vector<float> row = AsElements(out, AsElements(v, values));
        std::vector<float> want;
        for (int64_t i = 0; i < queries; ++i) want.insert(want.end(), row.begin(), row.end());
        const PreparedCase prepared(c);
        for (const Path& path : EveryTile()) {
          const std::vector<float> got = prepared.Run(path).out;
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(got[i], want[i]) << "value " << values[i % values.size()] << ", "
                                       << path.ToString() << "; " << c.ToString();
          }
        }
      }
    }
  }
}

// Scores of ordinary size made of subnormal queries, or keys, and a large scale.
TEST(AttentionTypes, SubnormalInputsCount) {
  for (const DataType type : kHalves) {
    for (const bool in_keys : {false, true}) {
      AttentionCase c = Shaped({.queries = 9, .keys = 21, .dim = 13, .value_dim = 5});
      const float tiny = type == DataType::kF16 ? 0x1p-16F : 0x1p-127F;
      (in_keys ? c.shape.k_type : c.shape.q_type) = type;
      for (float& value : in_keys ? c.k : c.q) value *= tiny;
      c.options.scale = 0.25F / tiny;
      ExpectMatchesReference(c, EveryTile());
    }
  }
}

TEST(AttentionTypes, ReferencesAreNotAllEqual) {
  const AttentionCase c = Cases()[1];
  std::vector<std::vector<double>> results;
  for (const DataType type : kTypes) {
    results.push_back(
        PreparedCase(WithTypes(c, {type, type, type}, DataType::kF32)).FromReference().value.out);
  }
  EXPECT_NE(results[0], results[1]);
  EXPECT_NE(results[1], results[2]);
}

TEST(AttentionTypes, ZeroSizesAndEmptyRows) {
  for (const DataType type : kHalves) {
    for (const int64_t keys : {0, 7}) {
      AttentionCase c = PlainCase(5, keys);
      c.SetTypes(type);
      c.shape.value_dim = 6;
      c.shape.dim = 3;
      c.options.causal = true;
      c.options.query_offset = -9;  // all keys lie after every query
      ExpectKnownResult(c, {.out = std::vector<double>(30, 0.0)}, EveryTile());
    }
    AttentionCase none = PlainCase(0, 7);
    none.SetTypes(type);
    ExpectMatchesReference(none, EveryTile());
    none.shape.queries = 3;
    none.shape.value_dim = 0;
    ExpectMatchesReference(none, EveryTile());
  }
}

TEST(AttentionTypes, RaggedBatches) {
  for (const Types& types : InputMixes()) {
    AttentionCase c;
    c.shape = {.heads = 2, .kv_heads = 1, .dim = 18, .value_dim = 9};
    c.SetSequences({3, 0, 1, 20}, {9, 4, 0, 55});
    c.options.causal = true;
    ExpectMatchesReference(WithTypes(c, types, types.q), EveryTile());
  }
}

// `paths` give the same bits on any number of threads.
void ExpectSameBits(const PreparedCase& prepared, const std::vector<Path>& paths) {
  AttentionRun want;
  for (Path path : paths) {
    for (const int threads : {1, 2, 3, 7}) {
      path.runtime.threads = threads;
      path.overrides.kv_block = 48;
      const AttentionRun run = prepared.Run(path);
      if (want.out.empty()) want = run;
      EXPECT_TRUE(SameBits(run, want)) << path.ToString();
    }
  }
}

TEST(AttentionTypes, BitsDoNotDependOnThreadsOrTiles) {
  for (const DataType type : kHalves) {
    AttentionCase c = EditedCase();
    c.SetTypes(type);
    const PreparedCase prepared(c);
    for (const std::string& target : AvailableTargets()) {
      std::vector<Path> tiles;
      for (const kernels::LanesKernel& tile : TilesOf(target)) {
        tiles.push_back(TilePath(target, tile));
      }
      ExpectSameBits(prepared, tiles);
      ExpectSameBits(prepared, {FewPath(target)});
    }
  }
}

// An array of another type than the plan's is an error that names both, and nothing is written.
TEST(AttentionTypes, ArraysMustHaveTheTypesOfThePlan) {
  const PreparedCase prepared(Cases()[1]);
  for (const char* name : {"q", "k", "v", "out"}) {
    for (const DataType type : kHalves) {
      Array out(prepared.description().out_sizes(), DenseStrides, {});
      AttentionTensors tensors = prepared.inputs();
      tensors.out = out.view();
      const std::string argument = name;
      if (argument == "q") tensors.q.type = type;
      if (argument == "k") tensors.k.type = type;
      if (argument == "v") tensors.v.type = type;
      if (argument == "out") tensors.out.type = type;
      const Result<PlanExplanation> result =
          RunOnPath(prepared.description().shape, {}, Path(), tensors);
      EXPECT_THAT(result.status(), IsInvalid({argument, std::string(DataTypeName(type)), "f32"}));
      for (const float value : out.Values()) ASSERT_TRUE(IsUnwritten(value));
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
