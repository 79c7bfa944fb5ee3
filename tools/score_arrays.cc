// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/score_arrays.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "src/attention/score.h"
#include "tools/command.h"

namespace lanewise::tools {
namespace {

ConstTensor MatrixView(const npy::Array& array) {
  return {array.data.data(), array.type, {1, 1, array.shape[0], array.shape[1]}};
}

// Reads `path`, if there is one, into `array`. `expected` is its shape; a size below 0 may be any.
Status ReadParameter(const char* flag, const std::optional<std::string>& path,
                     const std::vector<int64_t>& expected, const char* axes,
                     std::optional<npy::Array>& array) {
  if (!path) return {};
  constexpr DataType kType[] = {DataType::kF32};
  Result<npy::Array> read = npy::Read(*path, kType);
  if (!read.ok()) return OfFlag(flag, read.status());
  bool fits = read->shape.size() == expected.size();
  for (size_t axis = 0; fits && axis < expected.size(); ++axis) {
    fits = expected[axis] < 0 || read->shape[axis] == expected[axis];
  }
  if (!fits) {
    const bool any = expected[0] < 0;
    return Status::InvalidArgument(fmt::format("{}: {}: shape {}, expected {}{}", flag, *path,
                                               npy::ShapeString(read->shape), axes,
                                               any ? "" : " = " + npy::ShapeString(expected)));
  }
  array = std::move(*read);
  return {};
}

}  // namespace

Status CheckScoreFlags(const AttentionOptions& options, const ScorePaths& paths) {
  const AttentionScore score = options.score;
  const struct {
    const char* flag;
    bool given;
    AttentionScore of;
    bool required;
  } flags[] = {{"--w", paths.w.has_value(), AttentionScore::kBilinear, true},
               {"--wq", paths.wq.has_value(), AttentionScore::kAdditive, false},
               {"--wk", paths.wk.has_value(), AttentionScore::kAdditive, false},
               {"--w-out", paths.w_out.has_value(), AttentionScore::kAdditive, true},
               {"--bandwidth", options.bandwidth.has_value(), AttentionScore::kGaussian, true}};
  for (const auto& flag : flags) {
    if (flag.given && score != flag.of) {
      return Status::InvalidArgument(fmt::format("{}: found with --score {}, expected --score {}",
                                                 flag.flag, attention::ScoreName(score),
                                                 attention::ScoreName(flag.of)));
    }
    if (!flag.given && flag.required && score == flag.of) {
      return Status::InvalidArgument(
          fmt::format("{} is required with --score {}", flag.flag, attention::ScoreName(score)));
    }
  }
  if (options.scale && score == AttentionScore::kGaussian) {
    return Status::InvalidArgument(
        "--scale: found with --score gaussian, expected --bandwidth alone");
  }
  return {};
}

void ScoreArrays::ApplyTo(AttentionOptions& options) const noexcept {
  options.wq = wq.has_value();
  options.wk = wk.has_value();
}

void ScoreArrays::AddTo(AttentionTensors& tensors) const {
  if (w) tensors.w = MatrixView(*w);
  if (wq) tensors.wq = MatrixView(*wq);
  if (wk) tensors.wk = MatrixView(*wk);
  if (w_out) tensors.w_out = {w_out->floats(), w_out->ElementCount()};
}

Result<ScoreArrays> ReadScoreArrays(const ScorePaths& paths, AttentionShape& shape) {
  ScoreArrays arrays;
  Status s = ReadParameter("--w-out", paths.w_out, {-1}, "[hidden]", arrays.w_out);
  if (s.ok() && arrays.w_out) shape.hidden = arrays.w_out->shape[0];
  if (s.ok())
    s = ReadParameter("--w", paths.w, {shape.dim, shape.key_dim}, "[dim, key_dim]", arrays.w);
  if (s.ok())
    s = ReadParameter("--wq", paths.wq, {shape.hidden, shape.dim}, "[hidden, dim]", arrays.wq);
  if (s.ok()) {
    s = ReadParameter("--wk", paths.wk, {shape.hidden, shape.key_dim}, "[hidden, key_dim]",
                      arrays.wk);
  }
  if (!s.ok()) return s;
  return arrays;
}

}  // namespace lanewise::tools
