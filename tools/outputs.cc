// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Output files.

#include "tools/outputs.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/core/sizes.h"
#include "tools/command.h"
#include "tools/converted.h"

namespace lanewise::tools {
namespace {

// Whether two names lead to the same file, existing or not.
bool SameFile(const std::string& a, const std::string& b) {
  const auto full = [](const std::string& path) {
    std::error_code error;
    // A relative path of which nothing exists would stay as it is.
    const std::filesystem::path absolute = std::filesystem::absolute(EndOfLinks(path), error);
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
    return error ? absolute : canonical;
  };
  return full(a) == full(b);
}

Result<Output> CreateOutput(const char* flag, const std::string& path, std::vector<int64_t> shape,
                            DataType type = DataType::kF32) {
  Result<PendingFile> file = PendingFile::Create(path);
  if (!file.ok()) return OfFlag(flag, file.status());
  // Queries times keys may be more than any memory, although q and k are in memory.
  std::optional<int64_t> bytes = sizeof(float);
  for (const int64_t size : shape) bytes = bytes ? core::CheckedProduct({*bytes, size}) : bytes;
  if (!bytes) return Status::OutOfMemory();
  return Output{flag, std::move(*file), npy::Array::Zeros(std::move(shape), type)};
}

}  // namespace

Status CheckDistinct(const OutputPaths& paths) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--out", &paths.out},
      {"--lse", paths.lse ? &*paths.lse : nullptr},
      {"--weights", paths.weights ? &*paths.weights : nullptr}};
  for (const auto& file : files) {
    for (const auto* other = files; other != &file; ++other) {
      if (file.second == nullptr || other->second == nullptr) continue;
      if (!SameFile(*file.second, *other->second)) continue;
      return Status::InvalidArgument(
          fmt::format("{}: found the file of {} ({}), expected another one", file.first,
                      other->first, *other->second));
    }
  }
  return {};
}

Result<Outputs> Outputs::Create(const OutputPaths& paths, const InputArrays& inputs) {
  Result<Output> out = CreateOutput("--out", paths.out, inputs.OutShape(), inputs.shape.out_type);
  if (!out.ok()) return out.status();
  Outputs outputs(std::move(*out));
  if (paths.lse) {
    Result<Output> lse = CreateOutput("--lse", *paths.lse, inputs.LseShape());
    if (!lse.ok()) return lse.status();
    outputs.lse_ = std::move(*lse);
  }
  if (paths.weights) {
    Result<Output> weights = CreateOutput("--weights", *paths.weights, inputs.WeightsShape());
    if (!weights.ok()) return weights.status();
    outputs.weights_ = std::move(*weights);
  }
  return outputs;
}

void Outputs::AddTo(const AttentionShape& shape, AttentionTensors& tensors) {
  const auto view = [&shape](Output& output, int64_t columns) {
    return OutputView(output.array, {shape.batch, shape.heads, shape.queries, columns});
  };
  tensors.out = view(out_, shape.value_dim);
  if (lse_) tensors.lse = view(*lse_, 1);
  if (weights_) tensors.weights = view(*weights_, shape.keys);
}

std::vector<Output*> Outputs::All() {
  std::vector<Output*> all = {&out_};
  if (lse_) all.push_back(&*lse_);
  if (weights_) all.push_back(&*weights_);
  return all;
}

Status Outputs::Write() {
  for (Output* output : All()) {
    const DataType type = output->array.type;
    const Result<npy::Array> stored =
        Converted(std::move(output->array), npy::ElementBytes(type) == 0 ? DataType::kF32 : type);
    if (!stored.ok()) return stored.status();
    if (Status s = npy::WriteTo(output->file, *stored); !s.ok()) return OfFlag(output->flag, s);
  }
  return {};
}

Status Outputs::Commit() {
  std::vector<PendingFile*> files;
  for (Output* output : All()) files.push_back(&output->file);
  return PendingFile::Commit(files);
}

}  // namespace lanewise::tools
