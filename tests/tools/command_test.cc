// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The command line of `lanewise`: exit codes, messages, and the names in its JSON.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lanewise/version.h"
#include "tests/tools/command_json.h"
#include "tests/tools/command_runner.h"

namespace lanewise::tools {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Arguments = std::vector<std::string>;

Arguments Explain(const Arguments& more) {
  Arguments arguments = {"explain", "--queries", "100", "--dim", "64"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CommandTest, HelpAndVersion) {
  const Outcome help = RunCommand({"--help"});
  EXPECT_TRUE(Succeeds(help));
  for (const char* command : {"info", "run", "explain", "verify", "bench"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    const Outcome own = RunCommand({command, "--help"});
    EXPECT_TRUE(Succeeds(own)) << command;
    EXPECT_THAT(own.out, HasSubstr("--json"));
  }
  EXPECT_THAT(RunCommand({"run", "--help"}).out, HasSubstr("--query-offset"));
  const Outcome version = RunCommand({"--version"});
  EXPECT_TRUE(Succeeds(version));
  EXPECT_EQ(version.out, "lanewise " + std::to_string(LANEWISE_VERSION_MAJOR) + "." +
                             std::to_string(LANEWISE_VERSION_MINOR) + "." +
                             std::to_string(LANEWISE_VERSION_PATCH) + "\n");
}

TEST(CommandTest, WrongUsageIsOneLineAndCode2) {
  const Arguments run = {"run", "--q", "q", "--k", "k", "--v", "v", "--out", "o"};
  const auto with = [](Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const std::pair<Arguments, std::string> cases[] = {
      {{}, "subcommand is required"},
      {{"walk"}, "unknown subcommand \"walk\", expected one of info, run"},
      {{"--walk"}, "subcommand is required"},
      {{"info", "--walk"}, "--walk"},
      {{"info", "extra"}, "extra"},
      {{"info", "--json=perhaps"}, "perhaps"},
      {{"verify", "--target", "MMX9"}, "MMX9"},
      {{"run"}, "--q is required"},
      {{"run", "--q", "q", "--k", "k", "--out", "o"}, "--v is required"},
      {{"run", "--q", "q", "--k", "k", "--v", "v"}, "--out is required"},
      {with(run, {"--q", "q2"}), "--q: found \"q\" and \"q2\", expected one value"},
      {{"run", "foo"}, "unexpected arguments: foo; --q is required"},
      {with(run, {"--lse", ""}), "--lse: found \"\", expected the path of a file"},
      {{"bench", "full_d64", "--seconds", "1e30"},
       "--seconds: found 1e+30, expected more than 0 and at most 3600"},
      {{"bench", "full_d64", "--seconds", "0"}, "--seconds: found 0, expected more than 0"},
      {with(run, {"--walk", "1", "2"}), "--walk 1 2"},
      {with(run, {"--lse"}), "--lse"},
      {with(run, {"--lse", "--check"}), "--lse: found \"--check\", expected the path of a file"},
      {with(run, {"--causal=2"}), "--causal: found \"2\", expected no value"},
      {with(run, {"--lse=", "l"}), "--lse: found \"\", expected a value"},
      {{"bench", "full_d64", "--tile="}, "--tile: found \"\", expected a value"},
      {{"bench", "full_d64", "--tile", ""}, "--tile: found \"\", expected an ID"},
      {{"bench", "full_d64", "--variant", ""}, "--variant: found \"\", expected an ID"},
      {with(run, {"--lse", "./o"}), "--lse: found the file of --out (o)"},
      {with(run, {"--lse", "x/../o"}), "--lse"},
      {with(run, {"--scale", "one"}), "--scale: found \"one\""},
      {with(run, {"--scale", "1,5"}), "\"1,5\""},
      {with(run, {"--scale", ""}), "\"\""},
      {with(run, {"--scale", "nan"}), "\"nan\""},
      {with(run, {"--scale", "-inf"}), "\"-inf\""},
      {with(run, {"--scale", "1e39"}), "\"1e39\""},
      {with(run, {"--threads", "0"}), "--threads: found \"0\""},
      {with(run, {"--threads", "-1"}), "\"-1\""},
      {with(run, {"--threads", "2x"}), "\"2x\""},
      {with(run, {"--threads", "99999"}), "1 to 4096"},
      {with(run, {"--target", "MMX9"}), "available here"},
      {with(run, {"--target", ""}), "--target"},
      {with(run, {"--query-offset", "1.5"}), "\"1.5\""},
      {with(run, {"--query-offset", "9223372036854775808"}), "9223372036854775808"},
      {with(run, {"--causal", "--top-left", "--query-offset", "1"}), "--query-offset"},
      {with(run, {"--lse", "l", "--weights", "l"}), "--weights: found the file of --lse (l)"},
      {with(run, {"--radius", "-1"}),
       "--radius: found \"-1\", expected a whole number of at least 0"},
      {with(run, {"--radius", "1.5"}), "\"1.5\""},
      {with(run, {"--radius", "3", "--window", "3,3"}), "--window excludes --radius"},
      {with(run, {"--window", "3"}), "--window: found \"3\", expected two numbers L,R"},
      {with(run, {"--window", "1,2,3"}), "\"1,2,3\""},
      {with(run, {"--window", "-3,1"}), "\"-3,1\""},
      {with(run, {"--window", "1,-2"}), "\"1,-2\""},
      {with(run, {"--window", "1;2"}), "\"1;2\""},
      {with(run, {"--window", "1", "2"}), "--window: found \"1\""},
      {with(run, {"--window", ""}), "--window: found \"\""},
      {with(run, {"--window", "9223372036854775808,0"}), "9223372036854775808"},
      {with(run, {"--window", "1,1", "--window", "2,2"}),
       "--window: found \"1,1\" and \"2,2\", expected one value"},
      {with(run, {"--softcap", "-1"}),
       "--softcap: found \"-1\", expected a finite number within f32, at least 0"},
      {with(run, {"--softcap", "nan"}), "\"nan\""},
      {with(run, {"--softcap", "inf"}), "\"inf\""},
      {with(run, {"--kv-len", "-1"}),
       "--kv-len: found \"-1\", expected whole numbers of at least 0"},
      {with(run, {"--kv-len", "5,,3"}), "\"5,,3\""},
      {with(run, {"--kv-len", "5,x"}), "\"5,x\""},
      {with(run, {"--mask"}), "--mask"},
      {with(run, {"--type", "f64"}), "--type: found \"f64\", expected f32, f16 or bf16"},
      {with(run, {"--type", "F16"}), "--type: found \"F16\""},
      {with(run, {"--kv-type", "bool"}), "--kv-type: found \"bool\", expected f32, f16 or bf16"},
      {with(run, {"--kv-type", ""}), "--kv-type"},
      {{"explain", "--dim", "3"}, "--queries is required"},
      {{"explain", "--queries", "3"}, "--dim is required"},
      {Explain({"--batch", "-1"}), "--batch: found \"-1\", expected a whole number of at least 0"},
      {Explain({"--heads", "0x8"}), "\"0x8\""},
      {Explain({"--keys", "1e3"}), "\"1e3\""},
      {Explain({"--type", "f64"}), "expected f32, f16 or bf16"},
      {Explain({"--type", "bool"}), "\"bool\""},
      {Explain({"--kv-type", "fp16"}), "--kv-type: found \"fp16\", expected f32, f16 or bf16"},
      {{"explain", "--queries", "3", "--dim", "0"}, "at least 1"},
      // What only the plan notices is still wrong on the command line.
      {Explain({"--heads", "4", "--kv-heads", "3"}), "--kv-heads: found 3"},
      {Explain({"--batch", "9223372036854775807"}), "overflow"},
      {Explain({"--kv-len", "5,5"}),
       "--kv-len: found 2 numbers, expected 1, one for each batch item"},
      {Explain({"--kv-len", "101"}), "--kv-len: found 101, expected at most 100"},
      {Explain({"--window", "1"}), "--window"},
      // Where run takes files, explain and bench take switches.
      {Explain({"--mask", "m.npy"}), "unexpected arguments: m.npy"},
      {{"bench", "--queries", "9", "--dim", "8", "--kv-len", "10"}, "at most 9"},
      {{"bench", "--queries", "9", "--dim", "8", "--bias", "b.npy"}, "case \"b.npy\" is unknown"},
      {{"bench", "full_d64", "--softcap", "3"}, "\"full_d64\" has its own shape"},
      {{"bench", "full_d64", "--mask"}, "\"full_d64\" has its own shape"},
      {{"bench", "full_d64", "--kv-type", "f16"}, "\"full_d64\" has its own shape"},
  };
  for (const auto& [arguments, text] : cases) {
    const Outcome outcome = RunCommand(arguments);
    EXPECT_TRUE(FailsWith(outcome, 2, text)) << ::testing::PrintToString(arguments);
    EXPECT_THAT(outcome.out, IsEmpty()) << ::testing::PrintToString(arguments);
  }
}

TEST(CommandTest, InfoNamesEverything) {
  const json info = JsonOf(RunCommand({"info", "--json"}));
  for (const char* name : {"cpu", "target", "targets", "threads", "caches", "profile", "sources"}) {
    EXPECT_TRUE(info.contains(name)) << name;
  }
  EXPECT_FALSE(info["cpu"].get<std::string>().empty());
  EXPECT_EQ(info["target"], info["targets"][0]);
  EXPECT_GE(info["threads"].get<int>(), 1);
  EXPECT_TRUE(info["profile"].is_null());
  for (const char* level : {"l1d", "l2", "l3"}) {
    EXPECT_GE(info["caches"][level]["bytes"].get<int64_t>(), 4096) << level;
    EXPECT_FALSE(info["sources"]["caches"][level].get<std::string>().empty()) << level;
  }
  EXPECT_GE(info["caches"]["line_bytes"].get<int>(), 16);
  EXPECT_EQ(info["sources"]["target"], "best available");
  EXPECT_THAT(info["notes"], IsEmpty());

  const Outcome text = RunCommand({"info"});
  EXPECT_TRUE(Succeeds(text));
  EXPECT_THAT(text.out, HasSubstr(info["cpu"].get<std::string>()));
  for (const char* name : {"target", "threads", "l1d", "l2", "l3", "profile"}) {
    EXPECT_THAT(text.out, HasSubstr("\n" + std::string(name) + " "));
  }
}

TEST(CommandTest, InfoShowsTheEnvironment) {
  const Arguments arguments = {"info", "--json"};
  const std::string last_target =
      JsonOf(RunCommand(arguments))["targets"].back().get<std::string>();
  const json good =
      JsonOf(RunCommand(arguments, {"LANEWISE_THREADS=3", "LANEWISE_TARGET=" + last_target}));
  EXPECT_EQ(good["threads"], 3);
  EXPECT_EQ(good["sources"]["threads"], "LANEWISE_THREADS");
  EXPECT_EQ(good["target"], last_target);
  EXPECT_EQ(good["sources"]["target"], "LANEWISE_TARGET");
  EXPECT_THAT(good["notes"], IsEmpty());

  const json bad = JsonOf(RunCommand(arguments, {"LANEWISE_THREADS=many", "LANEWISE_TARGET=MMX9"}));
  EXPECT_NE(bad["sources"]["threads"], "LANEWISE_THREADS");
  EXPECT_TRUE(bad["target"].is_null());
  ASSERT_EQ(bad["notes"].size(), 2U);
  EXPECT_THAT(bad["notes"][0].get<std::string>(), HasSubstr("many"));
  EXPECT_THAT(bad["notes"][1].get<std::string>(), HasSubstr("MMX9"));
  EXPECT_THAT(RunCommand({"info"}, {"LANEWISE_THREADS=many"}).out,
              HasSubstr("\nnote     LANEWISE"));
}

TEST(CommandTest, ExplainHasExactlyTheNamesOfTheDesign) {
  const json plan = JsonOf(RunCommand(Explain({"--json"})));
  EXPECT_EQ(NamesOf(plan),
            (std::set<std::string>{"variant", "tile", "kv_block", "q_groups", "grain", "target",
                                   "threads", "workspace_bytes", "sources", "reasons"}));
  EXPECT_EQ(plan["variant"], "lanes");
  EXPECT_GT(plan["kv_block"].get<int64_t>(), 0);
  EXPECT_GT(plan["workspace_bytes"].get<int64_t>(), 0);
  EXPECT_EQ(plan["sources"]["kv_block"], "default");
  EXPECT_TRUE(plan["reasons"].is_array());
  EXPECT_THAT(RunCommand(Explain({})).out, HasSubstr(plan["tile"].get<std::string>()));
}

TEST(CommandTest, ExplainFollowsItsFlags) {
  const json info = JsonOf(RunCommand({"info", "--json"}));
  const std::string target = info["targets"].back().get<std::string>();
  const json plan = JsonOf(RunCommand(Explain(
      {"--json",         "--target", target,    "--threads", "3",           "--heads", "6",
       "--kv-heads",     "2",        "--keys",  "70",        "--value-dim", "5",       "--causal",
       "--query-offset", "-3",       "--scale", "-0.5",      "--lse",       "--batch", "2",
       "--type",         "f32"})));
  EXPECT_EQ(plan["target"], target);
  EXPECT_EQ(plan["threads"], 3);
  const json one = JsonOf(RunCommand(Explain({"--json", "--threads", "1"})));
  EXPECT_EQ(one["threads"], 1);
  // A larger dim needs more scratch: the shape reaches the plan.
  EXPECT_LT(one["workspace_bytes"],
            JsonOf(RunCommand({"explain", "--queries", "100", "--dim", "6400", "--threads", "1",
                               "--json"}))["workspace_bytes"]);
}

TEST(CommandTest, ExplainTakesEveryOption) {
  for (const Arguments& arguments :
       {Arguments{"--radius", "3"}, Arguments{"--window", "-1,4"}, Arguments{"--softcap", "30"},
        Arguments{"--batch", "2", "--kv-len", "0,100"},
        Arguments{"--mask", "--bias", "--alibi", "--sinks", "--lse", "--weights"}}) {
    EXPECT_TRUE(Succeeds(RunCommand(Explain(arguments))));
  }
}

TEST(CommandTest, ExplainTakesOffsets) {
  const Arguments offsets = {"explain",     "--dim",   "64",     "--q-offsets", "0,3,10",
                             "--k-offsets", "0,5,900", "--json", "--threads",   "1"};
  EXPECT_GT(JsonOf(RunCommand(offsets))["kv_block"].get<int64_t>(), 0);
  const std::pair<Arguments, std::string> wrong[] = {
      {{"--batch", "3"}, "--batch: found 3, expected 2, the sequences of --q-offsets"},
      {{"--queries", "9"}, "--q-offsets: found 10 at the end, expected 9"},
      {{"--mask"}, "--q-offsets excludes --mask"}};
  for (const auto& [more, text] : wrong) {
    Arguments arguments = offsets;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_TRUE(FailsWith(RunCommand(arguments), 2, text));
  }
}

TEST(CommandTest, ExplainTakesEveryType) {
  for (const char* type : {"f32", "f16", "bf16"}) {
    EXPECT_TRUE(Succeeds(RunCommand(Explain({"--type", type})))) << type;
    for (const char* kv_type : {"f32", "f16", "bf16"}) {
      const json plan = JsonOf(
          RunCommand({"explain", "--json", "--queries", "1", "--keys", "300", "--heads", "8",
                      "--kv-heads", "2", "--dim", "64", "--type", type, "--kv-type", kv_type}));
      EXPECT_GT(plan["kv_block"].get<int64_t>(), 0) << type << " " << kv_type;
    }
  }
}

TEST(CommandTest, ExplainShowsTheNoteOfTheEnvironment) {
  const json plan = JsonOf(RunCommand(Explain({"--json"}), {"LANEWISE_THREADS=-2"}));
  ASSERT_FALSE(plan["reasons"].empty());
  EXPECT_THAT(plan["reasons"].dump(), HasSubstr("LANEWISE_THREADS"));
}

TEST(CommandTest, VerifyPassesOnEveryTarget) {
  const json info = JsonOf(RunCommand({"info", "--json"}));
  const json report = JsonOf(RunCommand({"verify", "--json"}));
  EXPECT_EQ(report["passed"], true);
  std::vector<std::string> targets;
  for (const json& target : report["targets"]) {
    targets.push_back(target["target"]);
    EXPECT_EQ(target["passed"], true) << target;
    EXPECT_THAT(target["failures"], IsEmpty());
    EXPECT_GT(target["runs"].get<size_t>(), 50 * target["tiles"].size());
    EXPECT_GT(target["worst_ratio"].get<double>(), 0);
    EXPECT_LE(target["worst_ratio"].get<double>(), 1);
  }
  EXPECT_EQ(json(targets), info["targets"]);

  const std::string last = targets.back();
  const Outcome text = RunCommand({"verify", "--target", last});
  EXPECT_TRUE(Succeeds(text));
  EXPECT_THAT(text.out, HasSubstr("\n" + last + " "));
  EXPECT_THAT(text.out, HasSubstr("PASS\n"));
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 2);
}

TEST(CommandTest, NoticesThatNobodyGetsItsOutput) {
  for (const Arguments& arguments : {Arguments{"info"}, Arguments{"info", "--json"},
                                     Arguments{"--help"}, Arguments{"--version"}}) {
    EXPECT_TRUE(FailsWith(RunCommand(arguments, {}, "/dev/full"), 1, "standard output"));
  }
}

}  // namespace
}  // namespace lanewise::tools
