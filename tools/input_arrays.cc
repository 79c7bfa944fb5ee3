// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Files into one shape.

#include "tools/input_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tools/converted.h"

namespace lanewise::tools {
namespace {

struct NamedArray {
  const char* flag;
  const std::string& path;
  const npy::Array& array;
};

Status CheckAlone(const NamedArray& input) {
  const size_t rank = input.array.shape.size();
  if (rank < 2 || rank > 4) {
    return Status::InvalidArgument(fmt::format(
        "{}: shape {}, expected rank 2 [n, d], 3 [heads, n, d] or 4 [batch, heads, n, d]",
        input.path, npy::ShapeString(input.array.shape)));
  }
  if (input.array.type == DataType::kBool) {
    return Status::InvalidArgument(
        fmt::format("{}: bool elements, expected f32 or f16", input.path));
  }
  return {};
}

// Whether `input` agrees with `other` in the sizes `axes` of rank 4.
Status CheckAgainst(const NamedArray& other, const NamedArray& input,
                    std::initializer_list<std::pair<size_t, const char*>> axes) {
  if (input.array.shape.size() != other.array.shape.size()) {
    return Status::InvalidArgument(
        fmt::format("{}: shape {} has rank {}, expected rank {} as in {} {}", input.path,
                    npy::ShapeString(input.array.shape), input.array.shape.size(),
                    other.array.shape.size(), other.flag, npy::ShapeString(other.array.shape)));
  }
  const Sizes expected = InputView(other.array).sizes;
  const Sizes found = InputView(input.array).sizes;
  for (const auto& [axis, name] : axes) {
    if (found[axis] == expected[axis]) continue;
    return Status::InvalidArgument(fmt::format("{}: shape {} has {} {}, expected {} as in {} {}",
                                               input.path, npy::ShapeString(input.array.shape),
                                               name, found[axis], expected[axis], other.flag,
                                               npy::ShapeString(other.array.shape)));
  }
  return {};
}

// Whether weights stand between queries and keys, so that their lengths may differ.
bool HasWeights(const ScorePaths& paths) { return paths.w || paths.w_out; }

AttentionShape ShapeOf(const InputArrays& arrays) {
  const Sizes q = InputView(arrays.q).sizes;
  const Sizes k = InputView(arrays.k).sizes;
  AttentionShape shape;
  shape.batch = q[0];
  shape.heads = q[1];
  shape.kv_heads = k[1];
  shape.queries = q[2];
  shape.keys = k[2];
  shape.dim = q[3];
  shape.key_dim = k[3];
  shape.value_dim = InputView(arrays.v).sizes[3];
  shape.q_type = arrays.q.type;
  shape.k_type = arrays.k.type;
  shape.v_type = arrays.v.type;
  shape.out_type = arrays.q.type;
  return shape;
}

Status CheckElements(const std::string& path, const npy::Array& array, DataType type) {
  if (array.type == type) return {};
  return Status::InvalidArgument(fmt::format("{}: {} elements, expected {}", path,
                                             DataTypeName(array.type), DataTypeName(type)));
}

// An array over the scores, with axes that broadcast.
Status CheckOverScores(const std::string& path, const npy::Array& array, DataType type,
                       const AttentionShape& shape) {
  if (Status s = CheckElements(path, array, type); !s.ok()) return s;
  const size_t rank = array.shape.size();
  if (rank != 2 && rank != 4) {
    return Status::InvalidArgument(fmt::format(
        "{}: shape {}, expected rank 2 [queries, keys] or 4 [batch, heads, queries, keys]", path,
        npy::ShapeString(array.shape)));
  }
  std::vector<int64_t> expected = {shape.batch, shape.heads, shape.queries, shape.keys};
  if (rank == 2) expected.erase(expected.begin(), expected.begin() + 2);
  for (size_t axis = 0; axis < rank; ++axis) {
    if (array.shape[axis] == expected[axis] || array.shape[axis] == 1) continue;
    return Status::InvalidArgument(fmt::format("{}: shape {}, expected {}; a size of 1 broadcasts",
                                               path, npy::ShapeString(array.shape),
                                               npy::ShapeString(expected)));
  }
  return {};
}

Status CheckPerHead(const std::string& path, const npy::Array& array, int64_t heads) {
  if (Status s = CheckElements(path, array, DataType::kF32); !s.ok()) return s;
  const std::vector<int64_t> expected = {heads};
  if (array.shape == expected) return {};
  return Status::InvalidArgument(fmt::format("{}: shape {}, expected {}, one number for each head",
                                             path, npy::ShapeString(array.shape),
                                             npy::ShapeString(expected)));
}

// Reads what comes beside q, k and v, whose shape is known.
Status ReadOthers(const InputPaths& paths, InputArrays& arrays) {
  const std::pair<const std::optional<std::string>*, std::optional<npy::Array>*> files[] = {
      {&paths.mask, &arrays.mask},
      {&paths.bias, &arrays.bias},
      {&paths.alibi, &arrays.alibi},
      {&paths.sinks, &arrays.sinks}};
  for (const auto& [path, array] : files) {
    if (!*path) continue;
    Result<npy::Array> read = npy::Read(**path);
    if (!read.ok()) return read.status();
    *array = std::move(*read);
  }
  const AttentionShape& shape = arrays.shape;
  Status s;
  if (arrays.mask) s = CheckOverScores(*paths.mask, *arrays.mask, DataType::kBool, shape);
  if (s.ok() && arrays.bias) {
    s = CheckOverScores(*paths.bias, *arrays.bias, DataType::kF32, shape);
  }
  if (s.ok() && arrays.alibi) s = CheckPerHead(*paths.alibi, *arrays.alibi, shape.heads);
  if (s.ok() && arrays.sinks) s = CheckPerHead(*paths.sinks, *arrays.sinks, shape.heads);
  return s;
}

}  // namespace

std::vector<int64_t> InputArrays::OutShape() const {
  std::vector<int64_t> sizes = q.shape;
  sizes.back() = shape.value_dim;
  return sizes;
}

std::vector<int64_t> InputArrays::LseShape() const { return {q.shape.begin(), q.shape.end() - 1}; }

std::vector<int64_t> InputArrays::WeightsShape() const {
  std::vector<int64_t> sizes = q.shape;
  sizes.back() = shape.keys;
  return sizes;
}

AttentionTensors InputArrays::Tensors() const {
  AttentionTensors tensors;
  tensors.q = InputView(q);
  tensors.k = InputView(k);
  tensors.v = InputView(v);
  if (mask) tensors.mask = InputView(*mask);
  if (bias) tensors.bias = InputView(*bias);
  if (alibi) tensors.alibi_slopes = {alibi->floats(), alibi->ElementCount()};
  if (sinks) tensors.sinks = {sinks->floats(), sinks->ElementCount()};
  score.AddTo(tensors);
  return tensors;
}

void InputArrays::ApplyTo(AttentionOptions& options) const noexcept {
  options.mask = mask.has_value();
  options.bias = bias.has_value();
  options.alibi_slopes = alibi.has_value();
  options.sinks = sinks.has_value();
  score.ApplyTo(options);
}

Result<InputArrays> ReadInputs(const InputPaths& paths, const InputTypes& types) {
  InputArrays arrays;
  const std::pair<const std::string*, npy::Array*> files[] = {
      {&paths.q, &arrays.q}, {&paths.k, &arrays.k}, {&paths.v, &arrays.v}};
  for (const auto& [path, array] : files) {
    Result<npy::Array> read = npy::Read(*path);
    if (!read.ok()) return read.status();
    *array = std::move(*read);
  }
  const NamedArray q = {"--q", paths.q, arrays.q};
  const NamedArray k = {"--k", paths.k, arrays.k};
  const NamedArray v = {"--v", paths.v, arrays.v};
  for (const NamedArray& input : {q, k, v}) {
    if (Status s = CheckAlone(input); !s.ok()) return s;
  }
  if (Status s = CheckAgainst(q, k, {{0, "batch"}}); !s.ok()) return s;
  if (!HasWeights(paths.score)) {
    if (Status s = CheckAgainst(q, k, {{3, "dim"}}); !s.ok()) return s;
  }
  if (Status s = CheckAgainst(k, v, {{0, "batch"}, {1, "heads"}, {2, "keys"}}); !s.ok()) return s;
  const std::pair<npy::Array*, std::optional<DataType>> conversions[] = {
      {&arrays.q, types.q}, {&arrays.k, types.kv}, {&arrays.v, types.kv}};
  for (const auto& [array, type] : conversions) {
    Result<npy::Array> converted = Converted(std::move(*array), type.value_or(array->type));
    if (!converted.ok()) return converted.status();
    *array = std::move(*converted);
  }
  arrays.rank = arrays.q.shape.size();
  arrays.shape = ShapeOf(arrays);
  if (Status s = ReadOthers(paths, arrays); !s.ok()) return s;
  Result<ScoreArrays> score = ReadScoreArrays(paths.score, arrays.shape);
  if (!score.ok()) return score.status();
  arrays.score = std::move(*score);
  return arrays;
}

ConstTensor InputView(const npy::Array& array) {
  Sizes sizes = {1, 1, 1, 1};
  std::copy(array.shape.rbegin(), array.shape.rend(), sizes.rbegin());
  return {array.data.data(), array.type, sizes};
}

Tensor OutputView(npy::Array& array, const Sizes& sizes) {
  return {array.data.data(), array.type, sizes};
}

}  // namespace lanewise::tools
