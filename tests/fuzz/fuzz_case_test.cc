// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases as lines of text, and what the generator covers.

#include "tests/fuzz/fuzz_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/generate.h"

namespace lanewise::testing {
namespace {

using ::testing::HasSubstr;

TEST(FuzzCase, PrintsEveryField) {
  FuzzCase c;
  c.shape = {.batch = 2,
             .heads = 6,
             .kv_heads = 3,
             .queries = 5,
             .keys = 9,
             .dim = 3,
             .value_dim = 2,
             .q_type = DataType::kF16,
             .k_type = DataType::kBF16,
             .v_type = DataType::kF16,
             .out_type = DataType::kBF16};
  c.options.scale = -0.25F;
  c.options.causal = true;
  c.options.query_offset = -7;
  c.options.window = {2, kUnlimited};
  c.options.softcap = 0.1F;
  c.options.lse = true;
  c.options.weights = true;
  c.mask = {MaskKind::kEmptyRows, {false, false, true, true}};
  c.bias = {BiasKind::kLowest, {false, false, false, true}};
  c.slopes = SlopesKind::kSteep;
  c.sinks = SinksKind::kMixed;
  c.kv_len = {7, 0};
  c.kv_first = {8, 3};
  c.page_size = 4;
  c.seed = 1234;
  c.data = DataKind::kRising;
  c.poison = PoisonKind::kSomeInf;
  c.q_layout = LayoutKind::kPacked;
  c.kv_layout = LayoutKind::kSharedHeads;
  c.pair_layout = LayoutKind::kSharedRows;
  c.out_layout = LayoutKind::kPadded;
  c.guard_before = true;
  c.path.runtime.target = "AVX2";
  c.path.runtime.threads = 3;
  c.path.overrides = {.variant = "lanes", .tile = "4x3v", .kv_block = 8, .q_groups = 2, .grain = 1};
  EXPECT_EQ(ToText(c),
            "--batch 2 --heads 6 --kv-heads 3 --queries 5 --keys 9 --dim 3 --value-dim 2 "
            "--q-type f16 --k-type bf16 --v-type f16 --out-type bf16 "
            "--scale -0.25 --causal --query-offset -7 --window 2,-1 --softcap 0.100000001 "
            "--mask empty-rows:qk --bias lowest:k --alibi steep --sinks mixed --kv-len 7,0 "
            "--kv-first 8,3 --page-size 4 --lse "
            "--weights --data rising --poison some-inf --q-layout packed --kv-layout shared-heads "
            "--pair-layout shared-rows --out-layout padded --guard-before --seed 1234 --target "
            "AVX2 --variant lanes --tile 4x3v --kv-block 8 --q-groups 2 --grain 1 --threads 3");
}

TEST(FuzzCase, RaggedSequencesGiveTheSizes) {
  FuzzCase c;
  c.sequences = {{3, 5}, {0, 2}};
  Normalize(c);
  EXPECT_EQ(ToText(c),
            "--batch 2 --heads 1 --kv-heads 1 --queries 3 --keys 7 --dim 1 --value-dim 1 "
            "--ragged 3+5,0+2 --seed 1");
}

TEST(FuzzCase, TextCanBeReadBack) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const std::string text = ToText(Generate(seed));
    const Result<FuzzCase> read = ParseFuzzCase(text);
    ASSERT_TRUE(read.ok()) << text << "\n" << read.status().message();
    EXPECT_EQ(ToText(*read), text);
  }
}

TEST(FuzzCase, ExtremeNumbersSurvive) {
  FuzzCase c;
  c.options.query_offset = std::numeric_limits<int64_t>::min();
  c.options.window.right = std::numeric_limits<int64_t>::max();
  c.options.scale = std::numeric_limits<float>::denorm_min();
  const Result<FuzzCase> read = ParseFuzzCase(ToText(c));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->options.query_offset, c.options.query_offset);
  EXPECT_EQ(read->options.window.right, c.options.window.right);
  EXPECT_EQ(read->options.scale, c.options.scale);
}

TEST(FuzzCase, RefusesTextThatMeansNothing) {
  for (const char* text :
       {"--hedas 3", "--heads", "--heads x", "--heads 3x", "--heads 3 --kv-heads 2", "--kv-heads 0",
        "--mask random", "--mask random:x", "--mask lowest:q", "--window 2", "--kv-len 1,2",
        "--kv-len 9", "--kv-first 9", "--page-size -1", "--k-type f64", "--ragged 3", "--data none",
        "--scale"}) {
    const Result<FuzzCase> read = ParseFuzzCase(text);
    EXPECT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.status().message(), HasSubstr("--")) << text;
  }
}

// Values of every flag that the first cases show, by flag.
std::map<std::string, std::map<std::string, int>> CountValues(uint32_t cases) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (uint32_t seed = 0; seed < cases; ++seed) {
    std::istringstream words(ToText(Generate(seed)));
    std::string flag;
    for (std::string word; words >> word;) {
      if (word.starts_with("--")) {
        flag = word;
        ++counts[flag][""];
      } else {
        ++counts[flag][word.substr(0, word.find(':'))];
      }
    }
  }
  return counts;
}

TEST(Generate, IsDeterministic) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(ToText(Generate(seed)), ToText(Generate(seed)));
    EXPECT_NE(ToText(Generate(seed)), ToText(Generate(seed + 1)));
  }
}

TEST(Generate, CoversEveryKindAndOption) {
  auto counts = CountValues(2000);
  const std::pair<const char*, std::vector<const char*>> expected[] = {
      {"--data", {"large", "rising", "constant"}},
      {"--poison", {"hidden-nan", "hidden-inf", "some-nan", "some-inf", "queries"}},
      {"--mask", {"all", "random", "sparse", "empty-rows", "blocks"}},
      {"--bias", {"zero", "uniform", "holes", "empty-rows", "lowest", "nan"}},
      {"--alibi", {"usual", "zero", "negative", "steep"}},
      {"--sinks", {"uniform", "absent", "mixed", "large"}},
      {"--q-type", {"f16", "bf16"}},
      {"--k-type", {"f16", "bf16"}},
      {"--v-type", {"f16", "bf16"}},
      {"--out-type", {"f16", "bf16"}},
      {"--variant", {"lanes", "few"}},
      {"--page-size", {"1", "2", "20"}},
      {"--kv-layout", {"padded", "packed", "shared-heads", "shared-batch"}},
      {"--threads", {"2", "3"}},
      {"--scale", {"0", "-1", "40"}},
      {"--queries", {"0", "1"}},
      {"--keys", {"0", "1"}},
      {"--value-dim", {"0", "1"}},
      {"--window", {"0,-1", "-1,0"}},
      {"--causal", {}},
      {"--top-left", {}},
      {"--query-offset", {}},
      {"--softcap", {}},
      {"--kv-len", {}},
      {"--kv-first", {}},
      {"--ragged", {}},
      {"--lse", {}},
      {"--weights", {}},
      {"--guard-before", {}}};
  for (const auto& [flag, values] : expected) {
    EXPECT_GE(counts[flag][""], 100) << flag;
    for (const char* value : values) EXPECT_GE(counts[flag][value], 2) << flag << " " << value;
  }
}

TEST(Generate, UsesEveryTileOfEveryTarget) {
  std::map<std::string, int> counts;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const FuzzCase c = Generate(seed);
    ++counts[c.path.runtime.target + " " + c.path.overrides.tile];
  }
  for (const std::string& target : AvailableTargets()) {
    for (const kernels::LanesKernel& tile : TilesOf(target)) {
      EXPECT_GE(counts[target + " " + std::string(tile.tile)], 1) << target << " " << tile.tile;
    }
    EXPECT_GE(counts[target + " "], 1) << target << ", default tile";
  }
}

TEST(Generate, RefusedCombinationsAreFew) {
  int refused = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) refused += IsRefused(Generate(seed));
  EXPECT_GE(refused, 2);
  EXPECT_LE(refused, 100);
}

}  // namespace
}  // namespace lanewise::testing
