// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise verify` has to notice what is wrong.

#include "tools/verify_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "tools/prepared_verify_case.h"

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
  EXPECT_GT(names.size(), 200U);
}

TEST(VerifyCasesTest, NoticeAScaleThatIsAPercentOff) {
  for (const char* name :
       {"17 queries", "65 keys", "dim 64", "many keys", "negative scale", "scores in the hundreds",
        "8 heads over 2, heads inside rows", "f16, dim 33", "bf16, decode, 257 keys",
        "f16 keys and values, decode, scores in the hundreds"}) {
    const VerifyCase known = CaseNamed(name);
    EXPECT_EQ(WrongWith(known, known.options), "") << name;
    AttentionOptions options = known.options;
    options.scale =
        1.01f * options.scale.value_or(1 / std::sqrt(static_cast<float>(known.shape.dim)));
    EXPECT_NE(WrongWith(known, options), "") << name;
  }
}

TEST(VerifyCasesTest, NoticeACausalLimitThatIsOneOff) {
  int checked = 0;
  for (const VerifyCase& known : VerifyCases()) {
    // Options that hide keys may hide the difference, too.
    const bool plain = !known.options.mask && !known.options.bias && !known.options.kv_len &&
                       !known.options.ragged && known.options.window.left == kUnlimited &&
                       known.options.window.right == kUnlimited;
    if (!known.options.causal || !plain || known.name == "causal, no row sees a key") continue;
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
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(VerifyCasesTest, NoticeAWindowThatIsOneOff) {
  for (const char* name :
       {"window 0, 0, 33 queries, 33 keys", "window 3, 3, 16 queries, 100 keys",
        "window 40, 7, 65 queries, 300 keys", "window 6, 2, top left, 70 queries, 16 keys"}) {
    const VerifyCase known = CaseNamed(name);
    for (const int64_t change : {-1, 1}) {
      AttentionOptions options = known.options;
      options.window.left = std::max<int64_t>(options.window.left + change, 0);
      if (options.window.left != known.options.window.left) {
        EXPECT_NE(WrongWith(known, options), "") << name;
      }
      options = known.options;
      options.window.right = std::max<int64_t>(options.window.right + change, 0);
      if (options.window.right != known.options.window.right) {
        EXPECT_NE(WrongWith(known, options), "") << name;
      }
    }
  }
}

TEST(VerifyCasesTest, NoticeASoftcapThatIsAPercentOff) {
  for (const char* name :
       {"softcap 1", "softcap 30, large scores", "softcap 2, sinks, large scores"}) {
    const VerifyCase known = CaseNamed(name);
    AttentionOptions options = known.options;
    options.softcap = 1.01f * *options.softcap;
    EXPECT_NE(WrongWith(known, options), "") << name;
    options.softcap.reset();
    EXPECT_NE(WrongWith(known, options), "") << name;
  }
}

// Computes `name` with `change` made to it, and judges the result as if nothing were changed.
template <typename Change>
std::string WrongAfter(const std::string& name, const Change& change) {
  const VerifyCase known = CaseNamed(name);
  VerifyCase changed = known;
  change(changed);
  PreparedVerifyCase computed(changed);
  const Result<AttentionPlan> plan = PlanAttention(changed.shape, changed.options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  double ratio = 0;
  EXPECT_EQ(computed.Run(*plan, &ratio), "") << name;
  return PreparedVerifyCase(known).Judge(computed, &ratio);
}

// Keys, values or queries that were not rounded, or not to the type that they have.
TEST(VerifyCasesTest, NoticeATypeThatIsIgnored) {
  using Change = void (*)(VerifyCase&);
  const std::pair<const char*, Change> changes[] = {
      {"f16 keys and values, dim 33", [](VerifyCase& c) { c.shape.k_type = DataType::kF32; }},
      {"f16 keys and values, dim 33", [](VerifyCase& c) { c.shape.v_type = DataType::kF32; }},
      {"bf16 keys and values, decode, kv_block 32",
       [](VerifyCase& c) { c.shape.k_type = c.shape.v_type = DataType::kF16; }},
      {"f16 queries, decode, scores in the hundreds",
       [](VerifyCase& c) { c.shape.q_type = DataType::kF32; }}};
  for (const auto& [name, change] : changes) {
    EXPECT_EQ(WrongAfter(name, [](VerifyCase&) {}), "") << name;
    EXPECT_NE(WrongAfter(name, change), "") << name;
  }
}

TEST(VerifyCasesTest, NoticeAnOptionThatIsIgnored) {
  for (const char* name :
       {"mask for each pair", "mask that heads share", "mask for each key, weights",
        "mask for each row", "mask for each pair, in blocks"}) {
    EXPECT_EQ(WrongAfter(name, [](VerifyCase&) {}), "") << name;
    EXPECT_NE(WrongAfter(name, [](VerifyCase& c) { c.options.mask = false; }), "") << name;
  }
  for (const char* name :
       {"bias for each pair", "bias that heads share", "bias for each key, weights",
        "bias for each row, finite", "bias, in blocks"}) {
    EXPECT_EQ(WrongAfter(name, [](VerifyCase&) {}), "") << name;
    EXPECT_NE(WrongAfter(name, [](VerifyCase& c) { c.options.bias = false; }), "") << name;
  }
  for (const char* name : {"ALiBi, 30 queries, 70 keys", "ALiBi, offset 1000"}) {
    EXPECT_EQ(WrongAfter(name, [](VerifyCase&) {}), "") << name;
    EXPECT_NE(WrongAfter(name, [](VerifyCase& c) { c.options.alibi_slopes = false; }), "") << name;
  }
  for (const char* name : {"sinks, 30 queries, 70 keys", "softcap 2, sinks, large scores"}) {
    EXPECT_EQ(WrongAfter(name, [](VerifyCase&) {}), "") << name;
    EXPECT_NE(WrongAfter(name, [](VerifyCase& c) { c.options.sinks = false; }), "") << name;
  }
  EXPECT_NE(WrongAfter("kv_len, causal", [](VerifyCase& c) { c.kv_len[4] += 1; }), "");
  EXPECT_NE(WrongAfter("ragged", [](VerifyCase& c) { c.q_offsets[3] += 1; }), "");
  EXPECT_NE(WrongAfter("ragged, causal", [](VerifyCase& c) { c.k_offsets[2] += 1; }), "");
}

}  // namespace
}  // namespace lanewise::tools
