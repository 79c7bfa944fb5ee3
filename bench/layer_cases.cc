// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of layers, and how they are prepared.

#include "bench/layer_cases.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/random_elements.h"

namespace lanewise::bench {
namespace {

struct Line {
  std::string_view name;
  int64_t d_model;
  int64_t heads;
  int64_t batch;
  int64_t queries;
};

constexpr Line kLines[] = {
    // name, d_model, heads, batch, queries
    {"mha_base", 512, 8, 1, 512},   {"mha_minilm", 384, 12, 8, 128}, {"heads_1", 512, 1, 1, 1024},
    {"heads_2", 512, 2, 1, 1024},   {"heads_4", 512, 4, 1, 1024},    {"heads_8", 512, 8, 1, 1024},
    {"heads_16", 512, 16, 1, 1024}, {"heads_32", 512, 32, 1, 1024},
};

// Parameters of a layer, until it has packed them.
struct Parameters {
  tune::FloatArray qkv;
  tune::FloatArray out;
  tune::FloatArray biases;
  MultiHeadWeights weights;
};

Result<Parameters> RandomParameters(int64_t d_model) {
  Parameters made;
  const float factor = 1 / std::sqrt(static_cast<float>(d_model));
  const auto matrix = [&](int64_t outputs, uint64_t seed, tune::FloatArray& memory,
                          ConstTensor& tensor) {
    Result<tune::FloatArray> array =
        RandomTensor(DataType::kF32, {1, 1, outputs, d_model}, seed, tensor);
    if (!array.ok()) return array.status();
    for (size_t i = 0; i < array->size(); ++i) array->data()[i] *= factor;
    memory = std::move(*array);
    return Status();
  };
  if (Status s = matrix(3 * d_model, 1, made.qkv, made.weights.qkv); !s.ok()) return s;
  if (Status s = matrix(d_model, 2, made.out, made.weights.out); !s.ok()) return s;
  Result<tune::FloatArray> biases = RandomElements(DataType::kF32, 4 * d_model, 3);
  if (!biases.ok()) return biases.status();
  made.biases = std::move(*biases);
  made.weights.qkv_bias = {made.biases.data(), 3 * d_model};
  made.weights.out_bias = {made.biases.data() + 3 * d_model, d_model};
  return made;
}

}  // namespace

std::vector<LayerCase> LayerCases() {
  std::vector<LayerCase> cases;
  for (const Line& line : kLines) {
    LayerCase benchmark;
    benchmark.name = line.name;
    benchmark.shape.d_model = line.d_model;
    benchmark.shape.heads = line.heads;
    benchmark.call.batch = line.batch;
    benchmark.call.queries = line.queries;
    cases.push_back(std::move(benchmark));
  }
  return cases;
}

Case ToCase(LayerCase benchmark) { return CaseOf<PreparedLayer>(std::move(benchmark)); }

Status PreparedLayer::Check(const LayerCase& /*benchmark*/, const Runtime& /*runtime*/,
                            const Overrides& overrides) {
  return RefuseOverrides(overrides, "a layer");
}

Result<std::unique_ptr<PreparedCase>> PreparedLayer::Make(const LayerCase& benchmark,
                                                          const Runtime& runtime,
                                                          const Overrides& overrides) {
  if (Status s = Check(benchmark, runtime, overrides); !s.ok()) return s;
  const MultiHeadShape& shape = benchmark.shape;
  const Result<Parameters> parameters = RandomParameters(shape.d_model);
  if (!parameters.ok()) return parameters.status();
  const Result<MultiHeadAttention> layer =
      MakeMultiHeadAttention(shape, parameters->weights, runtime);
  if (!layer.ok()) return layer.status();
  Result<MultiHeadPlan> plan = layer->Plan(benchmark.call);
  if (!plan.ok()) return plan.status();

  std::unique_ptr<PreparedLayer> made(new PreparedLayer(benchmark, std::move(*plan)));
  if (made->workspace_.size_bytes() < made->plan_.workspace_bytes()) return Status::OutOfMemory();
  const Sizes sizes = {benchmark.call.batch, 1, benchmark.call.queries, shape.d_model};
  Result<tune::FloatArray> x = RandomTensor(DataType::kF32, sizes, 4, made->tensors_.x);
  if (!x.ok()) return x.status();
  Result<tune::FloatArray> out = RandomTensor(DataType::kF32, sizes, 5, made->tensors_.out);
  if (!out.ok()) return out.status();
  made->x_ = std::move(*x);
  made->out_ = std::move(*out);
  return std::unique_ptr<PreparedCase>(std::move(made));
}

double PreparedLayer::flops() const {
  const double d_model = static_cast<double>(benchmark_.shape.d_model);
  const double queries = static_cast<double>(benchmark_.call.queries);
  const double rows = static_cast<double>(benchmark_.call.batch) * queries;
  // Heads have d_model columns together.
  return 4 * 2 * rows * d_model * d_model + 2 * rows * queries * (d_model + d_model);
}

}  // namespace lanewise::bench
