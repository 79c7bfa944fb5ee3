// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags that several subcommands take: the options of attention, where to run, and sizes.

#ifndef LANEWISE_TOOLS_SHAPE_FLAGS_H_
#define LANEWISE_TOOLS_SHAPE_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "lanewise/attention.h"
#include "lanewise/runtime.h"

namespace lanewise::tools {

// --scale --causal --top-left --query-offset. The object outlives the parse.
class OptionFlags {
 public:
  void AddTo(CLI::App& app);

  // The options as given; `lse` is false.
  const AttentionOptions& options() const noexcept { return options_; }

  // Whether any of the flags was on the command line.
  bool given() const noexcept;

 private:
  AttentionOptions options_;
};

// --threads --target, over DefaultRuntime(). The object outlives the parse.
class RuntimeFlags {
 public:
  void AddTo(CLI::App& app);

  Runtime runtime() const;

 private:
  std::optional<int64_t> threads_;
  std::optional<std::string> target_;
};

// --batch --heads --kv-heads --queries --keys --dim --value-dim --type. The object outlives the
// parse.
class ShapeFlags {
 public:
  void AddTo(CLI::App& app);

  // Whether any of the flags was on the command line.
  bool given() const noexcept;

  // The shape with its defaults: batch and heads 1, kv_heads as heads, keys as queries, value_dim
  // as dim, f32. kInvalidArgument when --queries or --dim is missing.
  Result<AttentionShape> shape() const;

 private:
  std::optional<int64_t> batch_, heads_, kv_heads_, queries_, keys_, dim_, value_dim_;
  std::optional<DataType> type_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_SHAPE_FLAGS_H_
