// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Thousands of mutated .npy files: an array or a message, and nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "tests/support/gen.h"
#include "tests/tools/npy_files.h"
#include "tools/npy.h"

namespace lanewise::npy {
namespace {

using ::testing::StartsWith;

// Pseudo-random numbers, the same in every run.
class Random {
 public:
  // A number below `limit`.
  size_t Below(size_t limit) {
    return testing::GenBits(99, counter_++) % static_cast<uint32_t>(limit);
  }

 private:
  uint32_t counter_ = 0;
};

// One change to a file, of the kinds that accidents and attackers make.
void Mutate(Random& random, std::string& file) {
  static const std::string kTokens[] = {"'descr'",
                                        "'shape'",
                                        "'fortran_order'",
                                        "True",
                                        "False",
                                        "(",
                                        ")",
                                        ",",
                                        "{",
                                        "}",
                                        ":",
                                        "'",
                                        "\"",
                                        "-1",
                                        "0",
                                        "00",
                                        "4294967296",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "'<f4'",
                                        "'>f4'",
                                        "'<f2'",
                                        "'|b1'",
                                        "'|O'",
                                        "\\",
                                        "\n",
                                        " ",
                                        std::string(1, '\0'),
                                        "(0,)",
                                        "()"};
  const size_t at = random.Below(file.size() + 1);
  const size_t length = std::min(random.Below(9), file.size() - at);
  switch (random.Below(8)) {
    case 0:
      if (at < file.size()) file[at] = static_cast<char>(random.Below(256));
      break;
    case 1:
      if (at < file.size()) file[at] = static_cast<char>(file[at] ^ (1 << random.Below(8)));
      break;
    case 2:
      file.erase(at, length);
      break;
    case 3:
      file.insert(at, kTokens[random.Below(std::size(kTokens))]);
      break;
    case 4:
      file.replace(at, length, kTokens[random.Below(std::size(kTokens))]);
      break;
    case 5:
      file.insert(at, file.substr(random.Below(file.size() + 1), length));
      break;
    case 6:
      file.resize(at);
      break;
    default:  // the preamble, which the other kinds seldom meet
      if (file.size() > 12) file[random.Below(12)] = static_cast<char>(random.Below(4));
      break;
  }
}

void CheckOutcome(const std::string& file) {
  const Result<Array> array = ParseText(file);
  if (!array.ok()) {
    const std::string message = array.status().message();
    EXPECT_THAT(message, StartsWith("x.npy: "));
    for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~') << message;
    EXPECT_LT(message.size(), 1000U);
    return;
  }
  ASSERT_LE(array->shape.size(), kMaxRank);
  ASSERT_EQ(array->data.size(),
            static_cast<size_t>(array->ElementCount()) * ElementBytes(array->type));
  ASSERT_LT(array->data.size(), file.size());
  const std::string again =
      Header(*array) +
      std::string(reinterpret_cast<const char*>(array->data.data()), array->data.size());
  const Result<Array> reread = ParseText(again);
  ASSERT_TRUE(reread.ok()) << reread.status().message();
  EXPECT_EQ(reread->shape, array->shape);
  EXPECT_EQ(reread->data, array->data);
}

TEST(NpyMutationTest, SurvivesMutations) {
  const std::string seeds[] = {
      FileOfShape("(2, 3)", 24),
      FileOfShape("()", 4),
      FileOfShape("(0, 7)", 0),
      File("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1, 3, 2), }          \n", 24),
      File("{'descr': '|b1', 'fortran_order': False, 'shape': (9,), }\n", 9),
      std::string("\x93NUMPY\x02\x00\x3a\x00\x00\x00", 12) +
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n" + std::string(12, 'x'),
  };
  constexpr int kMutants = 40'000;
  Random random;
  int accepted = 0;
  for (int i = 0; i < kMutants && !HasFailure(); ++i) {
    std::string file = seeds[random.Below(std::size(seeds))];
    for (size_t change = random.Below(4); change < 4; ++change) Mutate(random, file);
    accepted += ParseText(file).ok();
    CheckOutcome(file);
  }
  // Both outcomes have to be common for the test to mean something.
  EXPECT_GT(accepted, kMutants / 100);
  EXPECT_LT(accepted, kMutants / 2);
}

}  // namespace
}  // namespace lanewise::npy
