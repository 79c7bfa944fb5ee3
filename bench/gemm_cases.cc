// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of matrix products, and how they are prepared.

#include "bench/gemm_cases.h"

#include <cstdint>
#include <iterator>
#include <string_view>

#include "bench/random_elements.h"
#include "src/core/element_bytes.h"
#include "src/gemm/overrides.h"
#include "src/gemm/packed_matrix.h"

namespace lanewise::bench {
namespace {

// A line of the table. All f32.
struct Line {
  std::string_view name;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  GemmOptions options;
  DataType b_type = DataType::kF32;
};

constexpr GemmOptions kPlain = {};

constexpr GemmOptions Packed() {
  GemmOptions options;
  options.packed_b = true;
  return options;
}

constexpr GemmOptions TransposedB() {
  GemmOptions options;
  options.transpose_b = true;
  return options;
}

constexpr Line kLines[] = {
    // name, rows, columns, depth, options, type of B
    {"gemm_512", 512, 512, 512, kPlain},
    {"gemm_1024", 1024, 1024, 1024, kPlain},
    {"gemm_2048", 2048, 2048, 2048, kPlain},
    {"gemm_proj", 2048, 512, 512, kPlain},
    {"gemm_small", 128, 768, 768, kPlain},
    {"gemm_small_packed", 128, 768, 768, Packed()},
    {"gemm_depth64", 2048, 2048, 64, kPlain},
    {"gemm_row", 1, 4096, 4096, kPlain},
    {"gemm_row_transposed", 1, 4096, 4096, TransposedB()},
    {"gemm_row_packed", 1, 4096, 4096, Packed()},
    {"gemm_row_packed_bf16", 1, 4096, 4096, Packed(), DataType::kBF16},
};

Status RefuseForeign(const Overrides& overrides) {
  const std::pair<const char*, int64_t> foreign[] = {{"kv_block", overrides.kv_block},
                                                     {"q_groups", overrides.q_groups},
                                                     {"grain", overrides.grain}};
  for (const auto& [name, value] : foreign) {
    if (value != 0) return RefuseOverride(name, value, "a matrix product");
  }
  return {};
}

}  // namespace

std::vector<GemmCase> GemmCases() {
  std::vector<GemmCase> cases;
  for (const Line& line : kLines) {
    GemmCase benchmark;
    benchmark.name = line.name;
    benchmark.shape.rows = line.rows;
    benchmark.shape.columns = line.columns;
    benchmark.shape.depth = line.depth;
    benchmark.shape.b_type = line.b_type;
    benchmark.options = line.options;
    cases.push_back(std::move(benchmark));
  }
  return cases;
}

Case ToCase(GemmCase benchmark) { return CaseOf<PreparedGemm>(std::move(benchmark)); }

Result<GemmPlan> PreparedGemm::Plan(const GemmCase& benchmark, const Runtime& runtime,
                                    const Overrides& overrides) {
  if (Status s = RefuseForeign(overrides); !s.ok()) return s;
  return gemm::PlanGemmWith(benchmark.shape, benchmark.options, runtime,
                            {overrides.variant, overrides.tile, overrides.row_block,
                             overrides.depth_block, overrides.column_block});
}

Status PreparedGemm::Check(const GemmCase& benchmark, const Runtime& runtime,
                           const Overrides& overrides) {
  return Plan(benchmark, runtime, overrides).status();
}

Result<std::unique_ptr<PreparedCase>> PreparedGemm::Make(const GemmCase& benchmark,
                                                         const Runtime& runtime,
                                                         const Overrides& overrides) {
  Result<GemmPlan> plan = Plan(benchmark, runtime, overrides);
  if (!plan.ok()) return plan.status();
  std::unique_ptr<PreparedGemm> made(new PreparedGemm(benchmark, std::move(*plan)));
  if (made->workspace_.size_bytes() < made->plan_.workspace_bytes()) return Status::OutOfMemory();
  if (Status s = made->MakeArrays(runtime); !s.ok()) return s;
  return std::unique_ptr<PreparedCase>(std::move(made));
}

Status PreparedGemm::MakeArrays(const Runtime& runtime) {
  const GemmShape& shape = benchmark_.shape;
  const GemmOptions& options = benchmark_.options;
  const auto sizes = [&](int64_t rows, int64_t columns, bool transpose) -> Sizes {
    if (transpose) std::swap(rows, columns);
    return {shape.batch, shape.heads, rows, columns};
  };
  const auto add = [&](DataType type, const Sizes& array, uint64_t seed, auto& tensor) {
    Result<tune::FloatArray> memory = RandomTensor(type, array, seed, tensor);
    if (!memory.ok()) return memory.status();
    memory_.push_back(std::move(*memory));
    return Status();
  };
  ConstTensor bias;
  Status s = add(shape.a_type, sizes(shape.rows, shape.depth, options.transpose_a), 1, tensors_.a);
  if (s.ok()) {
    s = add(shape.b_type, sizes(shape.depth, shape.columns, options.transpose_b), 2, tensors_.b);
  }
  const Sizes out = sizes(shape.rows, shape.columns, false);
  if (s.ok()) s = add(shape.c_type, out, 3, tensors_.c);
  if (s.ok() && options.residual) s = add(shape.c_type, out, 4, tensors_.residual);
  if (s.ok() && options.bias) {
    s = add(DataType::kF32, {1, 1, 1, shape.columns}, 5, bias);
    tensors_.bias = {static_cast<const float*>(bias.data), shape.columns};
  }
  b_ = tensors_.b;
  if (!s.ok() || !options.packed_b) return s;
  Result<PackedMatrix> packed = PackB(tensors_.b, options.transpose_b, runtime);
  if (!packed.ok()) return packed.status();
  packed_ = std::move(*packed);
  tensors_.packed_b = &packed_;
  tensors_.b = {};
  return {};
}

double PreparedGemm::flops() const {
  const GemmShape& shape = benchmark_.shape;
  return 2.0 * static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.rows) *
         static_cast<double>(shape.columns) * static_cast<double>(shape.depth);
}

bool PreparedGemm::IsOneRow() const { return benchmark_.shape.rows == 1; }

std::optional<double> PreparedGemm::bytes() const {
  if (!IsOneRow()) return std::nullopt;
  double bytes = core::ElementBytes(benchmark_.shape.b_type);
  for (const int64_t size : b_.sizes) bytes *= static_cast<double>(size);
  return bytes;
}

std::vector<tune::Yardstick> PreparedGemm::MemoryYardsticks(int64_t target,
                                                            tune::ThreadTeam& team) const {
  if (!IsOneRow()) return {};
  if (!benchmark_.options.packed_b) return tune::ReadSums(target, {ReadAll(b_)}, team);
  // What the case reads: the array would stay in a cache that the packed matrix has left.
  return tune::ReadSums(target, {{packed_.layout()->memory.data(), packed_.size_bytes()}}, team);
}

}  // namespace lanewise::bench
