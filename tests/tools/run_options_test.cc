// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The options of `lanewise run`, one by one and together, and what each has to refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/run_fixture.h"

namespace lanewise::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

npy::Array FloatsOf(const Shape& shape, const std::vector<float>& values) {
  npy::Array array = npy::Array::Zeros(shape);
  EXPECT_EQ(array.ElementCount(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), array.floats());
  return array;
}

npy::Array BoolsOf(const Shape& shape, const std::vector<int>& values) {
  npy::Array array;
  array.type = DataType::kBool;
  array.shape = shape;
  for (const int value : values) array.data.push_back(static_cast<std::byte>(value));
  EXPECT_EQ(array.ElementCount(), static_cast<int64_t>(values.size()));
  return array;
}

// About two of three pairs; `seed` tells which.
npy::Array Mask(const Shape& shape, uint32_t seed) {
  npy::Array array;
  array.type = DataType::kBool;
  array.shape = shape;
  for (uint32_t i = 0; i < static_cast<uint32_t>(array.ElementCount()); ++i) {
    array.data.push_back(static_cast<std::byte>(testing::GenBits(seed, i) % 3 != 0));
  }
  return array;
}

class RunOptionsTest : public RunTest {
 protected:
  std::string Path(const char* name) const { return folder_.Path(name); }

  // Three queries and keys of score 0, and the values 1, 2 and 4.
  void WriteEqualScores() {
    WriteArray("q.npy", FloatsOf({3, 1}, {0, 0, 0}));
    WriteArray("k.npy", FloatsOf({3, 1}, {1, 1, 1}));
    WriteArray("v.npy", FloatsOf({3, 1}, {1, 2, 4}));
  }

  void ExpectOut(const Arguments& more, const std::vector<double>& expected) {
    ASSERT_TRUE(Succeeds(Run(more))) << ::testing::PrintToString(more);
    const npy::Array out = ReadArray("out.npy");
    ASSERT_EQ(out.ElementCount(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(out.floats()[i], expected[i], 1e-6) << ::testing::PrintToString(more) << i;
    }
  }

  // With --check, log-sum-exp and weights.
  void ExpectAgrees(Arguments more, const AttentionOptions& options,
                    const std::vector<int64_t>& kv_len = {}) {
    SCOPED_TRACE(::testing::PrintToString(more));
    more.insert(more.end(),
                {"--check", "--lse", Path("lse.npy"), "--weights", Path("weights.npy")});
    ASSERT_TRUE(Succeeds(Run(more)));
    ExpectMatchesDefinition(options, kv_len);
  }
};

TEST_F(RunOptionsTest, KnownResults) {
  WriteEqualScores();
  ExpectOut({"--radius", "0"}, {1, 2, 4});
  ExpectOut({"--radius", "1"}, {1.5, 7.0 / 3, 3});
  ExpectOut({"--radius", "2"}, {7.0 / 3, 7.0 / 3, 7.0 / 3});
  ExpectOut({"--window", "1,0"}, {1, 1.5, 3});
  ExpectOut({"--window", "0,-1"}, {7.0 / 3, 3, 4});
  ExpectOut({"--window", "-1,-1"}, {7.0 / 3, 7.0 / 3, 7.0 / 3});
  ExpectOut({"--window", "1,1", "--causal"}, {1, 1.5, 3});
  ExpectOut({"--window", "0,0", "--query-offset", "-1"}, {0, 1, 2});
  ExpectOut({"--radius", "9223372036854775807"}, {7.0 / 3, 7.0 / 3, 7.0 / 3});
  ExpectOut({"--kv-len", "2"}, {1.5, 1.5, 1.5});
  ExpectOut({"--kv-len", "0"}, {0, 0, 0});
  ExpectOut({"--kv-len", "2", "--causal"}, {0, 1, 1.5});

  WriteArray("mask.npy", BoolsOf({3, 3}, {1, 0, 0, 0, 0, 0, 1, 0, 1}));
  ExpectOut({"--mask", Path("mask.npy")}, {1, 0, 2.5});
  WriteArray("bias.npy", FloatsOf({1, 3}, {0, std::log(2.0f), -kInfinity}));
  ExpectOut({"--bias", Path("bias.npy")}, {5.0 / 3, 5.0 / 3, 5.0 / 3});
  WriteArray("alibi.npy", FloatsOf({1}, {std::log(2.0f)}));
  ExpectOut({"--alibi", Path("alibi.npy")}, {3 / 1.75, 2.25, 5.25 / 1.75});
  WriteArray("sinks.npy", FloatsOf({1}, {0}));
  ExpectOut({"--sinks", Path("sinks.npy")}, {7.0 / 4, 7.0 / 4, 7.0 / 4});
  ExpectOut({"--sinks", Path("sinks.npy"), "--mask", Path("mask.npy")}, {0.5, 0, 5.0 / 3});

  WriteArray("q.npy", FloatsOf({3, 1}, {1, 1, 1}));
  WriteArray("k.npy", FloatsOf({3, 1}, {0, 100, 0}));
  const double capped = (5 + 2 * std::exp(1)) / (2 + std::exp(1));
  ExpectOut({"--softcap", "1"}, {capped, capped, capped});
  ExpectOut({"--softcap", "0"}, {2, 2, 2});
}

TEST_F(RunOptionsTest, WindowsAndSoftcapAgree) {
  WriteInputs({2, 37, 8}, {2, 90, 8}, {2, 90, 5});
  AttentionOptions options;
  for (const int64_t radius : {0, 1, 7, 200}) {
    options.window = AttentionWindow::Radius(radius);
    ExpectAgrees({"--radius", std::to_string(radius)}, options);
  }
  options.window = {5, 11};
  ExpectAgrees({"--window", "5,11"}, options);
  options.top_left = true;
  ExpectAgrees({"--window", "5,11", "--top-left"}, options);
  options.window = {kUnlimited, 2};
  ExpectAgrees({"--window=-1,2", "--top-left"}, options);
  options = {};
  options.causal = true;
  options.window = {6, kUnlimited};
  ExpectAgrees({"--window", "6,-1", "--causal"}, options);
  options = {};
  for (const float cap : {0.0f, 0.25f, 30.0f}) {
    options.softcap = cap;
    ExpectAgrees({"--softcap", std::to_string(cap)}, options);
  }
}

TEST_F(RunOptionsTest, MasksAndBiasesOfEveryShapeAgree) {
  const struct {
    Shape q, k;
    std::vector<Shape> pairs;
  } cases[] = {
      {{20, 8}, {35, 8}, {{20, 35}, {1, 35}, {20, 1}, {1, 1}, {1, 1, 20, 35}}},
      {{4, 20, 8}, {2, 35, 8}, {{20, 35}, {1, 4, 20, 35}, {1, 1, 1, 35}, {1, 4, 1, 1}}},
      {{3, 4, 20, 8},
       {3, 2, 35, 8},
       {{20, 35}, {3, 4, 20, 35}, {3, 1, 20, 35}, {1, 4, 20, 35}, {3, 1, 1, 35}, {3, 4, 20, 1}}},
  };
  for (const auto& c : cases) {
    WriteInputs(c.q, c.k, c.k);
    for (const Shape& pairs : c.pairs) {
      SCOPED_TRACE(npy::ShapeString(c.q) + " " + npy::ShapeString(pairs));
      WriteArray("mask.npy", Mask(pairs, 4));
      AttentionOptions options;
      options.mask = true;
      ExpectAgrees({"--mask", Path("mask.npy")}, options);
      npy::Array bias = Floats(pairs, 5);
      for (int64_t i = 0; i < bias.ElementCount(); i += 3) bias.floats()[i] = -kInfinity;
      for (int64_t i = 1; i < bias.ElementCount(); i += 7) bias.floats()[i] = -1e30f;
      WriteArray("bias.npy", bias);
      options = {};
      options.bias = true;
      ExpectAgrees({"--bias", Path("bias.npy")}, options);
    }
  }
}

TEST_F(RunOptionsTest, SlopesSinksAndLengthsAgree) {
  WriteInputs({2, 4, 20, 8}, {2, 2, 35, 8}, {2, 2, 35, 8});
  WriteArray("alibi.npy", FloatsOf({4}, {0.5f, 0.25f, -0.125f, 0}));
  AttentionOptions options;
  options.alibi_slopes = true;
  ExpectAgrees({"--alibi", Path("alibi.npy")}, options);
  options.query_offset = 50;
  ExpectAgrees({"--alibi", Path("alibi.npy"), "--query-offset", "50"}, options);
  WriteArray("sinks.npy", FloatsOf({4}, {0, 3, -2, -kInfinity}));
  options = {};
  options.sinks = true;
  ExpectAgrees({"--sinks", Path("sinks.npy")}, options);
  options = {};
  ExpectAgrees({"--kv-len", "5,35"}, options, {5, 35});
  ExpectAgrees({"--kv-len", "0,+17"}, options, {0, 17});
  options.causal = true;
  ExpectAgrees({"--kv-len", "30,8", "--causal"}, options, {30, 8});
  WriteInputs({20, 8}, {35, 8}, {35, 8});
  ExpectAgrees({"--kv-len", "8", "--causal"}, options, {8});
}

TEST_F(RunOptionsTest, NothingBeyondKvLenMatters) {
  WriteInputs({2, 20, 8}, {2, 35, 8}, {2, 35, 8});
  ASSERT_TRUE(Succeeds(Run({"--kv-len", "9"})));
  const std::string out = ContentsOf(Path("out.npy"));
  for (const char* name : {"k.npy", "v.npy"}) {
    npy::Array array = ReadArray(name);
    for (int64_t i = 0; i < array.ElementCount(); ++i) {
      if (i / 8 % 35 >= 9) array.floats()[i] = NAN;
    }
    WriteArray(name, array);
  }
  ASSERT_TRUE(Succeeds(Run({"--kv-len", "9", "--check"})));
  EXPECT_EQ(ContentsOf(Path("out.npy")), out);
}

TEST_F(RunOptionsTest, WeightsHaveTheRankOfTheInputs) {
  const std::vector<std::vector<Shape>> shapes = {
      {{9, 8}, {20, 8}, {9, 20}},
      {{4, 9, 8}, {2, 20, 8}, {4, 9, 20}},
      {{3, 4, 9, 8}, {3, 1, 20, 8}, {3, 4, 9, 20}},
      {{0, 8}, {20, 8}, {0, 20}},
      {{9, 8}, {0, 8}, {9, 0}},
  };
  for (const std::vector<Shape>& s : shapes) {
    WriteInputs(s[0], s[1], s[1]);
    ExpectAgrees({"--radius", "2"}, [] {
      AttentionOptions options;
      options.window = AttentionWindow::Radius(2);
      return options;
    }());
    EXPECT_EQ(ReadArray("weights.npy").shape, s[2]);
  }
  // Rows add up to 1, and hold exactly 0 where nothing is seen.
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  ASSERT_TRUE(Succeeds(Run({"--radius", "2", "--weights", Path("weights.npy")})));
  const npy::Array weights = ReadArray("weights.npy");
  for (int64_t i = 0; i < 9; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < 20; ++j) {
      const float weight = weights.floats()[i * 20 + j];
      sum += weight;
      EXPECT_EQ(weight != 0, std::abs(i + 11 - j) <= 2) << i << " " << j;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST_F(RunOptionsTest, EverythingAtOnce) {
  WriteInputs({2, 4, 50, 8}, {2, 2, 70, 8}, {2, 2, 70, 5});
  WriteArray("mask.npy", Mask({2, 1, 50, 70}, 6));
  WriteArray("bias.npy", Floats({1, 4, 1, 70}, 7));
  WriteArray("alibi.npy", FloatsOf({4}, {0.5f, 0.25f, 0.125f, 0.0625f}));
  WriteArray("sinks.npy", FloatsOf({4}, {1, 0, -1, 2}));
  AttentionOptions options;
  options.scale = 0.5f;
  options.causal = true;
  options.window = {40, kUnlimited};
  options.softcap = 2.0f;
  options.mask = options.bias = options.alibi_slopes = options.sinks = true;
  const Arguments arguments = {
      "--scale",        "0.5",     "--causal",        "--window",       "40,-1",
      "--softcap",      "2",       "--mask",          Path("mask.npy"), "--bias",
      Path("bias.npy"), "--alibi", Path("alibi.npy"), "--sinks",        Path("sinks.npy"),
      "--kv-len",       "61,70"};
  ExpectAgrees(arguments, options, {61, 70});

  Arguments reported = arguments;
  reported.insert(reported.end(), {"--json", "--check", "--lse", Path("lse.npy"), "--weights",
                                   Path("weights.npy")});
  const json report = json::parse(Run(reported).out);
  EXPECT_EQ(report["weights"], Path("weights.npy"));
  for (const std::string prefix : {"", "lse_", "weights_"}) {
    EXPECT_GT(report[prefix + "tolerance"].get<double>(), 0) << prefix;
    EXPECT_LE(report[prefix + "max_error"].get<double>(),
              report[prefix + "tolerance"].get<double>());
  }
  EXPECT_EQ(report["weights_max_error_index"].size(), 4U);
  reported.erase(std::find(reported.begin(), reported.end(), "--json"));
  EXPECT_THAT(Run(reported).out, HasSubstr("check  weights: largest error"));
}

TEST_F(RunOptionsTest, SequencesOfARaggedBatchAreAsIfAlone) {
  const Shape q_offsets = {0, 3, 3, 10, 20};
  const Shape k_offsets = {0, 5, 9, 9, 35};
  const Arguments offsets = {"--q-offsets", "0,3,3,10,20", "--k-offsets", "0,5,9,9,35"};
  const auto rows = [](const npy::Array& array, int64_t begin, int64_t end) {
    npy::Array part = npy::Array::Zeros({end - begin, array.shape[1]});
    std::copy_n(array.floats() + begin * array.shape[1], part.ElementCount(), part.floats());
    return part;
  };
  for (const Arguments& more : {Arguments{}, Arguments{"--causal"}, Arguments{"--radius", "2"}}) {
    WriteInputs({20, 8}, {35, 8}, {35, 5});
    Arguments ragged = more;
    ragged.insert(ragged.end(), offsets.begin(), offsets.end());
    ragged.insert(ragged.end(), {"--check", "--lse", Path("lse.npy")});
    ASSERT_TRUE(Succeeds(Run(ragged)));
    const npy::Array q = ReadArray("q.npy"), k = ReadArray("k.npy"), v = ReadArray("v.npy");
    const npy::Array out = ReadArray("out.npy");
    EXPECT_EQ(out.shape, (Shape{20, 5}));
    EXPECT_EQ(ReadArray("lse.npy").shape, (Shape{20}));
    for (size_t b = 0; b + 1 < q_offsets.size(); ++b) {
      WriteArray("q.npy", rows(q, q_offsets[b], q_offsets[b + 1]));
      WriteArray("k.npy", rows(k, k_offsets[b], k_offsets[b + 1]));
      WriteArray("v.npy", rows(v, k_offsets[b], k_offsets[b + 1]));
      ASSERT_TRUE(Succeeds(Run(more)));
      EXPECT_EQ(ReadArray("out.npy").data, rows(out, q_offsets[b], q_offsets[b + 1]).data) << b;
    }
  }
  WriteInputs({4, 20, 8}, {2, 35, 8}, {2, 35, 5});
  Arguments ragged = offsets;
  ragged.insert(ragged.end(), {"--check", "--json"});
  EXPECT_LE(json::parse(Run(ragged).out)["max_error"].get<double>(), 1e-5);
  EXPECT_EQ(ReadArray("out.npy").shape, (Shape{4, 20, 5}));
}

TEST_F(RunOptionsTest, RefusesOffsetsThatDoNotFit) {
  WriteInputs({2, 10, 8}, {2, 9, 8}, {2, 9, 8});
  const auto both = [](const char* q, const char* k) {
    return Arguments{"--q-offsets", q, "--k-offsets", k};
  };
  ExpectFailure(both("0,3,9", "0,5,9"),
                "--q-offsets: found 9 at the end, expected 10, the number of queries");
  ExpectFailure(both("0,3,10", "0,5,8"),
                "--k-offsets: found 8 at the end, expected 9, the number of keys");
  ExpectFailure(both("0,3,10", "0,9"), "--k-offsets: found 2 numbers, expected 3 as of --q-offsets",
                2);
  ExpectFailure(both("1,10", "0,9"), "--q-offsets: found \"1,10\", expected whole numbers from 0",
                2);
  ExpectFailure(both("0,10", "0,5,4,9"), "--k-offsets: found \"0,5,4,9\", expected whole", 2);
  ExpectFailure({"--q-offsets", "0,10"}, "--q-offsets requires --k-offsets", 2);
  for (const char* flag : {"--mask", "--bias", "--weights", "--kv-len"}) {
    Arguments arguments = both("0,10", "0,9");
    arguments.insert(arguments.end(), {flag, "9"});
    ExpectFailure(arguments, flag, 2);
  }
  WriteInputs({2, 1, 10, 8}, {2, 1, 9, 8}, {2, 1, 9, 8});
  ExpectFailure(both("0,10", "0,9"), "--q: found batch 2, expected 1 with --q-offsets");
}

TEST_F(RunOptionsTest, RefusesMasksAndBiasesThatDoNotFit) {
  WriteInputs({4, 9, 8}, {2, 20, 8}, {2, 20, 8});
  const Shape shapes[] = {{9, 21},    {20, 9},       {9},           {},
                          {4, 9, 20}, {1, 2, 9, 20}, {2, 4, 9, 20}, {1, 1, 1, 9, 20}};
  for (const Shape& shape : shapes) {
    const std::string found = "shape " + npy::ShapeString(shape) + ", expected ";
    const std::string expected = shape.size() == 2   ? "(9, 20)"
                                 : shape.size() == 4 ? "(1, 4, 9, 20)"
                                                     : "rank 2 [queries, keys] or 4 [batch";
    WriteArray("mask.npy", Mask(shape, 4));
    ExpectFailure({"--mask", Path("mask.npy")}, "mask.npy: " + found + expected);
    WriteArray("bias.npy", Floats(shape, 5));
    ExpectFailure({"--bias", Path("bias.npy")}, "bias.npy: " + found + expected);
  }
  WriteArray("mask.npy", Floats({9, 20}, 4));
  ExpectFailure({"--mask", Path("mask.npy")}, "mask.npy: f32 elements, expected bool");
  WriteArray("bias.npy", Mask({9, 20}, 4));
  ExpectFailure({"--bias", Path("bias.npy")}, "bias.npy: bool elements, expected f32");
  folder_.Write("mask.npy", "broken");
  ExpectFailure({"--mask", Path("mask.npy")}, "mask.npy: ");
  ExpectFailure({"--mask", Path("none.npy")}, "none.npy: cannot be opened");
}

TEST_F(RunOptionsTest, RefusesSlopesAndSinksThatDoNotFit) {
  WriteInputs({4, 9, 8}, {2, 20, 8}, {2, 20, 8});
  for (const char* flag : {"--alibi", "--sinks"}) {
    for (const Shape& shape : std::vector<Shape>{{3}, {2}, {5}, {1}, {}, {0}, {4, 1}, {1, 4}}) {
      WriteArray("heads.npy", Floats(shape, 4));
      ExpectFailure({flag, Path("heads.npy")},
                    "heads.npy: shape " + npy::ShapeString(shape) + ", expected (4,)");
    }
    WriteArray("heads.npy", Mask({4}, 4));
    ExpectFailure({flag, Path("heads.npy")}, "heads.npy: bool elements, expected f32");
    WriteArray("heads.npy", FloatsOf({4}, {1, 1, NAN, 1}));
    ExpectFailure({flag, Path("heads.npy")}, "found nan for head 2");
  }
}

TEST_F(RunOptionsTest, RefusesLengthsThatDoNotFit) {
  WriteInputs({2, 4, 9, 8}, {2, 2, 20, 8}, {2, 2, 20, 8});
  ExpectFailure({"--kv-len", "5"}, "--kv-len: found 1 number, expected 2");
  ExpectFailure({"--kv-len", "5,3,2"}, "--kv-len: found 3 numbers, expected 2");
  ExpectFailure({"--kv-len", "5,21"}, "--kv-len: found 21, expected at most 20");
  ExpectFailure({"--kv-len", "5,-1"}, "--kv-len: found \"5,-1\"", 2);
}

TEST_F(RunOptionsTest, RefusesWrongNumbersAndLeavesNoFile) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  ExpectFailure({"--window", "3"}, "--window: found \"3\", expected two numbers", 2);
  ExpectFailure({"--window", "-3,1"}, "--window: found \"-3,1\"", 2);
  ExpectFailure({"--radius", "2", "--window", "1,1"}, "--window excludes --radius", 2);
  ExpectFailure({"--softcap", "-1"}, "--softcap: found \"-1\"", 2);
  ExpectFailure({"--softcap", "nan"}, "--softcap: found \"nan\"", 2);
}

TEST_F(RunOptionsTest, LeavesNothingWhenTheWeightsCannotBeWritten) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  const std::string missing = Path("missing/weights.npy");
  ExpectFailure({"--weights", missing}, missing + ": cannot be created");
  ExpectFailure({"--weights", folder_.root(), "--lse", Path("lse.npy")}, "is a directory");
  ExpectFailure({"--weights", "/dev/full", "--lse", Path("lse.npy")},
                "/dev/full: cannot be written");
  ExpectFailure({"--weights", Path("out.npy")}, "--weights: found the file of --out", 2);
  ExpectFailure(
      {"--weights", Path("x.npy"), "--lse",
       Path("../") + std::filesystem::path(folder_.root()).filename().string() + "/x.npy"},
      "--weights: found the file of --lse", 2);
}

}  // namespace
}  // namespace lanewise::tools
