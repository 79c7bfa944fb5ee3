// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Target names, look-up, error texts, and the promise to leave Highway's state alone.

#include "src/machine/targets.h"

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cctype>

namespace lanewise::machine {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Puts Highway's process-wide settings back.
class TargetsTest : public testing::Test {
 protected:
  void TearDown() override {
    hwy::DisableTargets(0);
    hwy::GetChosenTarget().DeInit();
  }
};

TEST_F(TargetsTest, AvailableNamesAreHighwaysBestFirst) {
  std::vector<std::string> expected;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    expected.emplace_back(hwy::TargetName(target));
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(AvailableTargets(), expected);
}

TEST_F(TargetsTest, EveryAvailableNameIsFoundInAnyCase) {
  int64_t previous = 0;
  for (const std::string& name : AvailableTargets()) {
    const Result<int64_t> found = FindTarget(name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status().message();
    EXPECT_EQ(TargetName(*found), name);
    EXPECT_GT(*found, previous) << "a better target has a lower bit";
    previous = *found;
    const Result<int64_t> lower = FindTarget(Lower(name));
    ASSERT_TRUE(lower.ok()) << lower.status().message();
    EXPECT_EQ(*lower, *found);
  }
}

TEST_F(TargetsTest, EmptyNameIsTheBest) {
  const Result<int64_t> best = FindTarget("");
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(TargetName(*best), AvailableTargets().front());
}

TEST_F(TargetsTest, UnknownNameIsAnInvalidArgumentThatListsTheChoice) {
  for (const char* name :
       {"AVX", "avx512", "AVX2 ", " AVX2", "AVX3AVX2", "Unknown", "AVX\xc3\xbc"}) {
    const Result<int64_t> result = FindTarget(name);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << name;
    for (const std::string& available : AvailableTargets()) {
      EXPECT_TRUE(Contains(result.status().message(), available)) << result.status().message();
    }
  }
}

TEST_F(TargetsTest, MessageStaysOnePrintableLine) {
  std::string name(10000, 'x');
  name[0] = '\n';
  name[1] = '\0';
  name[2] = '\x1b';
  const std::string message = FindTarget(name).status().message();
  EXPECT_LT(message.size(), 300U);
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
}

#if HWY_ARCH_X86
TEST_F(TargetsTest, TellsCpuFromBuildFromTypingError) {
  const TargetSets sets{.generated = HWY_AVX3 | HWY_AVX2 | HWY_SCALAR,
                        .supported = HWY_AVX2 | HWY_SSE4 | HWY_SCALAR | HWY_EMU128};
  EXPECT_EQ(*FindTarget("", sets), HWY_AVX2);
  EXPECT_EQ(*FindTarget("scalar", sets), HWY_SCALAR);

  Status status = FindTarget("avx3", sets).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "target \"avx3\" is not supported by this CPU or operating system; available here: "
            "AVX2, SCALAR");
  for (const char* name : {"SSE4", "EMU128", "NEON", "avx3_zen4"}) {
    status = FindTarget(name, sets).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << name;
    EXPECT_EQ(status.message(), std::string("target \"") + name +
                                    "\" is not part of this build; available here: AVX2, SCALAR");
  }
  status = FindTarget("AVX4", sets).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "target \"AVX4\" is unknown; available here: AVX2, SCALAR");
}
#endif  // HWY_ARCH_X86

TEST_F(TargetsTest, NothingAvailableIsAnError) {
  const TargetSets sets{.generated = HWY_SCALAR, .supported = HWY_EMU128};
  EXPECT_EQ(FindTarget("", sets).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(FindTarget("SCALAR", sets).status().code(), StatusCode::kUnsupported);
}

TEST_F(TargetsTest, NameOfNoTarget) {
  EXPECT_EQ(TargetName(0), "Unknown");
  EXPECT_EQ(TargetName(-1), "Unknown");
}

TEST_F(TargetsTest, LeavesAnUnchosenTargetUnchosen) {
  hwy::GetChosenTarget().DeInit();
  (void)DetectTargets();
  (void)AvailableTargets();
  EXPECT_FALSE(hwy::GetChosenTarget().IsInitialized());
}

// A process that links Highway for something else may have switched targets off.
TEST_F(TargetsTest, HonoursAndKeepsDisabledTargets) {
  const std::vector<int64_t> all = hwy::SupportedAndGeneratedTargets();
  if (all.size() < 2) GTEST_SKIP() << "only one target here";
  hwy::DisableTargets(all[0]);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets() & ~all[0]);
  const size_t index = hwy::GetChosenTarget().GetIndex();

  EXPECT_EQ(DetectTargets().available() & all[0], 0);
  EXPECT_EQ(hwy::GetChosenTarget().GetIndex(), index);
}

TEST_F(TargetsTest, SomethingIsAvailableWithEveryTargetDisabled) {
  hwy::DisableTargets(HWY_TARGETS);
  EXPECT_EQ(DetectTargets().available(), HWY_STATIC_TARGET);
}

}  // namespace
}  // namespace lanewise::machine
