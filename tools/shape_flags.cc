// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags into shapes, options and runtimes.

#include "tools/shape_flags.h"

#include <fmt/format.h>

#include <string>

#include "src/machine/targets.h"
#include "tools/command.h"

namespace lanewise::tools {
namespace {

constexpr IntRange kSizes = {0};
// The plan's own limit.
constexpr IntRange kThreads = {1, 4096};

std::optional<DataType> TypeFrom(const std::string& name) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    if (name == DataTypeName(type)) return type;
  }
  return std::nullopt;
}

}  // namespace

void OptionFlags::AddTo(CLI::App& app) {
  AddFloat(app, "--scale", options_.scale, "Factor of q·k (default: 1/sqrt(dim))");
  app.add_flag("--causal", options_.causal,
               "Query i sees key j only if j <= i + keys - queries, the last query every key");
  CLI::Option* top_left =
      app.add_flag("--top-left", options_.top_left, "With --causal: j <= i instead");
  AddInt(app, "--query-offset", options_.query_offset, "With --causal: j <= i + N instead")
      ->excludes(top_left);
}

bool OptionFlags::given() const noexcept {
  return options_.scale || options_.causal || options_.top_left || options_.query_offset;
}

void RuntimeFlags::AddTo(CLI::App& app) {
  AddInt(app, "--threads", threads_, "Threads to use (default: as `lanewise info` shows)",
         kThreads);
  const auto store = [this](const std::string& name) {
    target_ = name;
    // A target that exists but cannot run here is a failure of the plan, not of the command line.
    const Status status = machine::FindTarget(name).status();
    if (name.empty() || status.code() == StatusCode::kInvalidArgument) {
      throw CLI::ValidationError(
          "--target", name.empty() ? "found \"\", expected a target name" : status.message());
    }
  };
  app.add_option_function<std::string>("--target", store,
                                       "SIMD target, one of `lanewise info` (default: the best)")
      ->type_name("NAME");
}

Runtime RuntimeFlags::runtime() const {
  Runtime runtime = DefaultRuntime();
  if (threads_) runtime.threads = static_cast<int>(*threads_);
  if (target_) runtime.target = *target_;
  return runtime;
}

void ShapeFlags::AddTo(CLI::App& app) {
  AddInt(app, "--batch", batch_, "Batch size (default: 1)", kSizes);
  AddInt(app, "--heads", heads_, "Query heads (default: 1)", kSizes);
  AddInt(app, "--kv-heads", kv_heads_, "Key and value heads (default: as --heads)", kSizes);
  AddInt(app, "--queries", queries_, "Queries a head", kSizes);
  AddInt(app, "--keys", keys_, "Keys a head (default: as --queries)", kSizes);
  AddInt(app, "--dim", dim_, "Length of a query and key", {1});
  AddInt(app, "--value-dim", value_dim_, "Length of a value (default: as --dim)", kSizes);
  const auto store = [this](const std::string& name) {
    type_ = TypeFrom(name);
    if (!type_) {
      throw CLI::ValidationError("--type",
                                 fmt::format("found \"{}\", expected f32, f16 or bf16", name));
    }
  };
  app.add_option_function<std::string>("--type", store, "f32, f16 or bf16 (default: f32)")
      ->type_name("TYPE");
}

bool ShapeFlags::given() const noexcept {
  return batch_ || heads_ || kv_heads_ || queries_ || keys_ || dim_ || value_dim_ || type_;
}

Result<AttentionShape> ShapeFlags::shape() const {
  if (!queries_ || !dim_) {
    return Status::InvalidArgument(fmt::format("{} is required", queries_ ? "--dim" : "--queries"));
  }
  AttentionShape shape;
  shape.batch = batch_.value_or(1);
  shape.heads = heads_.value_or(1);
  shape.kv_heads = kv_heads_.value_or(shape.heads);
  shape.queries = *queries_;
  shape.keys = keys_.value_or(shape.queries);
  shape.dim = *dim_;
  shape.value_dim = value_dim_.value_or(shape.dim);
  const DataType type = type_.value_or(DataType::kF32);
  shape.q_type = type;
  shape.k_type = type;
  shape.v_type = type;
  shape.out_type = type;
  return shape;
}

}  // namespace lanewise::tools
