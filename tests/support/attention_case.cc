// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Preparing, running and comparing cases.

#include "tests/support/attention_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

// What known results are quoted with: 8 digits.
constexpr double kQuotedDigits = 1e-7;

std::string SizesText(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

std::string FloatText(float value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", static_cast<double>(value),
                std::bit_cast<uint32_t>(value));
  return text;
}

Array MakeArray(const Sizes& sizes, StrideRule strides, const Array::Placement& placement,
                const std::vector<float>& values, uint32_t seed) {
  Array array(sizes, strides, placement);
  array.Set(values.empty() ? Gen(seed, Count(sizes)) : values);
  return array;
}

// A view of dense values.
ConstTensor DenseView(const std::vector<float>& values, const Sizes& sizes) {
  return {values.data(), sizes};
}

void CheckWritten(const char* name, const Array& array, const std::string& where) {
  const std::vector<float> values = array.Values();
  const auto unwritten = std::find_if(values.begin(), values.end(), IsUnwritten);
  if (unwritten != values.end()) {
    ADD_FAILURE() << name << " element " << unwritten - values.begin() << " of " << values.size()
                  << " was not written\n"
                  << where;
  }
  EXPECT_TRUE(array.IsPaddingIntact()) << name << ": padding was overwritten\n" << where;
}

void Explain(const char* name, const reference::Comparison& comparison,
             ::testing::AssertionResult& result) {
  if (comparison.ok()) return;
  result << name << ": " << comparison.failures << " of " << comparison.count
         << " elements are wrong; the worst: " << reference::Describe(comparison.worst) << "\n";
}

Expectation KnownExpectation(const KnownResult& known) {
  Expectation expected;
  expected.value = {known.out, known.lse};
  expected.tolerance.out.assign(known.out.size(), known.out_tolerance);
  expected.tolerance.lse.assign(known.lse.size(), known.lse_tolerance);
  return expected;
}

// The reference reproduces quoted numbers.
void CheckReference(const char* name, const std::vector<double>& got,
                    const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size()) << name;
  double largest = 1.0;
  for (const double value : want) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i])) {
      EXPECT_NEAR(got[i], want[i], kQuotedDigits * largest) << "reference " << name << " " << i;
    } else {
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
          << "reference " << name << " " << i << " is " << got[i] << ", expected " << want[i];
    }
  }
}

}  // namespace

std::string AttentionCase::ToString() const {
  std::string text = "q " + SizesText(q_sizes()) + " strides " + SizesText(q_strides(q_sizes())) +
                     ", k " + SizesText(k_sizes()) + " strides " +
                     SizesText(kv_strides(k_sizes())) + ", v " + SizesText(v_sizes());
  if (options.scale) text += ", scale " + std::to_string(*options.scale);
  if (options.causal) text += ", causal";
  if (options.top_left) text += ", top_left";
  if (options.query_offset) text += ", query_offset " + std::to_string(*options.query_offset);
  return text;
}

AttentionCase PlainCase(int64_t queries, int64_t keys) {
  AttentionCase c;
  c.shape.queries = queries;
  c.shape.keys = keys;
  c.shape.dim = 1;
  c.shape.value_dim = 1;
  c.options.scale = 1.0F;
  return c;
}

std::vector<float> Repeat(float value, int64_t count) {
  return std::vector<float>(static_cast<size_t>(count), value);
}

std::vector<float> Ramp(float first, float step, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

Result<PlanExplanation> RunOnPath(const AttentionShape& shape, const AttentionOptions& options,
                                  const Path& path, const AttentionTensors& tensors) {
  const Result<AttentionPlan> plan =
      attention::PlanAttentionWith(shape, options, path.runtime, path.overrides);
  if (!plan.ok()) return plan.status();
  Workspace workspace(plan->workspace_bytes());
  if (Status status = plan->Run(tensors, workspace); !status.ok()) return status;
  return plan->Explain();
}

PreparedCase::PreparedCase(AttentionCase description)
    : case_(std::move(description)),
      q_(MakeArray(case_.q_sizes(), case_.q_strides, case_.placement, case_.q, 1)),
      k_(MakeArray(case_.k_sizes(), case_.kv_strides, case_.placement, case_.k, 2)),
      v_(MakeArray(case_.v_sizes(), case_.kv_strides, case_.placement, case_.v, 3)) {
  inputs_.q = std::as_const(q_).view();
  inputs_.k = std::as_const(k_).view();
  inputs_.v = std::as_const(v_).view();
}

AttentionRun PreparedCase::Run(const Path& path) const {
  AttentionOptions options = case_.options;
  options.lse = options.lse || path.lse;
  Array out(case_.out_sizes(), case_.out_strides, case_.placement);
  Array lse(case_.lse_sizes(), case_.out_strides, case_.placement);
  AttentionTensors tensors = inputs_;
  tensors.out = out.view();
  if (options.lse) tensors.lse = lse.view();

  const std::string where = path.ToString() + "; " + case_.ToString();
  AttentionRun run;
  const Result<PlanExplanation> plan = RunOnPath(case_.shape, options, path, tensors);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.status().message() << "\n" << where;
  } else {
    run.plan = *plan;
    CheckWritten("out", out, where);
    if (options.lse) CheckWritten("lse", lse, where);
  }
  run.out = out.Values();
  if (options.lse) run.lse = lse.Values();
  return run;
}

Expectation PreparedCase::FromReference() const {
  Expectation expected;
  expected.value = reference::Attention(inputs_, case_.options);
  expected.tolerance = reference::Tolerance(inputs_, case_.options, expected.value);
  return expected;
}

::testing::AssertionResult PreparedCase::Agrees(const AttentionRun& run,
                                                const Expectation& expected) const {
  if (run.out.size() != expected.value.out.size()) {
    return ::testing::AssertionFailure() << "out has " << run.out.size() << " elements, expected "
                                         << expected.value.out.size() << "; " << case_.ToString();
  }
  const reference::Comparison out = reference::Compare(DenseView(run.out, case_.out_sizes()),
                                                       expected.value.out, expected.tolerance.out);
  reference::Comparison lse;
  if (!run.lse.empty() && !expected.value.lse.empty()) {
    lse = reference::Compare(DenseView(run.lse, case_.lse_sizes()), expected.value.lse,
                             expected.tolerance.lse);
  }
  if (out.ok() && lse.ok()) return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  Explain("out [batch, head, query, column]", out, result);
  Explain("lse [batch, head, query, 0]", lse, result);
  return result << run.plan.ToString() << "\n" << case_.ToString();
}

void ExpectMatchesReference(const AttentionCase& description, const std::vector<Path>& paths) {
  const PreparedCase prepared(description);
  const Expectation expected = prepared.FromReference();
  for (const Path& path : paths) {
    EXPECT_TRUE(prepared.Agrees(prepared.Run(path), expected)) << path.ToString();
  }
}

void ExpectKnownResult(const AttentionCase& description, const KnownResult& known,
                       const std::vector<Path>& paths) {
  const PreparedCase prepared(description);
  const reference::AttentionResult by_definition =
      reference::Attention(prepared.inputs(), description.options);
  CheckReference("out", by_definition.out, known.out);
  if (!known.lse.empty()) CheckReference("lse", by_definition.lse, known.lse);

  const Expectation expected = KnownExpectation(known);
  for (const Path& path : paths) {
    EXPECT_TRUE(prepared.Agrees(prepared.Run(path), expected)) << path.ToString();
  }
}

::testing::AssertionResult SameBits(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size()) {
    return ::testing::AssertionFailure() << got.size() << " elements, expected " << want.size();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(want[i])) {
      return ::testing::AssertionFailure() << "element " << i << " is " << FloatText(got[i])
                                           << ", expected " << FloatText(want[i]);
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult SameBits(const AttentionRun& got, const AttentionRun& want) {
  const ::testing::AssertionResult out = SameBits(got.out, want.out);
  if (!out)
    return ::testing::AssertionFailure() << "out " << out.message() << "\n" << got.plan.ToString();
  if (got.lse.empty() || want.lse.empty()) return ::testing::AssertionSuccess();
  const ::testing::AssertionResult lse = SameBits(got.lse, want.lse);
  if (!lse)
    return ::testing::AssertionFailure() << "lse " << lse.message() << "\n" << got.plan.ToString();
  return ::testing::AssertionSuccess();
}

}  // namespace lanewise::testing
