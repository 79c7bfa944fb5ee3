// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products: C = alpha op(A) op(B) + beta C + bias + residual.

#ifndef LANEWISE_GEMM_H_
#define LANEWISE_GEMM_H_

#include <cstddef>  // size_t
#include <cstdint>  // int64_t
#include <memory>   // shared_ptr
#include <string>   // GemmExplanation
#include <vector>   // GemmExplanation

#include "lanewise/export.h"
#include "lanewise/parameter_source.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "lanewise/workspace.h"

namespace lanewise {

// The sizes and types a plan is made for: batch * heads products of
//
//   A [batch, heads, rows,  depth]      or [batch, heads, depth,   rows]  with transpose_a
//   B [batch, heads, depth, columns]    or [batch, heads, columns, depth] with transpose_b
//   C [batch, heads, rows,  columns]
//
// Types are f32, f16 or bf16 each; that of a packed B is the type of the array it was made from.
// Zero batch, heads, rows or columns: a call succeeds and writes nothing. Zero depth: C = beta C +
// bias + residual.
struct GemmShape {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  DataType a_type = DataType::kF32;
  DataType b_type = DataType::kF32;
  DataType c_type = DataType::kF32;
};

// What to compute. The defaults are C = A B.
struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;  // as the weights of layers often lie: [outputs, inputs]

  // Finite. alpha 0: A and B have no influence, whatever they hold. beta 0: C is not read, so that
  // it may hold anything, NaN included.
  float alpha = 1;
  float beta = 0;

  // Inputs that a call brings beside A, B and C: each makes the array of that name in GemmTensors
  // required, and its absence here makes that array an error.
  bool bias = false;      // [columns], added to each row
  bool residual = false;  // [batch, heads, rows, columns], added
  // B comes as a PackedMatrix instead of as an array.
  bool packed_b = false;
};

// A matrix B, or one for each batch item and head, laid out for products with it: for weights,
// which are the same in many calls. Its elements keep their type, so that a product of few rows,
// which has to read them all, reads no more than the array has. Immutable and independent of the
// array it was made from; may be shared between threads and plans.
class LANEWISE_EXPORT PackedMatrix {
 public:
  // Holds nothing.
  PackedMatrix() noexcept;
  PackedMatrix(PackedMatrix&& other) noexcept;
  PackedMatrix& operator=(PackedMatrix&& other) noexcept;
  ~PackedMatrix();

  // Bytes that it occupies: those of its elements, columns rounded up to those of a register tile.
  size_t size_bytes() const noexcept;

  struct Layout;  // internal
  explicit PackedMatrix(std::unique_ptr<const Layout> layout) noexcept;
  const Layout* layout() const noexcept { return layout_.get(); }

 private:
  std::unique_ptr<const Layout> layout_;
};

// Packs `b`, [batch, heads, depth, columns] or with `transpose_b` [batch, heads, columns, depth],
// for plans with the same depth, columns, type of B and SIMD target and any number of rows. A batch
// or heads of 1 serves any. Uses the threads and the target of `runtime`. Thread-safe.
//
// Errors: kInvalidArgument for a wrong array (null, type, strides) or `runtime`; kUnsupported for a
// target that this build or machine cannot do; kOutOfMemory.
LANEWISE_EXPORT Result<PackedMatrix> PackB(const ConstTensor& b, bool transpose_b,
                                           const Runtime& runtime = DefaultRuntime()) noexcept;

// The arrays of one call. Strides are free (last stride 1); a stride of 0 broadcasts an input: one
// matrix of weights for a whole batch. The memory between the first and the last element of C may
// not meet that of an input, except that `residual` may be C itself, with the same strides.
struct GemmTensors {
  ConstTensor a;
  ConstTensor b;  // none with packed_b
  Tensor c;
  ArrayView<float> bias = {};
  ConstTensor residual = {};  // type and sizes of c
  const PackedMatrix* packed_b = nullptr;
};

// What a plan decided and why.
struct GemmExplanation {
  // "blocks": blocks of A and B are copied to where caches keep them. "panels": few rows, so only a
  // panel of B at a time is. "rows": very few rows; B is read once, where it lies or as it was
  // packed. "dots": the same for an array of B whose columns are contiguous.
  std::string variant;
  std::string tile;         // register tile, rows x vectors: "4x3v"
  int64_t row_block = 0;    // rows of A in the second-level cache
  int64_t depth_block = 0;  // steps that are summed up before they are added to C
  int64_t column_block = 0;
  std::string target;  // SIMD target
  int threads = 0;     // threads a run may use
  int64_t workspace_bytes = 0;
  std::vector<ParameterSource> sources;
  std::vector<std::string> reasons;  // why other variants were passed over

  // All of it as a few lines of text.
  LANEWISE_EXPORT std::string ToString() const;
};

// A validated, immutable decision how to compute products of one shape with one set of options.
// Cheap to copy (copies share the decision); safe to run from many threads at once, each with its
// own Workspace. A moved-from plan may be assigned to or destroyed, and nothing else.
class LANEWISE_EXPORT GemmPlan {
 public:
  // Computes, for each batch item, head, row i and column j,
  //
  //   c[i,j] = alpha Σ_s op(a)[i,s] op(b)[s,j] + beta c[i,j] + bias[j] + residual[i,j]
  //
  // NaN and infinities spread as in that formula, within their row or column.
  //
  // Accuracy: f32 arithmetic. With u = 2^-24, to first order, an element is off by
  // u * ((depth + 4) * |alpha| Σ_s |a b| + 4 * (|beta c| + |bias| + |residual|)); errors seen are a
  // few u. Stores to f16 and bf16 round once, to nearest, ties to even; subnormals are kept.
  //
  // An element of the result depends on its row of A, its column of B, the other terms of the
  // formula, on depth, types, target, whether there are few rows and B is a transposed array, and
  // on nothing else: threads, batch, the other rows and columns, packing and block sizes but that
  // of the depth do not change a bit of it.
  //
  // Threads and memory: as lanewise/runtime.h says. Scratch only in `workspace`, which must have
  // workspace_bytes().
  //
  // Errors, all before any byte is written: a null pointer, a size, type or stride that does not
  // fit the plan, a packed matrix of another shape or target, overlapping output, a small
  // workspace.
  Status Run(const GemmTensors& tensors, Workspace& workspace) const noexcept;

  // Bytes that Run needs: blocks of A and B, and for an f16 or bf16 C also its sums, 4 bytes each.
  size_t workspace_bytes() const noexcept;

  GemmExplanation Explain() const;

  struct Decision;  // internal
  explicit GemmPlan(std::shared_ptr<const Decision> decision) noexcept;
  const Decision& decision() const noexcept { return *decision_; }

 private:
  std::shared_ptr<const Decision> decision_;
};

// Validates everything that can be validated without the arrays and decides how to compute.
// Microseconds; allocates the plan. Thread-safe.
//
// Errors: kInvalidArgument for a negative size, sizes or scratch whose product overflows 64 bits,
// an alpha or beta that is not finite, a type other than f32, f16 and bf16, a number of threads
// that is negative or above 4096, an unknown target; kUnsupported for a target that this build or
// machine cannot do; kOutOfMemory.
LANEWISE_EXPORT Result<GemmPlan> PlanGemm(const GemmShape& shape, const GemmOptions& options = {},
                                          const Runtime& runtime = DefaultRuntime()) noexcept;

// The one-call form: plans for the sizes and types of the arrays, allocates the workspace, runs.
//
//   std::vector<float> a(100 * 64), b(64 * 200), c(100 * 200);
//   lanewise::Status status = lanewise::Gemm({{a.data(), {1, 1, 100, 64}},
//                                             {b.data(), {1, 1, 64, 200}},
//                                             {c.data(), {1, 1, 100, 200}}});
//
// Errors: those of PlanGemm and Run; kOutOfMemory.
LANEWISE_EXPORT Status Gemm(const GemmTensors& tensors, const GemmOptions& options = {},
                            const Runtime& runtime = DefaultRuntime()) noexcept;

}  // namespace lanewise

#endif  // LANEWISE_GEMM_H_
