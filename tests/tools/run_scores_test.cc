// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise run --score` on files of parameters: numbers calculated by hand, and what it refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/run_fixture.h"

namespace lanewise::tools {
namespace {

class RunScoresTest : public RunTest {
 protected:
  std::string Path(const char* name) const { return folder_.Path(name); }

  void WriteFloats(const char* name, const Shape& shape, const std::vector<float>& values) {
    npy::Array array = npy::Array::Zeros(shape);
    ASSERT_EQ(array.ElementCount(), static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), array.floats());
    WriteArray(name, array);
  }

  // Query (1, 0) and keys (1, 0), (0, 1), (1, 1).
  void WriteGolden() {
    WriteFloats("q.npy", {1, 2}, {1, 0});
    WriteFloats("k.npy", {3, 2}, {1, 0, 0, 1, 1, 1});
    WriteFloats("v.npy", {3, 1}, {10, 20, 40});
    WriteFloats("unit.npy", {2, 2}, {1, 0, 0, 1});
    WriteFloats("w.npy", {2, 2}, {2, 1, 0, 1});
    WriteFloats("w_out.npy", {2}, {1, -1});
  }

  void ExpectGolden(Arguments more, double out, double lse) {
    more.insert(more.end(), {"--check", "--lse", Path("lse.npy")});
    ASSERT_TRUE(Succeeds(Run(more))) << ::testing::PrintToString(more);
    EXPECT_NEAR(ReadArray("out.npy").floats()[0], out, 1e-5 * 40);
    EXPECT_NEAR(ReadArray("lse.npy").floats()[0], lse, 1e-6);
  }

  Arguments Additive() const {
    return {"--score", "additive",       "--wq",    Path("unit.npy"),
            "--wk",    Path("unit.npy"), "--w-out", Path("w_out.npy")};
  }
};

TEST_F(RunScoresTest, GoldenValues) {
  WriteGolden();
  ExpectGolden({"--score", "dot"}, 24.01112093, 1.62062114);
  ExpectGolden(Additive(), 19.64206077, 1.57828054);
  // Rows that need no projection need no files for it.
  ExpectGolden({"--score", "additive", "--w-out", Path("w_out.npy")}, 19.64206077, 1.57828054);
  ExpectGolden({"--score", "bilinear", "--w", Path("w.npy")}, 30.85753440, 3.40760596);
  ExpectGolden({"--score", "gaussian", "--bandwidth", "1"}, 21.07911380, 0.68026967);
}

// Heads, batch items and options beside a score; q and k of different lengths.
TEST_F(RunScoresTest, ChecksAgainstTheDefinition) {
  WriteInputs({2, 4, 11, 6}, {2, 2, 17, 5}, {2, 2, 17, 3});
  WriteArray("w.npy", Floats({6, 5}, 4));
  WriteArray("wq.npy", Floats({9, 6}, 5));
  WriteArray("wk.npy", Floats({9, 5}, 6));
  WriteArray("w_out.npy", Floats({9}, 7));
  const Arguments bilinear = {"--score", "bilinear", "--w", Path("w.npy"), "--scale", "0.5"};
  const Arguments additive = {"--score", "additive",     "--wq",    Path("wq.npy"),
                              "--wk",    Path("wk.npy"), "--w-out", Path("w_out.npy")};
  for (Arguments more : {bilinear, additive}) {
    more.insert(more.end(), {"--check", "--causal", "--softcap", "2", "--kv-len", "17,9",
                             "--weights", Path("weights.npy"), "--kv-type", "f16"});
    EXPECT_TRUE(Succeeds(Run(more)));
  }
  WriteInputs({4, 11, 6}, {4, 17, 6}, {4, 17, 3});
  EXPECT_TRUE(Succeeds(
      Run({"--score", "gaussian", "--bandwidth", "0.7", "--window", "5,2", "--check", "--json"})));
}

TEST_F(RunScoresTest, FlagsThatDoNotGoTogether) {
  WriteGolden();
  ExpectFailure({"--score", "cosine"}, "--score: found \"cosine\"", 2);
  ExpectFailure({"--score", "bilinear"}, "--w is required", 2);
  ExpectFailure({"--score", "additive"}, "--w-out is required", 2);
  ExpectFailure({"--score", "gaussian"}, "--bandwidth is required", 2);
  ExpectFailure({"--w", Path("w.npy")}, "--w: found with --score dot", 2);
  ExpectFailure({"--score", "bilinear", "--w", Path("w.npy"), "--wq", Path("unit.npy")},
                "--wq: found with --score bilinear", 2);
  ExpectFailure({"--wk", Path("unit.npy")}, "--wk: found with --score dot", 2);
  ExpectFailure({"--w-out", Path("w_out.npy")}, "--w-out: found with --score dot", 2);
  ExpectFailure({"--bandwidth", "1"}, "--bandwidth: found with --score dot", 2);
  ExpectFailure({"--score", "gaussian", "--bandwidth", "1", "--scale", "2"}, "--scale: found", 2);
  for (const char* bandwidth : {"0", "-1", "inf", "nan", "1e-30", "wide"}) {
    ExpectFailure({"--score", "gaussian", "--bandwidth", bandwidth}, "--bandwidth: found", 2);
  }
}

TEST_F(RunScoresTest, FilesThatDoNotFit) {
  WriteGolden();
  WriteArray("wide.npy", Floats({2, 3}, 4));
  WriteArray("matrix.npy", Floats({1, 2}, 4));
  npy::Array halves = npy::Array::Zeros({2, 2});
  halves.type = DataType::kF16;
  halves.data.resize(8);
  WriteArray("halves.npy", halves);
  const auto bilinear = [&](const char* w) {
    return Arguments{"--score", "bilinear", "--w", Path(w)};
  };
  ExpectFailure(bilinear("wide.npy"), "wide.npy: shape (2, 3), expected [dim, key_dim] = (2, 2)");
  ExpectFailure(bilinear("w_out.npy"), "w_out.npy: shape (2,), expected");
  ExpectFailure(bilinear("halves.npy"), "halves.npy: f16 elements, expected f32");
  ExpectFailure(bilinear("none.npy"), "none.npy");
  ExpectFailure({"--score", "additive", "--w-out", Path("matrix.npy")}, "expected [hidden]");
  ExpectFailure({"--score", "additive", "--w-out", Path("w_out.npy"), "--wk", Path("wide.npy")},
                "wide.npy: shape (2, 3), expected [hidden, key_dim] = (2, 2)");
  // Without a projection the rows have to be as long as w_out.
  WriteArray("longer.npy", Floats({3}, 4));
  ExpectFailure({"--score", "additive", "--w-out", Path("longer.npy")}, "hidden: found 3");
  // Lengths differ only where weights stand between them.
  WriteArray("k.npy", Floats({3, 5}, 2));
  ExpectFailure({"--score", "gaussian", "--bandwidth", "1"}, "k.npy: shape (3, 5) has dim 5");
}

}  // namespace
}  // namespace lanewise::tools
