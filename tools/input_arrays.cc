// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Files into one shape.

#include "tools/input_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tools/command.h"
#include "tools/converted.h"

namespace lanewise::tools {
namespace {

constexpr DataType kFloats[] = {DataType::kF32, DataType::kF16};

// A file by its flag, for messages.
struct NamedArray {
  const char* flag;
  const std::string& path;
  const npy::Array& array;

  // "--q: q.npy: shape (9, 8)"
  std::string Found() const {
    return fmt::format("{}: {}: shape {}", flag, path, npy::ShapeString(array.shape));
  }
};

Status CheckRank(const NamedArray& input) {
  const size_t rank = input.array.shape.size();
  if (rank >= 2 && rank <= 4) return {};
  return Status::InvalidArgument(fmt::format(
      "{}, expected rank 2 [n, d], 3 [heads, n, d] or 4 [batch, heads, n, d]", input.Found()));
}

// Whether `input` agrees with `other` in the sizes `axes` of rank 4.
Status CheckAgainst(const NamedArray& other, const NamedArray& input,
                    std::initializer_list<std::pair<size_t, const char*>> axes) {
  if (input.array.shape.size() != other.array.shape.size()) {
    return Status::InvalidArgument(fmt::format(
        "{} has rank {}, expected rank {} as in {} {}", input.Found(), input.array.shape.size(),
        other.array.shape.size(), other.flag, npy::ShapeString(other.array.shape)));
  }
  const Sizes expected = InputView(other.array).sizes;
  const Sizes found = InputView(input.array).sizes;
  for (const auto& [axis, name] : axes) {
    if (found[axis] == expected[axis]) continue;
    return Status::InvalidArgument(fmt::format("{} has {} {}, expected {} as in {} {}",
                                               input.Found(), name, found[axis], expected[axis],
                                               other.flag, npy::ShapeString(other.array.shape)));
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

// Whether the heads of `q` share those of `k` evenly.
Status CheckHeads(const NamedArray& q, const NamedArray& k) {
  const int64_t heads = InputView(q.array).sizes[1];
  const int64_t kv_heads = InputView(k.array).sizes[1];
  if (kv_heads == 0 ? heads == 0 : heads % kv_heads == 0) return {};
  return Status::InvalidArgument(
      fmt::format("{} has heads {}, expected a divisor of {} as in {} {}", k.Found(), kv_heads,
                  heads, q.flag, npy::ShapeString(q.array.shape)));
}

// An array over the scores, with axes that broadcast.
Status CheckOverScores(const NamedArray& input, const AttentionShape& shape) {
  const size_t rank = input.array.shape.size();
  if (rank != 2 && rank != 4) {
    return Status::InvalidArgument(fmt::format(
        "{}, expected rank 2 [queries, keys] or 4 [batch, heads, queries, keys]", input.Found()));
  }
  std::vector<int64_t> expected = {shape.batch, shape.heads, shape.queries, shape.keys};
  if (rank == 2) expected.erase(expected.begin(), expected.begin() + 2);
  for (size_t axis = 0; axis < rank; ++axis) {
    if (input.array.shape[axis] == expected[axis] || input.array.shape[axis] == 1) continue;
    return Status::InvalidArgument(fmt::format("{}, expected {}; a size of 1 broadcasts",
                                               input.Found(), npy::ShapeString(expected)));
  }
  return {};
}

Status CheckPerHead(const NamedArray& input, const AttentionShape& shape) {
  const std::vector<int64_t> expected = {shape.heads};
  if (input.array.shape == expected) return {};
  return Status::InvalidArgument(fmt::format("{}, expected {}, one number for each head",
                                             input.Found(), npy::ShapeString(expected)));
}

// Reads what comes beside q, k and v, whose shape is known.
Status ReadOthers(const InputPaths& paths, InputArrays& arrays) {
  const struct {
    const char* flag;
    const std::optional<std::string>& path;
    DataType type;
    Status (*check)(const NamedArray& input, const AttentionShape& shape);
    std::optional<npy::Array>& array;
  } files[] = {{"--mask", paths.mask, DataType::kBool, CheckOverScores, arrays.mask},
               {"--bias", paths.bias, DataType::kF32, CheckOverScores, arrays.bias},
               {"--alibi", paths.alibi, DataType::kF32, CheckPerHead, arrays.alibi},
               {"--sinks", paths.sinks, DataType::kF32, CheckPerHead, arrays.sinks}};
  for (const auto& file : files) {
    if (!file.path) continue;
    Result<npy::Array> read = npy::Read(*file.path, {&file.type, 1});
    if (!read.ok()) return OfFlag(file.flag, read.status());
    if (Status s = file.check({file.flag, *file.path, *read}, arrays.shape); !s.ok()) return s;
    file.array = std::move(*read);
  }
  return {};
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
  const struct {
    const char* flag;
    const std::string& path;
    npy::Array& array;
  } files[] = {{"--q", paths.q, arrays.q}, {"--k", paths.k, arrays.k}, {"--v", paths.v, arrays.v}};
  for (const auto& file : files) {
    Result<npy::Array> read = npy::Read(file.path, kFloats);
    if (!read.ok()) return OfFlag(file.flag, read.status());
    file.array = std::move(*read);
  }
  const NamedArray q = {"--q", paths.q, arrays.q};
  const NamedArray k = {"--k", paths.k, arrays.k};
  const NamedArray v = {"--v", paths.v, arrays.v};
  for (const NamedArray& input : {q, k, v}) {
    if (Status s = CheckRank(input); !s.ok()) return s;
  }
  if (Status s = CheckAgainst(q, k, {{0, "batch"}}); !s.ok()) return s;
  if (!HasWeights(paths.score)) {
    if (Status s = CheckAgainst(q, k, {{3, "dim"}}); !s.ok()) return s;
  }
  if (Status s = CheckAgainst(k, v, {{0, "batch"}, {1, "heads"}, {2, "keys"}}); !s.ok()) return s;
  if (Status s = CheckHeads(q, k); !s.ok()) return s;
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
