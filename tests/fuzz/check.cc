// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Runs a case and collects what gtest would have said about it.

#include "tests/fuzz/check.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/attention/overrides.h"
#include "tests/fuzz/fuzz_data.h"
#include "tests/fuzz/hidden_keys.h"
#include "tests/support/attention_case.h"

namespace lanewise::testing {
namespace {

StrideRule StridesOf(LayoutKind layout) {
  switch (layout) {
    case LayoutKind::kDense:
      return DenseStrides;
    case LayoutKind::kPadded:
      return PaddedStrides;
    case LayoutKind::kPacked:
      return PackedStrides;
    case LayoutKind::kSharedHeads:
      return SharedHeadStrides;
    case LayoutKind::kSharedBatch:
      return SharedBatchStrides;
    case LayoutKind::kSharedRows:
      return SharedRowStrides;
  }
  return DenseStrides;
}

AttentionCase Describe(const FuzzCase& c, const FuzzData& data) {
  AttentionCase description;
  description.shape = c.shape;
  description.options = FullOptions(c);
  description.q = data.q;
  description.k = data.k;
  description.v = data.v;
  description.mask_sizes = data.mask_sizes;
  description.mask = data.mask;
  description.bias_sizes = data.bias_sizes;
  description.bias = data.bias;
  description.alibi_slopes = data.slopes;
  description.sinks = data.sinks;
  description.kv_len = c.kv_len;
  description.q_offsets = data.q_offsets;
  description.k_offsets = data.k_offsets;
  description.q_strides = StridesOf(c.q_layout);
  description.kv_strides = StridesOf(c.kv_layout);
  description.pair_strides = StridesOf(c.pair_layout);
  description.out_strides = StridesOf(c.out_layout);
  description.placement.guard = c.guard_before ? GuardSide::kBefore : GuardSide::kAfter;
  return description;
}

// The parts of `values`, which has the same number for each row, that belong to the chosen rows.
// All NaN become one: where several meet, which of them comes out is left open.
std::vector<float> OfRows(const std::vector<float>& values, const std::vector<bool>& chosen) {
  std::vector<float> kept;
  const size_t width = chosen.empty() ? 0 : values.size() / chosen.size();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!chosen[i / width]) continue;
    kept.push_back(std::isnan(values[i]) ? std::numeric_limits<float>::quiet_NaN() : values[i]);
  }
  return kept;
}

// Whether two runs gave the same bits in the chosen rows.
::testing::AssertionResult SameRows(const AttentionRun& got, const AttentionRun& want,
                                    const std::vector<bool>& chosen) {
  const auto rows = [&](const AttentionRun& run) {
    return AttentionRun{OfRows(run.out, chosen), OfRows(run.lse, chosen),
                        OfRows(run.weights, chosen), run.plan};
  };
  return SameBits(rows(got), rows(want));
}

void CheckRefusal(const FuzzCase& c) {
  const Result<AttentionPlan> plan =
      attention::PlanAttentionWith(c.shape, FullOptions(c), c.path.runtime, c.path.overrides);
  EXPECT_FALSE(plan.ok()) << "options that exclude each other were accepted";
}

void CheckAgainstReference(const PreparedCase& prepared, const AttentionRun& run) {
  EXPECT_TRUE(prepared.Agrees(run, prepared.FromReference()));
}

// `data` is that of `clean`.
void CheckPoisoned(const FuzzCase& c, FuzzData data, const PreparedCase& clean,
                   const AttentionRun& clean_run) {
  const std::vector<SeeingRow> rows = ListSeeingRows(clean.inputs(), clean.description().options);
  Poison(c, clean.inputs(), rows, data);
  const PreparedCase poisoned(Describe(c, data));
  const AttentionRun run = poisoned.Run(c.path);
  CheckAgainstReference(poisoned, run);
  std::vector<bool> unaware = SeesDifference(clean.inputs(), poisoned.inputs(), rows);
  unaware.flip();
  EXPECT_TRUE(SameRows(run, clean_run, unaware)) << "with other values in hidden keys";
}

// What no result may depend on.
void CheckOtherPath(const FuzzCase& c, const PreparedCase& prepared, const AttentionRun& run) {
  Path other = c.path;
  other.overrides = {.tile = "", .kv_block = run.plan.kv_block};
  other.runtime.threads = 1;
  const AttentionRun other_run = prepared.Run(other);
  if (other_run.plan.variant != run.plan.variant) return;
  const Sizes& q = prepared.inputs().q.sizes;
  const std::vector<bool> all(static_cast<size_t>(q[0] * q[1] * q[2]), true);
  EXPECT_TRUE(SameRows(run, other_run, all)) << "as on another path: " << other_run.plan.ToString();
}

void Check(const FuzzCase& c) {
  if (IsRefused(c)) return CheckRefusal(c);
  FuzzData data = MakeData(c);
  const PreparedCase clean(Describe(c, data));
  const AttentionRun run = clean.Run(c.path);
  // Without a plan there is no result to look at.
  if (run.plan.variant.empty()) return;
  CheckOtherPath(c, clean, run);
  if (c.poison == PoisonKind::kNone) {
    CheckAgainstReference(clean, run);
  } else {
    CheckPoisoned(c, std::move(data), clean, run);
  }
}

}  // namespace

std::string Fault(const FuzzCase& c) {
  using Reporter = ::testing::ScopedFakeTestPartResultReporter;
  ::testing::TestPartResultArray results;
  {
    const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    Check(c);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) text += results.GetTestPartResult(i).message();
  }
  return text;
}

}  // namespace lanewise::testing
