// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise bench`: the names in its JSON, and that every flag reaches the case. No speeds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "tests/tools/command_json.h"
#include "tests/tools/command_runner.h"

namespace lanewise::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

TEST(BenchCommandTest, HasTheNamesOfTheDesign) {
  const json report = JsonOf(RunCommand({"bench", "--json", "--queries", "64", "--dim", "16",
                                         "--seconds", "0.01", "--threads", "1"}));
  for (const char* name : {"machine", "threads", "fma_peak_gflops", "results"}) {
    EXPECT_TRUE(report.contains(name)) << name;
  }
  ASSERT_EQ(report["results"].size(), 1U);
  EXPECT_EQ(NamesOf(report["results"][0]),
            (std::set<std::string>{"case", "plan", "ms", "gflops", "peak_fraction", "gbps",
                                   "read_fraction", "memcpy_fraction", "tanh_fraction", "spread"}));
  EXPECT_TRUE(FailsWith(RunCommand({"bench", "no_such_case"}), 2, "no_such_case"));
}

TEST(BenchCommandTest, TakesEveryOption) {
  const json report = JsonOf(RunCommand(
      {"bench",     "--json",  "--queries", "30",        "--keys", "40",        "--dim",
       "8",         "--batch", "2",         "--heads",   "2",      "--window",  "20,-1",
       "--softcap", "30",      "--kv-len",  "40,25",     "--mask", "--bias",    "--alibi",
       "--sinks",   "--lse",   "--weights", "--seconds", "0.01",   "--threads", "1"}));
  EXPECT_EQ(report["results"][0]["case"],
            "b2_h2_kv2_q30_k40_d8_v8_window20_-1_softcap30_mask_bias_alibi_sinks_lse_weights_"
            "kv_len25to40");
}

TEST(BenchCommandTest, TakesAVariant) {
  const Arguments shape = {"bench", "--queries", "1",    "--keys",    "300", "--dim",
                           "16",    "--seconds", "0.01", "--threads", "1"};
  for (const char* variant : {"lanes", "few"}) {
    Arguments arguments = shape;
    arguments.insert(arguments.end(), {"--variant", variant});
    EXPECT_THAT(RunCommand(arguments).out, HasSubstr(std::string(" ") + variant + " "));
    arguments.emplace_back("--json");
    const json report = JsonOf(RunCommand(arguments));
    EXPECT_EQ(report["results"][0]["plan"]["variant"], variant);
    EXPECT_EQ(report["results"][0]["plan"]["sources"]["variant"], "override");
  }
  Arguments unknown = shape;
  unknown.insert(unknown.end(), {"--variant", "many"});
  EXPECT_TRUE(FailsWith(RunCommand(unknown), 2, "variant: found \"many\""));
}

TEST(BenchCommandTest, TakesEveryType) {
  const Arguments decode = {"bench",     "--json", "--queries",  "1", "--keys",   "300",
                            "--heads",   "8",      "--kv-heads", "2", "--dim",    "16",
                            "--seconds", "0.01",   "--threads",  "1", "--kv-len", "200"};
  const struct {
    Arguments types;
    std::string suffix;
    double element_bytes;  // of K and V
  } cases[] = {{{"--type", "f16"}, "_f16", 2},
               {{"--type", "bf16"}, "_bf16", 2},
               {{"--kv-type", "bf16"}, "_f32_bf16_bf16_f32", 2},
               {{"--type", "f16", "--kv-type", "f32"}, "_f16_f32_f32_f16", 4},
               {{"--type", "f32", "--kv-type", "f32"}, "", 4}};
  for (const auto& c : cases) {
    Arguments arguments = decode;
    arguments.insert(arguments.end(), c.types.begin(), c.types.end());
    const json report = JsonOf(RunCommand(arguments));
    const json& result = report["results"][0];
    EXPECT_EQ(result["case"], "b1_h8_kv2_q1_k300_d16_v16" + c.suffix + "_kv_len200");
    const double bytes = 2 * 200 * (16 + 16) * c.element_bytes;
    EXPECT_NEAR(result["gbps"].get<double>() * result["ms"].get<double>() * 1e6, bytes, 1e-6);
    EXPECT_GT(result["read_fraction"].get<double>(), 0);
  }
}

// Work of a call: a rate times its time.
double WorkOf(const json& result, const char* rate) {
  return result[rate].get<double>() * result["ms"].get<double>() * 1e6;
}

TEST(BenchCommandTest, TakesOffsets) {
  const Arguments offsets = {"bench",    "--dim",       "16",       "--heads",     "4",
                             "--json",   "--q-offsets", "0,3,3,40", "--k-offsets", "0,5,30,50",
                             "--causal", "--seconds",   "0.01",     "--threads",   "1"};
  const json report = JsonOf(RunCommand(offsets));
  ASSERT_EQ(report["results"].size(), 1U);
  const json& result = report["results"][0];
  EXPECT_EQ(result["case"], "b3_h4_kv4_q40_k50_d16_v16_causal_ragged_q0to37_k5to25");
  // 3 queries at the end of 5 keys; 37 of which 20 have a key.
  const int pairs = 3 + 4 + 5 + 20 * 21 / 2;
  EXPECT_NEAR(WorkOf(result, "gflops"), 2.0 * 4 * pairs * (16 + 16), 1e-6);
  EXPECT_TRUE(result["gbps"].is_null());
  EXPECT_TRUE(result["read_fraction"].is_null());

  const std::pair<Arguments, std::string> wrong[] = {
      {{"--batch", "2"}, "--batch: found 2, expected 3, the sequences of --q-offsets"},
      {{"--keys", "51"}, "--k-offsets: found 50 at the end, expected 51"},
      {{"--mask"}, "--q-offsets excludes --mask"},
      {{"--bias"}, "--q-offsets excludes --bias"},
      {{"--weights"}, "--q-offsets excludes --weights"},
      {{"--kv-len", "5,5,5"}, "--kv-len excludes --q-offsets"}};
  for (const auto& [more, text] : wrong) {
    Arguments arguments = offsets;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_TRUE(FailsWith(RunCommand(arguments), 2, text));
  }
}

// Every option that `run` takes with offsets.
TEST(BenchCommandTest, TakesEveryOptionOfRaggedBatches) {
  const Arguments offsets = {"bench",      "--dim",       "8",         "--json",  "--q-offsets",
                             "0,3,40",     "--k-offsets", "0,5,50",    "--heads", "4",
                             "--kv-heads", "2",           "--seconds", "0.01"};
  const std::pair<Arguments, std::string> cases[] = {
      {{"--causal", "--top-left", "--lse"}, "_causal_top_left_lse"},
      {{"--causal", "--query-offset", "2", "--type", "bf16"}, "_bf16_causal_offset2"},
      {{"--window", "9,3", "--softcap", "30"}, "_window9_3_softcap30"},
      {{"--radius", "4", "--alibi", "--sinks", "--kv-type", "f16"},
       "_f32_f16_f16_f32_window4_4_alibi_sinks"},
      {{"--score", "gaussian", "--bandwidth", "2"}, "_gaussian2"},
      {{"--score", "bilinear", "--scale", "0.5"}, "_bilinear_scale0.5"},
      {{"--score", "additive", "--wq", "--wk"}, "_additive_wq_wk"},
      {{"--variant", "lanes", "--threads", "2"}, ""}};
  for (const auto& [more, suffix] : cases) {
    Arguments arguments = offsets;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(JsonOf(RunCommand(arguments))["results"][0]["case"],
              "b2_h4_kv2_q40_k50_d8_v8" + suffix + "_ragged_q3to37_k5to45");
  }
}

// The second case refuses what the first one takes, before that is timed for a minute.
TEST(BenchCommandTest, ChecksAllCasesFirst) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(FailsWith(RunCommand({"bench", "local32", "gemm_512", "--kv-block", "64", "--threads",
                                    "1", "--seconds", "60"}),
                        2, "gemm_512: --kv-block: found 64"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(BenchCommandTest, RaggedDecodeIsComparedWithMemory) {
  const Arguments decode = {"bench",       "--dim",      "16",          "--heads",
                            "8",           "--kv-heads", "2",           "--json",
                            "--q-offsets", "0,1,2",      "--k-offsets", "0,300,1000",
                            "--seconds",   "0.01",       "--threads",   "1"};
  const json result = JsonOf(RunCommand(decode))["results"][0];
  EXPECT_NEAR(WorkOf(result, "gbps"), 2.0 * 1000 * (16 + 16) * 4, 1e-6);
  EXPECT_GT(result["read_fraction"].get<double>(), 0);
}

}  // namespace
}  // namespace lanewise::tools
