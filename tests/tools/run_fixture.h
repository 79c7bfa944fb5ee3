// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A folder of .npy files, and `lanewise run` on them.

#ifndef LANEWISE_TESTS_TOOLS_RUN_FIXTURE_H_
#define LANEWISE_TESTS_TOOLS_RUN_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "src/reference/attention.h"
#include "src/reference/tolerance.h"
#include "tests/machine/temp_tree.h"
#include "tests/support/gen.h"
#include "tests/tools/command_runner.h"
#include "tools/input_arrays.h"
#include "tools/npy.h"

namespace lanewise::tools {

using Arguments = std::vector<std::string>;
using Shape = std::vector<int64_t>;

inline npy::Array Floats(const Shape& shape, uint32_t seed) {
  npy::Array array = npy::Array::Zeros(shape);
  const std::vector<float> values = testing::Gen(seed, array.ElementCount());
  if (!values.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

// A folder with q.npy, k.npy and v.npy.
class RunTest : public ::testing::Test {
 protected:
  void WriteInputs(const Shape& q, const Shape& k, const Shape& v) {
    WriteArray("q.npy", Floats(q, 1));
    WriteArray("k.npy", Floats(k, 2));
    WriteArray("v.npy", Floats(v, 3));
  }
  void WriteArray(const std::string& name, const npy::Array& array) {
    const Status status = npy::Write(folder_.Path(name), array);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  npy::Array ReadArray(const std::string& name) {
    const Result<npy::Array> array = npy::Read(folder_.Path(name));
    EXPECT_TRUE(array.ok()) << array.status().message();
    return array.ok() ? *array : npy::Array();
  }

  // `lanewise run` on the inputs, with the output out.npy and `more`.
  Outcome Run(const Arguments& more = {}) const { return RunCommand(RunArguments(more)); }

  Arguments RunArguments(const Arguments& more) const {
    Arguments arguments = {"run",
                           "--q",
                           folder_.Path("q.npy"),
                           "--k",
                           folder_.Path("k.npy"),
                           "--v",
                           folder_.Path("v.npy"),
                           "--out",
                           folder_.Path("out.npy")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::set<std::string> FileNames() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.root())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  // Runs, expects a failure with `text`, and that the folder is as it was.
  void ExpectFailure(const Arguments& more, const std::string& text, int exit_code = 1) {
    const std::set<std::string> before = FileNames();
    const Outcome outcome = Run(more);
    EXPECT_TRUE(FailsWith(outcome, exit_code, text));
    EXPECT_THAT(outcome.out, ::testing::IsEmpty());
    EXPECT_EQ(FileNames(), before);
  }

  // Compares out.npy, and lse.npy and weights.npy where they exist, with the definition for the
  // inputs, and the arrays mask.npy, bias.npy, alibi.npy and sinks.npy if `options` has them.
  // `types` as on the command line.
  void ExpectMatchesDefinition(AttentionOptions options, const std::vector<int64_t>& kv_len = {},
                               const InputTypes& types = {}) {
    const auto path = [this](const char* name, bool given) {
      return given ? std::optional(folder_.Path(name)) : std::nullopt;
    };
    const Result<InputArrays> inputs =
        ReadInputs({folder_.Path("q.npy"), folder_.Path("k.npy"), folder_.Path("v.npy"),
                    path("mask.npy", options.mask), path("bias.npy", options.bias),
                    path("alibi.npy", options.alibi_slopes), path("sinks.npy", options.sinks)},
                   types);
    ASSERT_TRUE(inputs.ok()) << inputs.status().message();
    AttentionTensors tensors = inputs->Tensors();
    tensors.out.type = inputs->shape.out_type;
    options.kv_len = !kv_len.empty();
    tensors.kv_len = {kv_len.data(), static_cast<int64_t>(kv_len.size())};
    options.weights = FileNames().contains("weights.npy");
    const reference::AttentionResult expected = reference::Attention(tensors, options);
    const reference::AttentionTolerance tolerance =
        reference::Tolerance(tensors, options, expected);
    const AttentionShape& shape = inputs->shape;
    const Sizes rows = {shape.batch, shape.heads, shape.queries, 1};
    ExpectFile("out.npy", inputs->OutShape(), rows, expected.out, tolerance.out);
    if (FileNames().contains("lse.npy")) {
      ExpectFile("lse.npy", inputs->LseShape(), rows, expected.lse, tolerance.lse);
    }
    if (options.weights) {
      ExpectFile("weights.npy", inputs->WeightsShape(), rows, expected.weights, tolerance.weights);
    }
  }

  // Compares a file that should have `file_shape`, and as tensor as many rows as `rows`.
  void ExpectFile(const std::string& name, const Shape& file_shape, const Sizes& rows,
                  const std::vector<double>& expected, const std::vector<double>& tolerance) {
    npy::Array array = ReadArray(name);
    ASSERT_EQ(array.shape, file_shape) << name;
    Sizes sizes = rows;
    const int64_t row_count = rows[0] * rows[1] * rows[2];
    if (row_count > 0) sizes[3] = static_cast<int64_t>(expected.size()) / row_count;
    const reference::Comparison difference =
        reference::Compare(OutputView(array, sizes), expected, tolerance);
    EXPECT_TRUE(difference.ok()) << name << ": " << reference::Describe(difference.worst);
  }

  const machine::TempTree folder_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TESTS_TOOLS_RUN_FIXTURE_H_
