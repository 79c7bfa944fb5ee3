// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise run` on f16 files and with --type and --kv-type.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/half.h"
#include "tests/tools/run_fixture.h"

namespace lanewise::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr DataType kF32 = DataType::kF32;
constexpr DataType kF16 = DataType::kF16;
constexpr DataType kBF16 = DataType::kBF16;

// An f32 array as f16.
npy::Array AsF16(const npy::Array& floats) {
  npy::Array array = npy::Array::Zeros(floats.shape, kF16);
  auto* elements = reinterpret_cast<uint16_t*>(array.data.data());
  for (int64_t i = 0; i < floats.ElementCount(); ++i) {
    elements[i] = testing::ToHalf(kF16, double{floats.floats()[i]});
  }
  return array;
}

class RunTypesTest : public RunTest {
 protected:
  Outcome RunChecked(Arguments more) {
    more.insert(more.end(), {"--check", "--lse", folder_.Path("lse.npy"), "--weights",
                             folder_.Path("weights.npy")});
    return Run(more);
  }

  // Writes the arrays of a decode step with shared heads, those of `f16` as f16.
  void WriteDecode(const std::string& f16 = "") {
    const std::pair<char, npy::Array> arrays[] = {{'q', Floats({8, 1, 16}, 1)},
                                                  {'k', Floats({2, 300, 16}, 2)},
                                                  {'v', Floats({2, 300, 11}, 3)}};
    for (const auto& [name, array] : arrays) {
      const bool half = f16.find(name) != std::string::npos;
      WriteArray(std::string(1, name) + ".npy", half ? AsF16(array) : array);
    }
  }
};

TEST_F(RunTypesTest, AnyFileMayBeF16) {
  for (const std::string f16 : {"", "q", "k", "v", "qk", "qv", "kv", "qkv"}) {
    SCOPED_TRACE(f16);
    WriteDecode(f16);
    ASSERT_TRUE(Succeeds(RunChecked({})));
    ExpectMatchesDefinition({});
    EXPECT_EQ(ReadArray("out.npy").type, f16.find('q') == std::string::npos ? kF32 : kF16);
    EXPECT_EQ(ReadArray("lse.npy").type, kF32);
    EXPECT_EQ(ReadArray("weights.npy").type, kF32);
  }
}

TEST_F(RunTypesTest, EveryPairOfTypesAgrees) {
  const std::pair<const char*, DataType> types[] = {{"f32", kF32}, {"f16", kF16}, {"bf16", kBF16}};
  for (const char* files : {"", "qkv"}) {
    for (const bool decode : {false, true}) {
      if (decode) {
        WriteDecode(files);
      } else {
        WriteInputs({2, 37, 24}, {2, 90, 24}, {2, 90, 24});
      }
      for (const auto& [type_name, type] : types) {
        for (const auto& [kv_name, kv_type] : types) {
          SCOPED_TRACE(std::string(files) + " " + type_name + " " + kv_name);
          const Arguments arguments = {"--type", type_name, "--kv-type", kv_name, "--causal"};
          ASSERT_TRUE(Succeeds(RunChecked(arguments)));
          AttentionOptions options;
          options.causal = true;
          ExpectMatchesDefinition(options, {}, {type, kv_type});
          EXPECT_EQ(ReadArray("out.npy").type, type == kF16 ? kF16 : kF32);
        }
      }
    }
  }
}

TEST_F(RunTypesTest, RoundingOnLoadingIsThatOfTheFiles) {
  WriteDecode();
  ASSERT_TRUE(Succeeds(Run({"--type", "f16", "--kv-type", "f16"})));
  const std::string rounded = ContentsOf(folder_.Path("out.npy"));
  WriteDecode("qkv");
  ASSERT_TRUE(Succeeds(Run({})));
  EXPECT_EQ(ContentsOf(folder_.Path("out.npy")), rounded);
  // Flags for what the files are already change nothing.
  ASSERT_TRUE(Succeeds(Run({"--type", "f16", "--kv-type", "f16"})));
  EXPECT_EQ(ContentsOf(folder_.Path("out.npy")), rounded);
}

// A row that sees one key is its value.
TEST_F(RunTypesTest, KnownRounding) {
  npy::Array one = npy::Array::Zeros({1, 1});
  WriteArray("q.npy", one);
  WriteArray("k.npy", one);
  npy::Array v = npy::Array::Zeros({1, 5});
  const float values[] = {1.0f / 3, 1.0f + 0x1p-8f, 1.0f + 0x1p-11f, 70000.0f, -0x1p-24f};
  std::memcpy(v.data.data(), values, sizeof(values));
  WriteArray("v.npy", v);
  const auto out_with = [&](const Arguments& flags) {
    EXPECT_TRUE(Succeeds(Run(flags)));
    const npy::Array out = ReadArray("out.npy");
    EXPECT_EQ(out.type, kF32);
    return std::vector<float>(out.floats(), out.floats() + out.ElementCount());
  };
  EXPECT_EQ(out_with({}), std::vector<float>(std::begin(values), std::end(values)));
  const std::vector<float> f16 = {0x1.554p-2f, 1.0f + 0x1p-8f, 1.0f, INFINITY, -0x1p-24f};
  EXPECT_EQ(out_with({"--kv-type", "f16"}), f16);
  const std::vector<float> bf16 = {0x1.56p-2f, 1.0f, 1.0f, 0x1.12p16f, -0x1p-24f};
  EXPECT_EQ(out_with({"--kv-type", "bf16"}), bf16);
  // The same by rounding the output.
  EXPECT_EQ(out_with({"--type", "bf16"}), bf16);
}

TEST_F(RunTypesTest, BF16OutputIsWrittenAsF32) {
  WriteDecode();
  ASSERT_TRUE(Succeeds(Run({"--type", "bf16", "--check"})));
  const npy::Array out = ReadArray("out.npy");
  ASSERT_EQ(out.type, kF32);
  for (int64_t i = 0; i < out.ElementCount(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(out.floats()[i]) & 0xFFFFU, 0U) << i;
  }
}

TEST_F(RunTypesTest, ReportsItsTypes) {
  WriteDecode("k");
  const json report = json::parse(Run({"--json", "--check", "--type", "bf16"}).out);
  EXPECT_EQ(report["shape"]["type"], "bf16");
  EXPECT_EQ(report["shape"]["k_type"], "f16");
  EXPECT_EQ(report["shape"]["v_type"], "f32");
  EXPECT_LE(report["max_error"].get<double>(), report["tolerance"].get<double>());
  EXPECT_THAT(Run({"--type", "bf16"}).out,
              HasSubstr("q (8, 1, 16) bf16, k (2, 300, 16) f16, v (2, 300, 11)\n"));
}

TEST_F(RunTypesTest, EveryTargetAgrees) {
  WriteDecode("kv");
  const json info = json::parse(RunCommand({"info", "--json"}).out);
  for (const std::string target : info["targets"]) {
    ASSERT_TRUE(Succeeds(RunChecked({"--target", target, "--type", "bf16"}))) << target;
    ExpectMatchesDefinition({}, {}, {kBF16, {}});
  }
}

TEST_F(RunTypesTest, EmptyAndAllZeroResults) {
  for (const std::vector<Shape>& s : std::vector<std::vector<Shape>>{
           {{0, 8}, {20, 8}, {20, 5}}, {{9, 8}, {20, 8}, {20, 0}}, {{9, 8}, {0, 8}, {0, 5}}}) {
    WriteInputs(s[0], s[1], s[2]);
    for (const char* type : {"f16", "bf16"}) {
      EXPECT_TRUE(Succeeds(Run({"--type", type, "--kv-type", type, "--check"})));
      EXPECT_EQ(ReadArray("out.npy").type, std::string(type) == "f16" ? kF16 : kF32);
    }
  }
  for (const std::byte byte : ReadArray("out.npy").data) EXPECT_EQ(byte, std::byte{0});
}

// What comes beside q, k and v is f32.
TEST_F(RunTypesTest, OtherArraysStayF32) {
  WriteDecode("qkv");
  WriteArray("bias.npy", AsF16(Floats({1, 300}, 4)));
  ExpectFailure({"--bias", folder_.Path("bias.npy")}, "bias.npy: f16 elements, expected f32");
  WriteArray("bias.npy", Floats({1, 300}, 4));
  WriteArray("sinks.npy", Floats({8}, 5));
  AttentionOptions options;
  options.bias = options.sinks = true;
  ASSERT_TRUE(Succeeds(
      RunChecked({"--bias", folder_.Path("bias.npy"), "--sinks", folder_.Path("sinks.npy")})));
  ExpectMatchesDefinition(options);
}

}  // namespace
}  // namespace lanewise::tools
