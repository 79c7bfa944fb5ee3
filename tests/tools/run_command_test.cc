// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise run` on files: ranks, positions and scale, results, and every q, k and v it has to
// refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/tools/npy_files.h"
#include "tests/tools/run_fixture.h"

namespace lanewise::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST_F(RunTest, KeepsTheRankOfItsInputs) {
  const std::vector<std::vector<Shape>> shapes = {
      {{9, 8}, {20, 8}, {20, 5}},
      {{4, 9, 8}, {2, 20, 8}, {2, 20, 5}},
      {{3, 4, 9, 8}, {3, 1, 20, 8}, {3, 1, 20, 5}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
  };
  for (const std::vector<Shape>& s : shapes) {
    WriteInputs(s[0], s[1], s[2]);
    EXPECT_TRUE(Succeeds(Run({"--lse", folder_.Path("lse.npy"), "--check"})));
    ExpectMatchesDefinition({});
    Shape out = s[0];
    out.back() = s[2].back();
    EXPECT_EQ(ReadArray("out.npy").shape, out);
    out.pop_back();
    EXPECT_EQ(ReadArray("lse.npy").shape, out);
  }
  EXPECT_EQ(FileNames(), (std::set<std::string>{"k.npy", "lse.npy", "out.npy", "q.npy", "v.npy"}));
}

TEST_F(RunTest, FollowsItsOptions) {
  WriteInputs({2, 12, 8}, {2, 30, 8}, {2, 30, 8});
  AttentionOptions options;
  EXPECT_TRUE(Succeeds(Run()));
  ExpectMatchesDefinition(options);
  options.causal = true;
  EXPECT_TRUE(Succeeds(Run({"--causal"})));
  ExpectMatchesDefinition(options);
  options.top_left = true;
  EXPECT_TRUE(Succeeds(Run({"--top-left", "--causal"})));
  ExpectMatchesDefinition(options);
  options.top_left = false;
  for (const int64_t offset : {-3, 0, 4, 500}) {
    options.query_offset = offset;
    EXPECT_TRUE(Succeeds(Run({"--causal", "--query-offset", std::to_string(offset)})));
    ExpectMatchesDefinition(options);
  }
  for (const float scale : {0.0f, -1.5f, 0.25f}) {
    options = {};
    options.scale = scale;
    EXPECT_TRUE(Succeeds(Run({"--scale", std::to_string(scale)})));
    ExpectMatchesDefinition(options);
  }
  // Neither changes a bit.
  EXPECT_TRUE(Succeeds(Run({"--threads", "1"})));
  const std::string one = ContentsOf(folder_.Path("out.npy"));
  EXPECT_TRUE(Succeeds(Run({"--threads", "3"})));
  EXPECT_EQ(ContentsOf(folder_.Path("out.npy")), one);
}

TEST_F(RunTest, RunsOnEveryTarget) {
  WriteInputs({37, 24}, {50, 24}, {50, 24});
  const json info = json::parse(RunCommand({"info", "--json"}).out);
  for (const std::string target : info["targets"]) {
    const Outcome outcome = Run({"--target", target, "--json", "--check"});
    ASSERT_TRUE(Succeeds(outcome)) << target;
    EXPECT_EQ(json::parse(outcome.out)["plan"]["target"], target);
    ExpectMatchesDefinition({});
  }
}

TEST_F(RunTest, ReportsInJson) {
  WriteInputs({2, 12, 8}, {1, 30, 8}, {1, 30, 6});
  const json report = json::parse(Run({"--json", "--check", "--threads", "1"}).out);
  EXPECT_EQ(report["shape"],
            json::parse(R"({"batch": 1, "heads": 2, "kv_heads": 1, "queries": 12, "keys": 30,
                            "dim": 8, "value_dim": 6, "type": "f32", "k_type": "f32",
                            "v_type": "f32"})"));
  EXPECT_EQ(report["plan"]["variant"], "lanes");
  EXPECT_EQ(report["plan"]["threads"], 1);
  EXPECT_GE(report["ms"].get<double>(), 0);
  EXPECT_GT(report["tolerance"].get<double>(), 0);
  EXPECT_LE(report["max_error"].get<double>(), report["tolerance"].get<double>());
  EXPECT_EQ(report["max_error_index"].size(), 3U);
  EXPECT_EQ(report["out"], folder_.Path("out.npy"));
  EXPECT_TRUE(report["lse"].is_null());
  const json unchecked = json::parse(Run({"--json", "--lse", folder_.Path("lse.npy")}).out);
  EXPECT_TRUE(unchecked["max_error"].is_null());
  EXPECT_TRUE(unchecked["tolerance"].is_null());
  EXPECT_EQ(unchecked["lse"], folder_.Path("lse.npy"));
  EXPECT_THAT(Run({"--check"}).out, HasSubstr("largest error"));
}

TEST_F(RunTest, ReportsNoErrorOfNoElements) {
  WriteInputs({2, 0, 8}, {1, 30, 8}, {1, 30, 6});
  const json report = json::parse(Run({"--json", "--check"}).out);
  for (const char* name : {"max_error", "tolerance", "max_error_index"}) {
    EXPECT_TRUE(report.at(name).is_null()) << name;
  }
  EXPECT_THAT(Run({"--check"}).out, HasSubstr("out: no elements"));
}

TEST_F(RunTest, WritesEmptyAndAllZeroResults) {
  const std::vector<std::vector<Shape>> shapes = {
      {{0, 8}, {20, 8}, {20, 5}},
      {{9, 8}, {20, 8}, {20, 0}},
      {{0, 9, 8}, {0, 20, 8}, {0, 20, 5}},
      {{0, 2, 9, 8}, {0, 2, 20, 8}, {0, 2, 20, 5}},
      {{9, 8}, {0, 8}, {0, 5}},
  };
  for (const std::vector<Shape>& s : shapes) {
    WriteInputs(s[0], s[1], s[2]);
    EXPECT_TRUE(Succeeds(Run({"--check", "--lse", folder_.Path("lse.npy")})));
    ExpectMatchesDefinition({});
  }
  for (const std::byte byte : ReadArray("out.npy").data) EXPECT_EQ(byte, std::byte{0});
  EXPECT_EQ(ReadArray("lse.npy").floats()[0], -INFINITY);
}

TEST_F(RunTest, AgreesWithTheModelThatMadeTheStoredData) {
  const std::string data = LANEWISE_TEST_DATA;
  for (const std::string layer : {"0", "5"}) {
    const std::string stem = data + "/minilm_layer" + layer;
    const Outcome outcome =
        RunCommand({"run", "--q", stem + "_q.npy", "--k", stem + "_k.npy", "--v", stem + "_v.npy",
                    "--out", folder_.Path("out.npy"), "--check"});
    ASSERT_TRUE(Succeeds(outcome));
    const npy::Array got = ReadArray("out.npy");
    const Result<npy::Array> want = npy::Read(stem + "_out.npy");
    ASSERT_TRUE(want.ok()) << want.status().message();
    ASSERT_EQ(got.shape, want->shape);
    for (int64_t i = 0; i < got.ElementCount(); ++i) {
      ASSERT_NEAR(got.floats()[i], want->floats()[i], 1e-5) << i;
    }
  }
}

TEST_F(RunTest, NamesFilesThatDoNotFit) {
  const struct {
    Shape q, k, v;
    std::string text;
  } cases[] = {
      {{8}, {8}, {8}, "q.npy: shape (8,), expected rank 2"},
      {{1, 1, 1, 9, 8}, {1, 1, 1, 20, 8}, {1, 1, 1, 20, 8}, "expected rank 2"},
      {{9, 8}, {1, 20, 8}, {20, 8}, "k.npy: shape (1, 20, 8) has rank 3, expected rank 2"},
      {{9, 8}, {20, 8}, {1, 1, 20, 8}, "v.npy: shape (1, 1, 20, 8) has rank 4, expected rank 2"},
      {{9, 8}, {20, 7}, {20, 8}, "k.npy: shape (20, 7) has dim 7, expected 8 as in --q (9, 8)"},
      {{9, 8}, {20, 8}, {21, 8}, "v.npy: shape (21, 8) has keys 21, expected 20 as in --k (20, 8)"},
      {{4, 9, 8}, {2, 20, 8}, {4, 20, 8}, "v.npy: shape (4, 20, 8) has heads 4, expected 2"},
      {{2, 4, 9, 8}, {3, 4, 20, 8}, {3, 4, 20, 8}, "k.npy: shape (3, 4, 20, 8) has batch 3"},
      {{2, 4, 9, 8}, {2, 4, 20, 8}, {1, 4, 20, 8}, "v.npy: shape (1, 4, 20, 8) has batch 1"},
      {{4, 9, 8},
       {3, 20, 8},
       {3, 20, 8},
       "--k: " + folder_.Path("k.npy") +
           ": shape (3, 20, 8) has heads 3, expected a divisor of 4 as in --q (4, 9, 8)"},
      {{4, 9, 8},
       {0, 20, 8},
       {0, 20, 8},
       "k.npy: shape (0, 20, 8) has heads 0, expected a divisor of 4"},
      {{9, 0}, {20, 0}, {20, 8}, "dim: found 0, expected at least 1"},
  };
  for (const auto& c : cases) {
    WriteInputs(c.q, c.k, c.v);
    ExpectFailure({}, c.text);
  }
}

TEST_F(RunTest, NamesTheFlagsOfFiles) {
  WriteInputs({4, 9, 8}, {2, 20, 8}, {2, 20, 8});
  const std::string broken = folder_.Path("broken.npy");
  folder_.Write("broken.npy", "broken");
  for (const std::string flag : {"--q", "--k", "--v", "--mask", "--bias", "--alibi", "--sinks"}) {
    Arguments arguments = RunArguments({});
    const auto found = std::find(arguments.begin(), arguments.end(), flag);
    if (found == arguments.end()) {
      arguments.insert(arguments.end(), {flag, broken});
    } else {
      *(found + 1) = broken;
    }
    EXPECT_TRUE(FailsWith(RunCommand(arguments), 1, flag + ": " + broken + ": 6 bytes"));
    *std::find(arguments.begin(), arguments.end(), broken) = "";
    EXPECT_TRUE(
        FailsWith(RunCommand(arguments), 2, flag + ": found \"\", expected the path of a file"));
  }
  for (const std::string flag : {"--lse", "--weights"}) {
    ExpectFailure({flag, ""}, flag + ": found \"\", expected the path of a file", 2);
    ExpectFailure({flag, folder_.root()}, flag + ": " + folder_.root() + ": is a directory");
    ExpectFailure({flag, "/dev/full"}, flag + ": /dev/full: cannot be written");
  }
  ExpectFailure({"--score", "additive", "--w-out", broken}, "--w-out: " + broken + ": 6 bytes");
  ExpectFailure({"--score", "bilinear", "--w", broken}, "--w: " + broken + ": 6 bytes");
}

TEST_F(RunTest, NamesTheElementsThatAnArgumentTakes) {
  WriteInputs({4, 9, 8}, {2, 20, 8}, {2, 20, 8});
  const std::string path = folder_.Path("other.npy");
  for (const std::string descr : {"<i8", "|u1", "<f8"}) {
    folder_.Write(
        "other.npy",
        npy::File("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }\n", 8));
    const std::string found = path + ": dtype '" + descr + "', expected ";
    ExpectFailure({"--mask", path}, "--mask: " + found + "'|b1' (bool)\n");
    for (const std::string flag : {"--bias", "--alibi", "--sinks"}) {
      ExpectFailure({flag, path}, flag + ": " + found + "'<f4' (f32)\n");
    }
    ExpectFailure({"--score", "bilinear", "--w", path}, "--w: " + found + "'<f4' (f32)\n");
  }
  std::filesystem::rename(path, folder_.Path("v.npy"));
  ExpectFailure({}, "v.npy: dtype '<f8', expected '<f4' (f32) or '<f2' (f16)\n");
}

TEST_F(RunTest, NamesTypesItCannotUse) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  for (const auto& [name, rows] : {std::pair("q", 9), std::pair("k", 20), std::pair("v", 20)}) {
    const std::string file = std::string(name) + ".npy";
    const npy::Array good = ReadArray(file);
    WriteArray(file, npy::Array::Zeros({rows, 8}, DataType::kBool));
    ExpectFailure({}, file + ": bool elements, expected f32 or f16");
    ExpectFailure({"--type", "f16", "--kv-type", "f16"}, file + ": bool elements");
    WriteArray(file, good);
  }
}

TEST_F(RunTest, RefusesBrokenFiles) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  const std::string good = ContentsOf(folder_.Path("k.npy"));
  const auto with_shape = [&](const std::string& shape) {
    std::string file = good;
    const std::string old = "(20, 8), }" + std::string(shape.size() - 7, ' ');
    file.replace(file.find("(20, 8), }"), old.size(), shape + ", }");
    return file;
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "0 bytes, too short"},
      {"\x93NUMPY", "6 bytes, too short"},
      {"not an array", "not a .npy file"},
      {good.substr(0, 60), "beyond the end of the file"},
      {good.substr(0, good.size() - 1), "639 bytes of data, but shape (20, 8) of f32 needs 640"},
      {good + "x", "641 bytes of data"},
      {with_shape("(-20, 8)"), "size -20"},
      {with_shape("(99999999999, 8)"), "needs 3199999999968"},
      {with_shape("(4611686018427387904, 4)"), "needs more than 2^64 bytes"},
      {with_shape("(99999999999999999999999, 8)"), "99999999999999999999999"},
  };
  for (const auto& [content, text] : cases) {
    folder_.Write("k.npy", content);
    ExpectFailure({}, text);
    ExpectFailure({"--lse", folder_.Path("lse.npy"), "--check", "--json"}, "k.npy: ");
  }
  std::filesystem::remove(folder_.Path("k.npy"));
  ExpectFailure({}, "k.npy: cannot be opened: No such file");
  std::filesystem::create_directory(folder_.Path("k.npy"));
  ExpectFailure({}, "k.npy: is a directory");
}

TEST_F(RunTest, LeavesNothingWhenAnOutputCannotBeWritten) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  const std::string missing = folder_.Path("missing/lse.npy");
  ExpectFailure({"--lse", missing}, missing + ": cannot be created");
  ExpectFailure({"--lse", folder_.root()}, "is a directory");
  ExpectFailure({"--lse", "/dev/full"}, "/dev/full: cannot be written");
  std::filesystem::create_directory(folder_.Path("out.npy"));
  ExpectFailure({"--lse", folder_.Path("lse.npy")}, "out.npy: is a directory");
}

TEST_F(RunTest, LeavesOldOutputAloneWhenItFails) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  folder_.Write("out.npy", "old");
  ExpectFailure({"--lse", folder_.Path("missing/lse.npy")}, "cannot be created");
  folder_.Write("v.npy", "broken");
  ExpectFailure({}, "v.npy: ");
  ExpectFailure({"--scale", "x"}, "--scale", 2);
  EXPECT_EQ(ContentsOf(folder_.Path("out.npy")), "old");
}

TEST_F(RunTest, ReplacesOutputAndMayReplaceAnInput) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  folder_.Write("out.npy", "old");
  ASSERT_TRUE(Succeeds(Run()));
  ExpectMatchesDefinition({});
  const std::string fresh = ContentsOf(folder_.Path("out.npy"));
  const Outcome over_q =
      RunCommand({"run", "--q", folder_.Path("q.npy"), "--k", folder_.Path("k.npy"), "--v",
                  folder_.Path("v.npy"), "--out", folder_.Path("q.npy")});
  ASSERT_TRUE(Succeeds(over_q));
  EXPECT_EQ(ContentsOf(folder_.Path("q.npy")), fresh);
}

// A line end in a file name may not make two lines of a message.
TEST_F(RunTest, KeepsMessagesOnOneLine) {
  const Outcome outcome = RunCommand(
      {"run", "--q", "a\nb\x1b[31m.npy", "--k", "k.npy", "--v", "v.npy", "--out", "out.npy"});
  EXPECT_TRUE(FailsWith(outcome, 1, "a b [31m.npy: cannot be opened"));
}

// Scores beyond f32 give NaN where the definition has a number; nobody is promised otherwise.
TEST_F(RunTest, ChecksUpToTheRangeOfF32) {
  npy::Array huge = Floats({9, 8}, 1);
  for (int64_t i = 0; i < huge.ElementCount(); ++i) huge.floats()[i] *= 1e38f;
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  WriteArray("q.npy", huge);
  EXPECT_TRUE(Succeeds(Run({"--check", "--scale", "100", "--json"})));
}

}  // namespace
}  // namespace lanewise::tools
