// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Preparing, running and comparing cases.

#include "tests/support/attention_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

// What known results are quoted with: 8 digits.
constexpr double kQuotedDigits = 1e-7;

std::string FloatText(float value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", static_cast<double>(value),
                std::bit_cast<uint32_t>(value));
  return text;
}

Array MakeArray(DataType type, const Sizes& sizes, StrideRule strides, const Placement& placement,
                const std::vector<float>& values, uint32_t seed) {
  Array array(sizes, strides, placement, type);
  array.Set(values.empty() ? Gen(seed, Count(sizes)) : values);
  return array;
}

// A mask or bias; without elements if the case has none.
template <typename T>
BasicArray<T> MakePairArray(bool wanted, const Sizes& sizes, const AttentionCase& c,
                            const std::vector<T>& values) {
  BasicArray<T> array(wanted ? sizes : Sizes{}, c.pair_strides, c.placement);
  if (wanted) array.Set(values);
  return array;
}

// A matrix of parameters; without elements if the case has none.
Array MakeWeights(bool wanted, const Sizes& sizes, const AttentionCase& c,
                  const std::vector<float>& values, uint32_t seed) {
  return MakeArray(DataType::kF32, wanted ? sizes : Sizes{}, c.weight_strides, c.placement,
                   wanted ? values : std::vector<float>(), seed);
}

bool IsAdditive(const AttentionCase& c) { return c.options.score == AttentionScore::kAdditive; }

std::vector<float> OutWeights(const AttentionCase& c) {
  if (!IsAdditive(c)) return {};
  return c.w_out.empty() ? Gen(7, c.hidden()) : c.w_out;
}

template <typename T>
GuardedArray<T> MakeGuarded(const std::vector<T>& values, GuardSide side) {
  GuardedArray<T> array(values.size(), side);
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

template <typename T>
ArrayView<T> ViewOf(const GuardedArray<T>& array) {
  return {array.data(), static_cast<int64_t>(array.size())};
}

// 0, counts[0], counts[0] + counts[1], ...
std::vector<int64_t> OffsetsOf(const std::vector<int64_t>& counts) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t count : counts) offsets.push_back(offsets.back() + count);
  return offsets;
}

void CheckWritten(const char* name, const Array& array) {
  const std::vector<float> values = array.Values();
  const auto unwritten =
      std::find_if(values.begin(), values.end(), [](float value) { return IsUnwritten(value); });
  if (unwritten != values.end()) {
    ADD_FAILURE() << name << " element " << unwritten - values.begin() << " of " << values.size()
                  << " was not written";
  }
  EXPECT_TRUE(array.IsPaddingIntact()) << name << ": padding was overwritten";
}

// What both have; an empty array was not asked for or is not to be compared. `got` are elements of
// `type`, widened.
reference::Comparison CompareWhere(const std::vector<float>& got, DataType type, const Sizes& sizes,
                                   const std::vector<double>& want,
                                   const std::vector<double>& tolerance) {
  if (got.empty() || want.empty()) return {};
  Array array(sizes, DenseStrides, {}, type);
  array.Set(got);
  return reference::Compare(array.view(), want, tolerance);
}

void Explain(const char* name, const reference::Comparison& comparison,
             ::testing::AssertionResult& result) {
  if (comparison.ok()) return;
  result << name << ": " << comparison.failures << " of " << comparison.count
         << " elements are wrong; the worst: " << reference::Describe(comparison.worst) << "\n";
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

void AttentionCase::SetMask(const Sizes& sizes, std::vector<uint8_t> values) {
  options.mask = true;
  mask_sizes = sizes;
  mask = std::move(values);
}

void AttentionCase::SetBias(const Sizes& sizes, std::vector<float> values) {
  options.bias = true;
  bias_sizes = sizes;
  bias = std::move(values);
}

void AttentionCase::SetAlibiSlopes(std::vector<float> values) {
  options.alibi_slopes = true;
  alibi_slopes = std::move(values);
}

void AttentionCase::SetSinks(std::vector<float> values) {
  options.sinks = true;
  sinks = std::move(values);
}

void AttentionCase::SetKvLen(std::vector<int64_t> values) {
  options.kv_len = true;
  kv_len = std::move(values);
}

void AttentionCase::SetGaussian(float bandwidth) {
  options.score = AttentionScore::kGaussian;
  options.scale.reset();
  options.bandwidth = bandwidth;
}

void AttentionCase::SetBilinear(int64_t key_dim) {
  options.score = AttentionScore::kBilinear;
  shape.key_dim = key_dim;
}

void AttentionCase::SetAdditive(int64_t hidden, bool projects_q, bool projects_k) {
  options.score = AttentionScore::kAdditive;
  options.wq = projects_q;
  options.wk = projects_k;
  shape.hidden = hidden;
  if (!projects_q) shape.dim = hidden;
  if (!projects_k) shape.key_dim = hidden;
}

void AttentionCase::SetTypes(DataType type) {
  shape.q_type = shape.k_type = shape.v_type = shape.out_type = type;
}

void AttentionCase::SetSequences(const std::vector<int64_t>& query_counts,
                                 const std::vector<int64_t>& key_counts) {
  options.ragged = true;
  q_offsets = OffsetsOf(query_counts);
  k_offsets = OffsetsOf(key_counts);
  shape.batch = static_cast<int64_t>(query_counts.size());
  shape.queries = q_offsets.back();
  shape.keys = k_offsets.back();
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

PreparedCase::PreparedCase(AttentionCase description)
    : case_(std::move(description)),
      q_(MakeArray(case_.shape.q_type, case_.q_sizes(), case_.q_strides, case_.placement, case_.q,
                   1)),
      k_(MakeArray(case_.shape.k_type, case_.k_sizes(), case_.kv_strides, case_.placement, case_.k,
                   2)),
      v_(MakeArray(case_.shape.v_type, case_.v_sizes(), case_.kv_strides, case_.placement, case_.v,
                   3)),
      mask_(MakePairArray(case_.options.mask, case_.mask_sizes, case_, case_.mask)),
      bias_(MakePairArray(case_.options.bias, case_.bias_sizes, case_, case_.bias)),
      alibi_slopes_(MakeGuarded(case_.alibi_slopes, case_.placement.guard)),
      sinks_(MakeGuarded(case_.sinks, case_.placement.guard)),
      kv_len_(MakeGuarded(case_.kv_len, case_.placement.guard)),
      q_offsets_(MakeGuarded(case_.q_offsets, case_.placement.guard)),
      k_offsets_(MakeGuarded(case_.k_offsets, case_.placement.guard)),
      w_(MakeWeights(case_.options.score == AttentionScore::kBilinear, case_.w_sizes(), case_,
                     case_.w, 4)),
      wq_(MakeWeights(case_.options.wq, case_.wq_sizes(), case_, case_.wq, 5)),
      wk_(MakeWeights(case_.options.wk, case_.wk_sizes(), case_, case_.wk, 6)),
      w_out_(MakeGuarded(OutWeights(case_), case_.placement.guard)) {
  const AttentionOptions& options = case_.options;
  inputs_.q = std::as_const(q_).view();
  inputs_.k = std::as_const(k_).view();
  inputs_.v = std::as_const(v_).view();
  inputs_.out.type = case_.shape.out_type;
  if (options.mask) inputs_.mask = std::as_const(mask_).view();
  if (options.bias) inputs_.bias = std::as_const(bias_).view();
  if (options.alibi_slopes) inputs_.alibi_slopes = ViewOf(alibi_slopes_);
  if (options.sinks) inputs_.sinks = ViewOf(sinks_);
  if (options.kv_len) inputs_.kv_len = ViewOf(kv_len_);
  if (options.ragged) inputs_.q_offsets = ViewOf(q_offsets_);
  if (options.ragged) inputs_.k_offsets = ViewOf(k_offsets_);
  if (options.score == AttentionScore::kBilinear) inputs_.w = std::as_const(w_).view();
  if (options.wq) inputs_.wq = std::as_const(wq_).view();
  if (options.wk) inputs_.wk = std::as_const(wk_).view();
  if (IsAdditive(case_)) inputs_.w_out = ViewOf(w_out_);
}

AttentionRun PreparedCase::Run(const Path& path) const {
  AttentionOptions options = case_.options;
  options.lse = options.lse || path.lse;
  options.weights = options.weights || (path.weights && !options.ragged);
  Array out(case_.out_sizes(), case_.out_strides, case_.placement, case_.shape.out_type);
  Array lse(options.lse ? case_.lse_sizes() : Sizes{}, case_.out_strides, case_.placement);
  Array weights(options.weights ? case_.pair_sizes() : Sizes{}, case_.out_strides, case_.placement);
  AttentionTensors tensors = inputs_;
  tensors.out = out.view();
  if (options.lse) tensors.lse = lse.view();
  if (options.weights) tensors.weights = weights.view();

  SCOPED_TRACE(path.ToString() + "; " + case_.ToString());
  AttentionRun run;
  const Result<PlanExplanation> plan = RunOnPath(case_.shape, options, path, tensors);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.status().message();
  } else {
    run.plan = *plan;
    CheckWritten("out", out);
    CheckWritten("lse", lse);
    CheckWritten("weights", weights);
  }
  run.out = out.Values();
  run.lse = lse.Values();
  run.weights = weights.Values();
  return run;
}

Expectation PreparedCase::FromReference() const {
  AttentionOptions options = case_.options;
  options.weights = !options.ragged;
  Expectation expected;
  expected.value = reference::Attention(inputs_, options);
  expected.tolerance = reference::Tolerance(inputs_, options, expected.value);
  return expected;
}

::testing::AssertionResult PreparedCase::Agrees(const AttentionRun& run,
                                                const Expectation& expected) const {
  if (run.out.size() != expected.value.out.size()) {
    return ::testing::AssertionFailure() << "out has " << run.out.size() << " elements, expected "
                                         << expected.value.out.size() << "; " << case_.ToString();
  }
  const reference::Comparison out = CompareWhere(run.out, case_.shape.out_type, case_.out_sizes(),
                                                 expected.value.out, expected.tolerance.out);
  const reference::Comparison lse = CompareWhere(run.lse, DataType::kF32, case_.lse_sizes(),
                                                 expected.value.lse, expected.tolerance.lse);
  const reference::Comparison weights =
      CompareWhere(run.weights, DataType::kF32, case_.pair_sizes(), expected.value.weights,
                   expected.tolerance.weights);
  if (out.ok() && lse.ok() && weights.ok()) return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  Explain("out [batch, head, query, column]", out, result);
  Explain("lse [batch, head, query, 0]", lse, result);
  Explain("weights [batch, head, query, key]", weights, result);
  return result << run.plan.ToString() << "\n" << case_.ToString();
}

std::vector<Path> PathsFor(const AttentionCase& description, const std::vector<Path>& paths) {
  std::vector<Path> able = paths;
  if (description.options.score != AttentionScore::kDot) {
    std::erase_if(able, [](const Path& path) { return path.overrides.variant == "few"; });
  }
  return able;
}

void ExpectMatchesReference(const AttentionCase& description, const std::vector<Path>& paths) {
  const PreparedCase prepared(description);
  const Expectation expected = prepared.FromReference();
  for (const Path& path : PathsFor(description, paths)) {
    EXPECT_TRUE(prepared.Agrees(prepared.Run(path), expected)) << path.ToString();
  }
}

void ExpectKnownResult(const AttentionCase& description, const KnownResult& known,
                       const std::vector<Path>& paths) {
  const PreparedCase prepared(description);
  Expectation expected = prepared.FromReference();
  CheckReference("out", expected.value.out, known.out);
  if (!known.lse.empty()) CheckReference("lse", expected.value.lse, known.lse);
  expected.value.out = known.out;
  expected.value.lse = known.lse;
  expected.tolerance.out.assign(known.out.size(), known.out_tolerance);
  expected.tolerance.lse.assign(known.lse.size(), known.lse_tolerance);
  for (const Path& path : PathsFor(description, paths)) {
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
  const struct {
    const char* name;
    const std::vector<float>& got;
    const std::vector<float>& want;
    bool optional;
  } arrays[] = {{"out ", got.out, want.out, false},
                {"lse ", got.lse, want.lse, true},
                {"weights ", got.weights, want.weights, true}};
  for (const auto& array : arrays) {
    if (array.optional && (array.got.empty() || array.want.empty())) continue;
    const ::testing::AssertionResult same = SameBits(array.got, array.want);
    if (!same) {
      return ::testing::AssertionFailure() << array.name << same.message() << "\n"
                                           << got.plan.ToString();
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace lanewise::testing
