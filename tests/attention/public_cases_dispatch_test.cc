// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure report C119 (group Q): which instructions run. That every target computes right
// results is checked by nearly all other tests here, which go through EveryPath() or EveryTile().

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "tests/support/attention_case.h"
#include "tests/support/mentions.h"
#include "tests/support/process.h"

namespace lanewise::testing {
namespace {

AttentionCase AnyCase() {
  AttentionCase c;
  c.shape = {.heads = 2, .kv_heads = 2, .queries = 37, .keys = 53, .dim = 19, .value_dim = 23};
  return c;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(PublicCases, C119_EveryTargetRunsAndSaysSo) {
  const PreparedCase prepared(AnyCase());
  const Expectation expected = prepared.FromReference();
  for (Path path : EveryTarget()) {
    const std::string target = path.runtime.target;
    const AttentionRun run = prepared.Run(path);
    EXPECT_EQ(run.plan.target, target);
    EXPECT_TRUE(prepared.Agrees(run, expected));

    path.runtime.target = Lower(target);
    const AttentionRun lower = prepared.Run(path);
    EXPECT_EQ(lower.plan.target, target);
    EXPECT_TRUE(SameBits(lower, run));
  }
}

TEST(PublicCases, C119_EmptyNameIsTheBestTarget) {
  const Result<AttentionPlan> plan = PlanAttention(AnyCase().shape, {}, Runtime{});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->Explain().target, AvailableTargets().front());
}

TEST(PublicCases, C119_UnknownTargetIsAnError) {
  Runtime runtime;
  for (const char* name : {"AVX9", "sse", " AVX2", "AVX2\n"}) {
    runtime.target = name;
    const Status status = PlanAttention(AnyCase().shape, {}, runtime).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_TRUE(ContainsWord(status.message(), "target")) << status.message();
    for (const std::string& available : AvailableTargets()) {
      EXPECT_TRUE(ContainsWord(status.message(), available)) << status.message();
    }
  }
}

TEST(PublicCases, C119_ForeignTargetIsUnsupported) {
  Runtime runtime;
  // No machine is all of these.
  for (const char* name : {"AVX3", "NEON", "PPC9", "WASM"}) {
    const std::vector<std::string> available = AvailableTargets();
    if (std::find(available.begin(), available.end(), name) != available.end()) continue;
    runtime.target = name;
    const Status status = PlanAttention(AnyCase().shape, {}, runtime).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << name;
    EXPECT_TRUE(ContainsWord(status.message(), name)) << status.message();
    EXPECT_TRUE(ContainsWord(status.message(), available.front())) << status.message();
  }
}

TEST(PublicCases, C119_TargetFromTheEnvironment) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (InFreshProcess()) {
    const Result<AttentionPlan> plan = PlanAttention(AnyCase().shape);
    return ReportToParent(plan.ok() ? plan->Explain().target : plan.status().message());
  }
  for (const std::string& target : AvailableTargets()) {
    EXPECT_EQ(RunTestInFreshProcess({.environment = {{"LANEWISE_TARGET", Lower(target)}}}), target);
  }
}

}  // namespace
}  // namespace lanewise::testing
