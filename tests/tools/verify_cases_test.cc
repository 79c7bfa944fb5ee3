// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise verify` has to notice what is wrong.

#include "tools/verify_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace lanewise::tools {
namespace {

// The outcome of `run_case` computed with `options` in place of its own.
std::string WrongWith(const VerifyCase& run_case, const AttentionOptions& options) {
  PreparedVerifyCase prepared(run_case);
  const Result<AttentionPlan> plan = PlanAttention(run_case.shape, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  double ratio = 0;
  const std::string wrong = prepared.Run(*plan, &ratio);
  EXPECT_EQ(wrong.empty(), ratio <= 1) << run_case.name << ": " << wrong;
  return wrong;
}

VerifyCase CaseNamed(const std::string& name) {
  for (const VerifyCase& known : VerifyCases()) {
    if (known.name == name) return known;
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

TEST(VerifyCasesTest, HaveDistinctNames) {
  std::set<std::string> names;
  for (const VerifyCase& known : VerifyCases())
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
  EXPECT_GT(names.size(), 80U);
}

TEST(VerifyCasesTest, NoticeAScaleThatIsAPercentOff) {
  for (const char* name : {"17 queries", "65 keys", "dim 64", "many keys", "negative scale",
                           "scores in the hundreds", "8 heads over 2, heads inside rows"}) {
    const VerifyCase known = CaseNamed(name);
    EXPECT_EQ(WrongWith(known, known.options), "") << name;
    AttentionOptions options = known.options;
    options.scale =
        1.01f * options.scale.value_or(1 / std::sqrt(static_cast<float>(known.shape.dim)));
    EXPECT_NE(WrongWith(known, options), "") << name;
  }
}

TEST(VerifyCasesTest, NoticeACausalLimitThatIsOneOff) {
  for (const VerifyCase& known : VerifyCases()) {
    if (!known.options.causal || known.name == "causal, no row sees a key") continue;
    const AttentionShape& shape = known.shape;
    AttentionOptions options = known.options;
    options.top_left = false;
    options.query_offset = known.options.query_offset.value_or(
        known.options.top_left ? 0 : shape.keys - shape.queries);
    EXPECT_EQ(WrongWith(known, options), "") << known.name;
    *options.query_offset += 1;
    EXPECT_NE(WrongWith(known, options), "") << known.name;
    *options.query_offset -= 2;
    EXPECT_NE(WrongWith(known, options), "") << known.name;
    options.causal = false;
    EXPECT_NE(WrongWith(known, options), "") << known.name;
  }
}

}  // namespace
}  // namespace lanewise::tools
