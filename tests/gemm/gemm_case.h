// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A matrix product as a value, its arrays in guarded memory, and what it is judged by.

#ifndef LANEWISE_TESTS_GEMM_GEMM_CASE_H_
#define LANEWISE_TESTS_GEMM_GEMM_CASE_H_

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/gemm.h"
#include "src/gemm/overrides.h"
#include "src/reference/gemm.h"
#include "src/reference/tolerance.h"
#include "tests/support/array.h"
#include "tests/support/gen.h"

namespace lanewise::testing {

struct GemmCase {
  GemmShape shape;
  GemmOptions options = {};
  StrideRule a_strides = lanewise::DenseStrides;
  StrideRule b_strides = lanewise::DenseStrides;
  StrideRule c_strides = lanewise::DenseStrides;
  GuardSide guard = GuardSide::kAfter;
};

// How it is computed.
struct GemmPath {
  std::string target;
  int threads = 1;
  gemm::PlanOverrides overrides = {};

  std::string ToString() const {
    return "target \"" + target + "\", " + std::to_string(threads) + " threads, variant \"" +
           overrides.variant + "\", tile \"" + overrides.tile + "\", blocks " +
           std::to_string(overrides.row_block) + ", " + std::to_string(overrides.depth_block) +
           ", " + std::to_string(overrides.column_block);
  }
};

inline std::string ToString(const GemmShape& s) {
  std::string text = "[" + std::to_string(s.batch) + ", " + std::to_string(s.heads) + "] " +
                     std::to_string(s.rows) + " x " + std::to_string(s.columns) + " x " +
                     std::to_string(s.depth);
  for (const DataType type : {s.a_type, s.b_type, s.c_type}) {
    text += " " + std::string(DataTypeName(type));
  }
  return text;
}

inline std::string ToString(const GemmOptions& o) {
  return std::string(o.transpose_a ? "a transposed, " : "") +
         (o.transpose_b ? "b transposed, " : "") + (o.packed_b ? "b packed, " : "") +
         (o.bias ? "bias, " : "") + (o.residual ? "residual, " : "") + "alpha " +
         std::to_string(o.alpha) + ", beta " + std::to_string(o.beta);
}

class GemmArrays {
 public:
  explicit GemmArrays(const GemmCase& c)
      : case_(c),
        a_(SizesOf(c.options.transpose_a, c.shape, c.shape.rows, c.shape.depth), c.a_strides,
           {c.guard}, c.shape.a_type),
        b_(SizesOf(c.options.transpose_b, c.shape, c.shape.depth, c.shape.columns), c.b_strides,
           {c.guard}, c.shape.b_type),
        c_({c.shape.batch, c.shape.heads, c.shape.rows, c.shape.columns}, c.c_strides, {c.guard},
           c.shape.c_type),
        residual_({c.shape.batch, c.shape.heads, c.shape.rows, c.shape.columns}, c.c_strides,
                  {c.guard}, c.shape.c_type),
        bias_({1, 1, 1, c.shape.columns}, lanewise::DenseStrides, {c.guard}) {
    a_.Set(Gen(1, Count(a_.view().sizes)));
    b_.Set(Gen(2, Count(b_.view().sizes)));
    residual_.Set(Gen(3, Count(residual_.view().sizes)));
    bias_.Set(Gen(5, c.shape.columns));
    // Unwritten if it is not to be read.
    if (c.options.beta != 0) c_.Set(Gen(4, Count(c_.view().sizes)));
  }

  Array& a() { return a_; }
  Array& b() { return b_; }
  Array& c() { return c_; }
  Array& residual() { return residual_; }

  GemmTensors tensors() {
    GemmTensors tensors;
    tensors.a = a_.view();
    tensors.b = b_.view();
    tensors.c = c_.view();
    if (case_.options.bias) {
      tensors.bias = {static_cast<const float*>(bias_.view().data), case_.shape.columns};
    }
    if (case_.options.residual) tensors.residual = residual_.view();
    return tensors;
  }

  // Plans and runs, packing B if the options say so.
  Status Run(const GemmPath& path) {
    Runtime runtime;
    runtime.threads = path.threads;
    runtime.target = path.target;
    const Result<GemmPlan> plan =
        gemm::PlanGemmWith(case_.shape, case_.options, runtime, path.overrides);
    if (!plan.ok()) return plan.status();
    GemmTensors arrays = tensors();
    PackedMatrix packed;
    if (case_.options.packed_b) {
      Result<PackedMatrix> made = PackB(arrays.b, case_.options.transpose_b, runtime);
      if (!made.ok()) return made.status();
      packed = std::move(*made);
      arrays.packed_b = &packed;
      arrays.b = {};
    }
    Workspace workspace(plan->workspace_bytes());
    // NaN: nothing may rely on what a workspace holds.
    auto* floats = static_cast<float*>(workspace.data());
    for (size_t i = 0; i < workspace.size_bytes() / sizeof(float); ++i) {
      floats[i] = std::numeric_limits<float>::quiet_NaN();
    }
    return plan->Run(arrays, workspace);
  }

 private:
  static Sizes SizesOf(bool transpose, const GemmShape& shape, int64_t rows, int64_t columns) {
    if (transpose) return {shape.batch, shape.heads, columns, rows};
    return {shape.batch, shape.heads, rows, columns};
  }

  GemmCase case_;
  Array a_;
  Array b_;
  Array c_;
  Array residual_;
  Array bias_;
};

// Runs on a path and compares with the definition.
inline void ExpectMatchesReference(const GemmCase& c, const GemmPath& path) {
  GemmArrays arrays(c);
  const reference::GemmResult expected = reference::Gemm(arrays.tensors(), c.options);
  const Status status = arrays.Run(path);
  const std::string what = ToString(c.shape) + ", " + ToString(c.options) + "; " + path.ToString();
  ASSERT_TRUE(status.ok()) << what << ": " << status.message();
  const reference::Comparison comparison =
      reference::Compare(arrays.c().view(), expected.c, expected.tolerance);
  EXPECT_TRUE(comparison.ok()) << what << ": " << reference::Describe(comparison.worst) << ", "
                               << comparison.failures << " failures";
  EXPECT_TRUE(arrays.c().IsPaddingIntact()) << what;
}

// C, bit by bit.
inline std::vector<uint32_t> BitsOf(const GemmCase& c, const GemmPath& path) {
  GemmArrays arrays(c);
  const Status status = arrays.Run(path);
  EXPECT_TRUE(status.ok()) << path.ToString() << ": " << status.message();
  std::vector<uint32_t> bits;
  for (const float value : arrays.c().Values()) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_GEMM_GEMM_CASE_H_
