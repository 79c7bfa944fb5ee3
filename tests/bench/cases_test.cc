// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of cases and look-up by name.

#include "bench/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/attention_cases.h"
#include "bench/gemm_cases.h"
#include "tests/bench/attention_named.h"

namespace lanewise::bench {
namespace {

std::vector<std::string> Names(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& c : cases) names.push_back(c.name);
  return names;
}

TEST(CasesTest, NamesAreUniqueAndKnown) {
  const std::vector<std::string> names = Names(AllCases());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names, (std::vector<std::string>{"full_d64",          "full_d128",
                                             "full_d128_f16",     "full_d128_bf16",
                                             "full_d64_mask",     "full_d64_bias",
                                             "full_d64_softcap",  "gaussian_d64",
                                             "additive_d64",      "causal_d64",
                                             "causal_d128",       "bert",
                                             "local32",           "local128",
                                             "local512",          "window128_causal",
                                             "decode_gqa",        "decode_mha",
                                             "decode_f16",        "decode_bf16",
                                             "decode_l2",         "decode_long",
                                             "chunk_gqa",         "gemm_512",
                                             "gemm_1024",         "gemm_2048",
                                             "gemm_proj",         "gemm_small",
                                             "gemm_small_packed", "gemm_depth64",
                                             "gemm_row",          "gemm_row_transposed",
                                             "gemm_row_packed",   "gemm_row_packed_bf16",
                                             "softmax_rows",      "mha_base",
                                             "mha_minilm",        "heads_1",
                                             "heads_2",           "heads_4",
                                             "heads_8",           "heads_16",
                                             "heads_32"}));
}

TEST(CasesTest, LinesOfTheTable) {
  const AttentionCase chunk = AttentionNamed("chunk_gqa");
  EXPECT_EQ(chunk.shape.batch, 1);
  EXPECT_EQ(chunk.shape.heads, 32);
  EXPECT_EQ(chunk.shape.kv_heads, 8);
  EXPECT_EQ(chunk.shape.queries, 64);
  EXPECT_EQ(chunk.shape.keys, 4096);
  EXPECT_EQ(chunk.shape.dim, 128);
  EXPECT_EQ(chunk.shape.value_dim, 128);
  EXPECT_TRUE(chunk.options.causal);

  const AttentionCase bert = AttentionNamed("bert");
  EXPECT_EQ(bert.shape.batch, 8);
  EXPECT_EQ(bert.shape.heads, 12);
  EXPECT_EQ(bert.shape.queries, 128);
  EXPECT_FALSE(bert.options.causal);
}

TEST(CasesTest, LocalCases) {
  const std::pair<const char*, AttentionWindow> cases[] = {{"local32", {32, 32}},
                                                           {"local128", {128, 128}},
                                                           {"local512", {512, 512}},
                                                           {"window128_causal", {127, 0}}};
  for (const auto& [name, window] : cases) {
    const AttentionCase local = AttentionNamed(name);
    EXPECT_EQ(local.shape.batch, 1);
    EXPECT_EQ(local.shape.heads, 4);
    EXPECT_EQ(local.shape.kv_heads, 4);
    EXPECT_EQ(local.shape.queries, 8192);
    EXPECT_EQ(local.shape.keys, 8192);
    EXPECT_EQ(local.shape.dim, 64);
    EXPECT_EQ(local.options.window.left, window.left) << name;
    EXPECT_EQ(local.options.window.right, window.right) << name;
    EXPECT_EQ(local.options.causal, std::string(name) == "window128_causal");
  }
}

TEST(CasesTest, TypedCasesHaveTheShapeOfTheirF32Counterpart) {
  const struct {
    const char* name;
    const char* plain;
    const char* types;  // as CustomCase puts them into names
  } cases[] = {{"full_d128_f16", "full_d128", "_f16_f16_f16_f32"},
               {"full_d128_bf16", "full_d128", "_bf16_bf16_bf16_f32"},
               {"decode_f16", "decode_gqa", "_f32_f16_f16_f32"},
               {"decode_bf16", "decode_gqa", "_f32_bf16_bf16_f32"}};
  for (const auto& c : cases) {
    const AttentionCase typed = AttentionNamed(c.name);
    const AttentionCase plain = AttentionNamed(c.plain);
    EXPECT_EQ(CustomCase(typed.shape, typed.options).name,
              CustomCase(plain.shape, plain.options).name + c.types);
  }
}

TEST(CasesTest, CachedAndLongDecode) {
  const AttentionCase cached = AttentionNamed("decode_l2");
  EXPECT_EQ(CustomCase(cached.shape, cached.options).name, "b1_h8_kv1_q1_k512_d128_v128");
  const AttentionCase long_one = AttentionNamed("decode_long");
  EXPECT_EQ(CustomCase(long_one.shape, long_one.options).name, "b1_h1_kv1_q1_k65536_d64_v64");
}

// They are compared with full_d64.
TEST(CasesTest, EditedCasesHaveThePlainShape) {
  const AttentionCase plain = AttentionNamed("full_d64");
  for (const char* name : {"full_d64_mask", "full_d64_bias", "full_d64_softcap"}) {
    const AttentionCase edited = AttentionNamed(name);
    EXPECT_EQ(CustomCase(edited.shape, {}).name, CustomCase(plain.shape, {}).name);
    EXPECT_EQ(edited.options.mask, edited.name == "full_d64_mask");
    EXPECT_EQ(edited.options.bias, edited.name == "full_d64_bias");
    EXPECT_EQ(edited.options.softcap.value_or(0), edited.name == "full_d64_softcap" ? 30 : 0);
  }
}

TEST(CasesTest, MatrixProducts) {
  const struct {
    const char* name;
    int64_t rows, columns, depth;
    bool packed_b, transpose_b;
    DataType b_type = DataType::kF32;
  } expected[] = {{"gemm_512", 512, 512, 512, false, false},
                  {"gemm_1024", 1024, 1024, 1024, false, false},
                  {"gemm_2048", 2048, 2048, 2048, false, false},
                  {"gemm_proj", 2048, 512, 512, false, false},
                  {"gemm_small", 128, 768, 768, false, false},
                  {"gemm_small_packed", 128, 768, 768, true, false},
                  {"gemm_depth64", 2048, 2048, 64, false, false},
                  {"gemm_row", 1, 4096, 4096, false, false},
                  {"gemm_row_transposed", 1, 4096, 4096, false, true},
                  {"gemm_row_packed", 1, 4096, 4096, true, false},
                  {"gemm_row_packed_bf16", 1, 4096, 4096, true, false, DataType::kBF16}};
  const std::vector<GemmCase> cases = GemmCases();
  ASSERT_EQ(cases.size(), std::size(expected));
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].name, expected[i].name);
    EXPECT_EQ(cases[i].shape.rows, expected[i].rows) << cases[i].name;
    EXPECT_EQ(cases[i].shape.columns, expected[i].columns) << cases[i].name;
    EXPECT_EQ(cases[i].shape.depth, expected[i].depth) << cases[i].name;
    EXPECT_EQ(cases[i].options.packed_b, expected[i].packed_b) << cases[i].name;
    EXPECT_EQ(cases[i].options.transpose_b, expected[i].transpose_b) << cases[i].name;
    EXPECT_EQ(cases[i].shape.b_type, expected[i].b_type) << cases[i].name;
  }
}

TEST(CasesTest, EveryCaseCanBePlanned) {
  for (const AttentionCase& c : AttentionCases()) {
    const Result<AttentionPlan> plan = PlanAttention(c.shape, c.options);
    EXPECT_TRUE(plan.ok()) << c.name << ": " << plan.status().message();
  }
  for (const GemmCase& c : GemmCases()) {
    const Result<GemmPlan> plan = PlanGemm(c.shape, c.options);
    EXPECT_TRUE(plan.ok()) << c.name << ": " << plan.status().message();
  }
}

TEST(CasesTest, FindsInTheOrderAsked) {
  const std::vector<std::string> names = {"bert", "full_d64", "bert"};
  const Result<std::vector<Case>> found = FindCases(names);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(Names(*found), names);
}

TEST(CasesTest, NoNamesMeansAll) { EXPECT_EQ(Names(*FindCases({})), Names(AllCases())); }

TEST(CasesTest, UnknownNameListsTheKnownOnes) {
  for (const char* name : {"", "full", "FULL_D64", "full_d64 "}) {
    const Result<std::vector<Case>> found = FindCases({"bert", name});
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
    const std::string message = found.status().message();
    EXPECT_NE(message.find("\"" + std::string(name) + "\""), std::string::npos) << message;
    for (const Case& c : AllCases()) {
      EXPECT_NE(message.find(c.name), std::string::npos) << message;
    }
  }
}

TEST(CasesTest, MessageStaysOneShortLine) {
  const std::string message = FindCases({"x\n" + std::string(5000, 'y')}).status().message();
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(message.size(), 1000U);
}

TEST(CasesTest, CustomNamesTellTheTypes) {
  AttentionShape shape = {.queries = 9, .keys = 9, .dim = 64, .value_dim = 64};
  const std::string plain = "b1_h1_kv1_q9_k9_d64_v64";
  EXPECT_EQ(CustomCase(shape, {}).name, plain);
  shape.v_type = DataType::kBF16;
  EXPECT_EQ(CustomCase(shape, {}).name, plain + "_f32_f32_bf16_f32");
  shape.q_type = DataType::kF16;
  EXPECT_EQ(CustomCase(shape, {}).name, plain + "_f16_f32_bf16_f32");
  shape.k_type = shape.v_type = DataType::kF16;
  EXPECT_EQ(CustomCase(shape, {}).name, plain + "_f16_f16_f16_f32");
  shape.out_type = DataType::kF16;
  AttentionOptions options;
  options.causal = true;
  EXPECT_EQ(CustomCase(shape, options).name, plain + "_f16_causal");
}

TEST(CasesTest, CustomNamesTellTheShape) {
  AttentionShape shape;
  shape.batch = 2;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.queries = 1;
  shape.keys = 8192;
  shape.dim = 128;
  shape.value_dim = 64;
  EXPECT_EQ(CustomCase(shape, {}).name, "b2_h32_kv8_q1_k8192_d128_v64");
  AttentionOptions options;
  options.causal = true;
  options.query_offset = -3;
  EXPECT_EQ(CustomCase(shape, options).name, "b2_h32_kv8_q1_k8192_d128_v64_causal_offset-3");
  options = {};
  options.window = {127, kUnlimited};
  options.softcap = 0.5f;
  options.mask = options.bias = options.alibi_slopes = options.sinks = true;
  options.lse = options.weights = options.kv_len = true;
  EXPECT_EQ(CustomCase(shape, options, {.kv_len = {7, 7}}).name,
            "b2_h32_kv8_q1_k8192_d128_v64_window127_-1_softcap0.5_mask_bias_alibi_sinks_lse_"
            "weights_kv_len7");
  const AttentionCase uneven = CustomCase(shape, options, {.kv_len = {8000, 12}});
  EXPECT_THAT(uneven.name, ::testing::EndsWith("_kv_len12to8000"));
  EXPECT_THAT(uneven.lengths.kv_len, ::testing::ElementsAre(8000, 12));
}

TEST(CasesTest, CustomNamesTellTheSequences) {
  AttentionShape shape = {.batch = 2, .queries = 10, .keys = 8, .dim = 64, .value_dim = 64};
  AttentionOptions options;
  options.ragged = options.lse = true;
  const AttentionCase uneven =
      CustomCase(shape, options, {.q_offsets = {0, 3, 10}, .k_offsets = {0, 4, 8}});
  EXPECT_EQ(uneven.name, "b2_h1_kv1_q10_k8_d64_v64_lse_ragged_q3to7_k4");
  EXPECT_THAT(uneven.lengths.q_offsets, ::testing::ElementsAre(0, 3, 10));
  EXPECT_THAT(uneven.lengths.k_offsets, ::testing::ElementsAre(0, 4, 8));
  shape.batch = shape.queries = shape.keys = 0;
  EXPECT_EQ(CustomCase(shape, options, {.q_offsets = {0}, .k_offsets = {0}}).name,
            "b0_h1_kv1_q0_k0_d64_v64_lse_ragged");
}

}  // namespace
}  // namespace lanewise::bench
