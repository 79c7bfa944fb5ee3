// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One attention problem as a value: described by sizes, options, layout and data, prepared once,
// then computed on any path and compared.

#ifndef LANEWISE_TESTS_SUPPORT_ATTENTION_CASE_H_
#define LANEWISE_TESTS_SUPPORT_ATTENTION_CASE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/attention.h"
#include "src/reference/tolerance.h"
#include "tests/support/array.h"
#include "tests/support/paths.h"
#include "tests/support/run_on_path.h"

namespace lanewise::testing {

struct AttentionCase {
  AttentionShape shape = {};
  AttentionOptions options = {};

  // Row-major logical values; empty: Gen(1), Gen(2), Gen(3). Arrays hold them rounded to the types
  // of the shape, and that is what a result is judged by.
  std::vector<float> q = {};
  std::vector<float> k = {};
  std::vector<float> v = {};

  // Inputs of the options of the same names. Set... turns the option on as well.
  Sizes mask_sizes = {};
  std::vector<uint8_t> mask = {};
  Sizes bias_sizes = {};
  std::vector<float> bias = {};
  std::vector<float> alibi_slopes = {};
  std::vector<float> sinks = {};
  std::vector<int64_t> kv_len = {};
  std::vector<int64_t> q_offsets = {};
  std::vector<int64_t> k_offsets = {};

  // Parameters of the score, where score and options ask for them; empty: Gen(4) to Gen(7).
  std::vector<float> w = {};
  std::vector<float> wq = {};
  std::vector<float> wk = {};
  std::vector<float> w_out = {};

  void SetMask(const Sizes& sizes, std::vector<uint8_t> values);
  void SetBias(const Sizes& sizes, std::vector<float> values);
  void SetAlibiSlopes(std::vector<float> values);
  void SetSinks(std::vector<float> values);
  void SetKvLen(std::vector<int64_t> values);
  void SetGaussian(float bandwidth);
  void SetBilinear(int64_t key_dim);
  // With the projections that are asked for; without one its rows have `hidden` columns.
  void SetAdditive(int64_t hidden, bool projects_q, bool projects_k);
  // The type of q, k, v and out.
  void SetTypes(DataType type);
  // A ragged batch of these sequences; also sets batch, queries and keys.
  void SetSequences(const std::vector<int64_t>& query_counts,
                    const std::vector<int64_t>& key_counts);

  StrideRule q_strides = DenseStrides;
  StrideRule kv_strides = DenseStrides;
  StrideRule pair_strides = DenseStrides;    // of mask and bias
  StrideRule weight_strides = DenseStrides;  // of w, wq and wk
  StrideRule out_strides = DenseStrides;     // of lse and weights too
  Placement placement = {};                  // of each array

  // The batch axis of the arrays.
  int64_t items() const { return options.ragged ? 1 : shape.batch; }
  Sizes q_sizes() const { return {items(), shape.heads, shape.queries, shape.dim}; }
  Sizes k_sizes() const { return {items(), shape.kv_heads, shape.keys, key_dim()}; }
  Sizes v_sizes() const { return {items(), shape.kv_heads, shape.keys, shape.value_dim}; }
  Sizes out_sizes() const { return {items(), shape.heads, shape.queries, shape.value_dim}; }
  Sizes lse_sizes() const { return {items(), shape.heads, shape.queries, 1}; }
  // With their defaults in place of 0.
  int64_t key_dim() const { return shape.key_dim == 0 ? shape.dim : shape.key_dim; }
  int64_t hidden() const { return shape.hidden == 0 ? shape.dim : shape.hidden; }
  Sizes w_sizes() const { return {1, 1, shape.dim, key_dim()}; }
  Sizes wq_sizes() const { return {1, 1, hidden(), shape.dim}; }
  Sizes wk_sizes() const { return {1, 1, hidden(), key_dim()}; }
  // Of weights, and of a mask or bias that does not broadcast.
  Sizes pair_sizes() const { return {items(), shape.heads, shape.queries, shape.keys}; }

  // Sizes, types and options on one line.
  std::string ToString() const;
};

// A case with one batch item, one head, scale 1 and dim 1: what the public cases leave out.
AttentionCase PlainCase(int64_t queries, int64_t keys);

// `values` for each query, key or whatever the case counts.
std::vector<float> Repeat(float value, int64_t count);
// first, first + step, ...
std::vector<float> Ramp(float first, float step, int64_t count);

// What a run produced.
struct AttentionRun {
  std::vector<float> out = {};      // [batch, heads, queries, value_dim], widened to f32
  std::vector<float> lse = {};      // [batch, heads, queries]; empty when not asked for
  std::vector<float> weights = {};  // [batch, heads, queries, keys]; empty when not asked for
  PlanExplanation plan = {};
};

// What is right, and by how much a result may differ. `lse` and `weights` may be empty: not
// compared.
struct Expectation {
  reference::AttentionResult value = {};
  reference::AttentionTolerance tolerance = {};
};

// The arrays of a case. Const functions may be called from several threads.
class PreparedCase {
 public:
  explicit PreparedCase(AttentionCase description);

  const AttentionCase& description() const { return case_; }
  // Everything but the outputs, of which only the type of `out` is there.
  const AttentionTensors& inputs() const { return inputs_; }

  // Computes on `path`; a ragged batch without weights and without a mask. Errors, elements that
  // were not written and padding that was are test failures.
  AttentionRun Run(const Path& path) const;

  // The definition of the case, with bounds derived from its data.
  Expectation FromReference() const;

  // Lists target, plan, sizes, index, value found and value expected if not.
  ::testing::AssertionResult Agrees(const AttentionRun& run, const Expectation& expected) const;

 private:
  AttentionCase case_;
  Array q_;
  Array k_;
  Array v_;
  MaskArray mask_;
  Array bias_;
  GuardedArray<float> alibi_slopes_;
  GuardedArray<float> sinks_;
  GuardedArray<int64_t> kv_len_;
  GuardedArray<int64_t> q_offsets_;
  GuardedArray<int64_t> k_offsets_;
  Array w_;
  Array wq_;
  Array wk_;
  GuardedArray<float> w_out_;
  AttentionTensors inputs_;
};

// Those of `paths` that can compute the score of a case: `few` takes dot products only.
std::vector<Path> PathsFor(const AttentionCase& description, const std::vector<Path>& paths);

// Runs `description` on each of PathsFor(description, paths) and compares with the reference.
void ExpectMatchesReference(const AttentionCase& description, const std::vector<Path>& paths);

// Known results. Weights are compared with the reference.
struct KnownResult {
  std::vector<double> out;
  double out_tolerance = 0.0;  // 0: exactly
  std::vector<double> lse = {};
  double lse_tolerance = 0.0;
};

// Runs `description` on each of PathsFor(description, paths) and compares with `known`, which the
// reference itself has to reproduce to the digits that such numbers are quoted with.
void ExpectKnownResult(const AttentionCase& description, const KnownResult& known,
                       const std::vector<Path>& paths);

// Equality of bits, NaN included; names the first difference. Of runs, what both produced.
::testing::AssertionResult SameBits(const std::vector<float>& got, const std::vector<float>& want);
::testing::AssertionResult SameBits(const AttentionRun& got, const AttentionRun& want);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_ATTENTION_CASE_H_
