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
#include "tests/fuzz/kv_slots.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/slices.h"

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
  // The keys of the description lie in a row; KvSlots has the others.
  description.options.kv_first = false;
  description.options.paged = false;
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
  description.w = data.w;
  description.wq = data.wq;
  description.wk = data.wk;
  description.w_out = data.w_out;
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

// Every row, and what `run` computed of it, against a run of the same plan's numeric parameters.
void CheckSameBits(const PreparedCase& prepared, const AttentionRun& run, const AttentionRun& other,
                   const char* what) {
  const Sizes& q = prepared.inputs().q.sizes;
  const std::vector<bool> all(static_cast<size_t>(q[0] * q[1] * q[2]), true);
  EXPECT_TRUE(SameRows(other, run, all)) << what << ": " << other.plan.ToString();
}

void CheckSlots(const FuzzCase& c, const PreparedCase& prepared, const AttentionRun& run) {
  if (!HasKvSlots(c)) return;
  const AttentionRun in_slots = KvSlots(c, prepared).Run(c.path);
  CheckSameBits(prepared, run, in_slots, "in a ring or in pages");
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
  CheckSlots(c, poisoned, run);
}

// What no result may depend on. A tile or q_groups by hand ask for `lanes`; `lanes` and `few`
// differ.
void CheckOtherPath(const FuzzCase& c, const PreparedCase& prepared, const AttentionRun& run) {
  Path other;
  other.runtime.target = c.path.runtime.target;
  const attention::PlanOverrides& overrides = c.path.overrides;
  const bool wants_lanes = !overrides.tile.empty() || overrides.q_groups != 0;
  other.overrides.variant = wants_lanes ? "lanes" : overrides.variant;
  other.overrides.kv_block = c.path.overrides.kv_block;
  const AttentionRun other_run = prepared.Run(other);
  EXPECT_EQ(other_run.plan.variant, run.plan.variant);
  CheckSameBits(prepared, run, other_run, "on another path");
}

bool IsShared(LayoutKind layout) { return layout > LayoutKind::kPacked; }

// Some queries of one head, in every fourth case: the same bits without their neighbours. Not where
// elements share memory, which keeps the last of their values, another one in a part of the case;
// nor with far offsets, which leave the 64-bit range on the way to a later query.
void CheckAlone(const FuzzCase& c, const PreparedCase& whole, const AttentionRun& run) {
  const uint32_t bits = GenBits(c.seed, 1);
  constexpr int64_t kFar = int64_t{1} << 60;
  const int64_t offset = c.options.query_offset.value_or(0);
  if (bits % 4 != 0 || !c.sequences.empty() || offset > kFar || offset < -kFar) return;
  if (IsShared(c.q_layout) || IsShared(c.kv_layout) || IsShared(c.pair_layout)) return;
  if (c.shape.batch == 0 || c.shape.queries == 0) return;
  const int64_t item = (bits >> 2) % c.shape.batch;
  const int64_t head = (bits >> 4) % c.shape.heads;
  const int64_t begin = (bits >> 9) % c.shape.queries;
  const int64_t end = begin + 1 + (bits >> 17) % (c.shape.queries - begin);
  const CasePart part = {{item, item + 1}, {head, head + 1}, {begin, end}};
  const PreparedCase alone(PartOf(whole.description(), part));
  Path path = c.path;
  path.overrides.variant = run.plan.variant;
  path.overrides.kv_block = run.plan.kv_block;
  CheckSameBits(alone, PartOf(run, whole.description(), part), alone.Run(path), "alone");
}

void Check(const FuzzCase& c) {
  if (IsRefused(c)) return CheckRefusal(c);
  FuzzData data = MakeData(c);
  const PreparedCase clean(Describe(c, data));
  const AttentionRun run = clean.Run(c.path);
  // Without a plan there is no result to look at.
  if (run.plan.variant.empty()) return;
  CheckOtherPath(c, clean, run);
  CheckAlone(c, clean, run);
  if (c.poison == PoisonKind::kNone) {
    CheckAgainstReference(clean, run);
    CheckSlots(c, clean, run);
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
