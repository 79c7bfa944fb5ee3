// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Planning attention and filling its arrays.

#include "bench/prepared_attention.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "bench/random_elements.h"
#include "bench/work.h"
#include "src/attention/overrides.h"
#include "src/attention/score.h"
#include "src/core/sizes.h"

namespace lanewise::bench {
namespace {

Status CheckType(const char* name, DataType type) {
  if (type != DataType::kBool) return {};
  return Status::Unsupported(std::string("benchmarks: ") + name + " is " +
                             std::string(DataTypeName(type)) + ", expected f32, f16 or bf16");
}

Status CheckSupported(const AttentionCase& benchmark) {
  const AttentionShape& shape = benchmark.shape;
  for (const Status& status : {CheckType("q", shape.q_type), CheckType("k", shape.k_type),
                               CheckType("v", shape.v_type), CheckType("out", shape.out_type)}) {
    if (!status.ok()) return status;
  }
  const std::pair<const char*, bool> unsupported[] = {{"kv_first", benchmark.options.kv_first},
                                                      {"paged", benchmark.options.paged}};
  for (const auto& [name, on] : unsupported) {
    if (!on) continue;
    return Status::Unsupported(std::string("benchmarks: found ") + name +
                               ", expected keys in order and in an array of their own");
  }
  return {};
}

ArrayView<int64_t> ViewOf(const std::vector<int64_t>& numbers) {
  return {numbers.data(), static_cast<int64_t>(numbers.size())};
}

}  // namespace

template <typename AnyTensor>
Status CaseArrays::AddRandom(DataType type, const Sizes& sizes, uint64_t seed, AnyTensor& tensor) {
  Result<tune::FloatArray> array = RandomTensor(type, sizes, seed, tensor);
  if (!array.ok()) return array.status();
  floats_.push_back(std::move(*array));
  return {};
}

Status CaseArrays::AddMask(const Sizes& sizes) {
  const auto count = core::CheckedProduct({sizes[0], sizes[1], sizes[2], sizes[3]});
  if (!count || static_cast<uint64_t>(*count) > mask_.max_size()) return Status::OutOfMemory();
  mask_.assign(static_cast<size_t>(*count), 1);
  tensors_.mask = ConstTensor(mask_.data(), DataType::kBool, sizes);
  return {};
}

Status CaseArrays::AddSlopes(int64_t heads) {
  Result<tune::FloatArray> slopes = tune::FloatArray::Allocate(heads);
  if (!slopes.ok()) return slopes.status();
  for (int64_t h = 0; h < heads; ++h) {
    slopes->data()[h] = std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(heads));
  }
  tensors_.alibi_slopes = {slopes->data(), heads};
  floats_.push_back(std::move(*slopes));
  return {};
}

Status CaseArrays::AddSinks(int64_t heads) {
  ConstTensor sinks;
  if (Status s = AddRandom(DataType::kF32, {1, 1, 1, heads}, 8, sinks); !s.ok()) return s;
  tensors_.sinks = {static_cast<const float*>(sinks.data), heads};
  return {};
}

Status CaseArrays::AddParameters(const AttentionShape& shape, const AttentionOptions& options) {
  constexpr DataType kF32 = DataType::kF32;
  const Sizes w = {1, 1, shape.dim, shape.key_dim};
  const Sizes wq = {1, 1, shape.hidden, shape.dim};
  const Sizes wk = {1, 1, shape.hidden, shape.key_dim};
  Status s;
  if (options.score == AttentionScore::kBilinear) s = AddRandom(kF32, w, 9, tensors_.w);
  if (s.ok() && options.wq) s = AddRandom(kF32, wq, 10, tensors_.wq);
  if (s.ok() && options.wk) s = AddRandom(kF32, wk, 11, tensors_.wk);
  if (!s.ok() || options.score != AttentionScore::kAdditive) return s;
  ConstTensor w_out;
  s = AddRandom(kF32, {1, 1, 1, shape.hidden}, 12, w_out);
  tensors_.w_out = {static_cast<const float*>(w_out.data), shape.hidden};
  return s;
}

Status CaseArrays::AddAll(const AttentionCase& benchmark) {
  const AttentionOptions& options = benchmark.options;
  const AttentionShape shape = attention::WithScoreSizes(benchmark.shape, options.score);
  const int64_t items = options.ragged ? 1 : shape.batch;
  const Sizes q = {items, shape.heads, shape.queries, shape.dim};
  const Sizes k = {items, shape.kv_heads, shape.keys, shape.key_dim};
  const Sizes v = {items, shape.kv_heads, shape.keys, shape.value_dim};
  const Sizes out = {items, shape.heads, shape.queries, shape.value_dim};
  const Sizes rows = {items, shape.heads, shape.queries, 1};
  const Sizes weights = {items, shape.heads, shape.queries, shape.keys};
  const Sizes pairs = {1, 1, shape.queries, shape.keys};
  constexpr DataType kF32 = DataType::kF32;
  // Filled, outputs too, so that the first timed call finds every page in place.
  Status s = AddRandom(shape.q_type, q, 1, tensors_.q);
  if (s.ok()) s = AddRandom(shape.k_type, k, 2, tensors_.k);
  if (s.ok()) s = AddRandom(shape.v_type, v, 3, tensors_.v);
  if (s.ok()) s = AddRandom(shape.out_type, out, 4, tensors_.out);
  if (s.ok() && options.lse) s = AddRandom(kF32, rows, 5, tensors_.lse);
  if (s.ok() && options.weights) s = AddRandom(kF32, weights, 6, tensors_.weights);
  if (s.ok() && options.bias) s = AddRandom(kF32, pairs, 7, tensors_.bias);
  if (s.ok() && options.mask) s = AddMask(pairs);
  if (s.ok() && options.alibi_slopes) s = AddSlopes(shape.heads);
  if (s.ok() && options.sinks) s = AddSinks(shape.heads);
  if (s.ok()) s = AddParameters(shape, options);
  lengths_ = benchmark.lengths;
  if (options.kv_len) tensors_.kv_len = ViewOf(lengths_.kv_len);
  if (options.ragged) tensors_.q_offsets = ViewOf(lengths_.q_offsets);
  if (options.ragged) tensors_.k_offsets = ViewOf(lengths_.k_offsets);
  return s;
}

Result<CaseArrays> CaseArrays::Make(const AttentionCase& benchmark) {
  if (Status s = CheckSupported(benchmark); !s.ok()) return s;
  try {
    CaseArrays arrays;
    if (Status s = arrays.AddAll(benchmark); !s.ok()) return s;
    return arrays;
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

Result<AttentionPlan> PreparedAttention::Plan(const AttentionCase& benchmark,
                                              const Runtime& runtime, const Overrides& overrides) {
  const std::pair<const char*, int64_t> foreign[] = {{"row_block", overrides.row_block},
                                                     {"depth_block", overrides.depth_block},
                                                     {"column_block", overrides.column_block}};
  for (const auto& [name, value] : foreign) {
    if (value != 0) return RefuseOverride(name, value, "attention");
  }
  return attention::PlanAttentionWith(
      benchmark.shape, benchmark.options, runtime,
      {overrides.variant, overrides.tile, overrides.kv_block, overrides.q_groups, overrides.grain});
}

Status PreparedAttention::Check(const AttentionCase& benchmark, const Runtime& runtime,
                                const Overrides& overrides) {
  return Plan(benchmark, runtime, overrides).status();
}

Result<std::unique_ptr<PreparedCase>> PreparedAttention::Make(const AttentionCase& benchmark,
                                                              const Runtime& runtime,
                                                              const Overrides& overrides) {
  Result<AttentionPlan> plan = Plan(benchmark, runtime, overrides);
  if (!plan.ok()) return plan.status();
  Result<CaseArrays> arrays = CaseArrays::Make(benchmark);
  if (!arrays.ok()) return arrays.status();
  Workspace workspace(plan->workspace_bytes());
  if (workspace.size_bytes() < plan->workspace_bytes()) return Status::OutOfMemory();
  return std::unique_ptr<PreparedCase>(
      new PreparedAttention(benchmark, std::move(*plan), std::move(*arrays), std::move(workspace)));
}

std::optional<double> PreparedAttention::bytes() const {
  if (!IsDecode(benchmark_)) return std::nullopt;
  return DecodeBytes(benchmark_);
}

std::vector<tune::Yardstick> PreparedAttention::MemoryYardsticks(int64_t target,
                                                                 tune::ThreadTeam& team) const {
  if (!IsDecode(benchmark_)) return {};
  return tune::ReadSums(target, {ReadAll(tensors().k), ReadAll(tensors().v)}, team);
}

}  // namespace lanewise::bench
