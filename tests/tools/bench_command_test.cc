// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise bench`: the names in its JSON, and that every flag reaches the case. No speeds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lanewise::tools
