// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Planning a case and filling its arrays.

#include "bench/prepared_case.h"

#include <cstdint>
#include <string>

namespace lanewise::bench {
namespace {

// Elements of a dense array. The plan has checked that the product fits 64 bits.
int64_t Count(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }

Status CheckType(const char* name, DataType type) {
  if (type == DataType::kF32) return {};
  return Status::Unsupported(std::string("benchmarks: ") + name + " is " +
                             std::string(DataTypeName(type)) + ", expected f32");
}

}  // namespace

Result<CaseArrays> CaseArrays::Make(const Case& benchmark) {
  const AttentionShape& shape = benchmark.shape;
  for (const Status& status : {CheckType("q", shape.q_type), CheckType("k", shape.k_type),
                               CheckType("v", shape.v_type), CheckType("out", shape.out_type)}) {
    if (!status.ok()) return status;
  }
  const Sizes q_sizes = {shape.batch, shape.heads, shape.queries, shape.dim};
  const Sizes k_sizes = {shape.batch, shape.kv_heads, shape.keys, shape.dim};
  const Sizes v_sizes = {shape.batch, shape.kv_heads, shape.keys, shape.value_dim};
  const Sizes out_sizes = {shape.batch, shape.heads, shape.queries, shape.value_dim};
  const Sizes lse_sizes = {shape.batch, shape.heads, shape.queries, 1};

  // Filled, outputs too, so that the first timed call finds every page in place.
  Result<tune::FloatArray> q = tune::RandomFloats(Count(q_sizes), 1);
  if (!q.ok()) return q.status();
  Result<tune::FloatArray> k = tune::RandomFloats(Count(k_sizes), 2);
  if (!k.ok()) return k.status();
  Result<tune::FloatArray> v = tune::RandomFloats(Count(v_sizes), 3);
  if (!v.ok()) return v.status();
  Result<tune::FloatArray> out = tune::RandomFloats(Count(out_sizes), 4);
  if (!out.ok()) return out.status();

  CaseArrays arrays;
  arrays.q_ = std::move(*q);
  arrays.k_ = std::move(*k);
  arrays.v_ = std::move(*v);
  arrays.out_ = std::move(*out);
  arrays.tensors_ = {ConstTensor(arrays.q_.data(), q_sizes), ConstTensor(arrays.k_.data(), k_sizes),
                     ConstTensor(arrays.v_.data(), v_sizes), Tensor(arrays.out_.data(), out_sizes)};
  if (benchmark.options.lse) {
    Result<tune::FloatArray> lse = tune::RandomFloats(Count(lse_sizes), 5);
    if (!lse.ok()) return lse.status();
    arrays.lse_ = std::move(*lse);
    arrays.tensors_.lse = Tensor(arrays.lse_.data(), lse_sizes);
  }
  return arrays;
}

Result<PreparedCase> PreparedCase::Make(const Case& benchmark, const Runtime& runtime,
                                        const attention::PlanOverrides& overrides) {
  Result<AttentionPlan> plan =
      attention::PlanAttentionWith(benchmark.shape, benchmark.options, runtime, overrides);
  if (!plan.ok()) return plan.status();
  Result<CaseArrays> arrays = CaseArrays::Make(benchmark);
  if (!arrays.ok()) return arrays.status();
  Workspace workspace(plan->workspace_bytes());
  if (workspace.size_bytes() < plan->workspace_bytes()) return Status::OutOfMemory();
  return PreparedCase(std::move(*plan), std::move(*arrays), std::move(workspace));
}

}  // namespace lanewise::bench
