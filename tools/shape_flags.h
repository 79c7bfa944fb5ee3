// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags that several subcommands take: the options of attention, which arrays a call has, where to
// run, and sizes.

#ifndef LANEWISE_TOOLS_SHAPE_FLAGS_H_
#define LANEWISE_TOOLS_SHAPE_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/runtime.h"

namespace lanewise::tools {

// --score --bandwidth --scale --causal --top-left --query-offset --radius --window --softcap
// --kv-len --q-offsets --k-offsets: what can be said without an array. The object outlives the
// parse.
class OptionFlags {
 public:
  void AddTo(CLI::App& app);

  // The options as given; those that stand for other arrays are false.
  AttentionOptions options() const noexcept;

  // The numbers of --kv-len; empty without it.
  const std::vector<int64_t>& kv_len() const noexcept { return kv_len_; }

  // kInvalidArgument for a --kv-len that does not fit `shape`.
  Status CheckKvLen(const AttentionShape& shape) const;

  // The numbers of --q-offsets and --k-offsets; empty without them. With them batches are ragged.
  const std::vector<int64_t>& q_offsets() const noexcept { return q_offsets_; }
  const std::vector<int64_t>& k_offsets() const noexcept { return k_offsets_; }

  // kInvalidArgument for offsets of different numbers of sequences.
  Status CheckOffsetCounts() const;

  // kInvalidArgument for these, and for offsets that do not fit `shape`, whose batch counts
  // sequences.
  Status CheckOffsets(const AttentionShape& shape) const;

  // Whether any of the flags was on the command line.
  bool given() const noexcept;

 private:
  AttentionOptions options_;
  bool has_score_ = false;
  std::optional<AttentionWindow> window_;
  std::optional<int64_t> radius_;
  std::vector<int64_t> kv_len_;
  std::vector<int64_t> q_offsets_, k_offsets_;
};

// Makes the flags of arrays that no ragged batch has exclude --q-offsets, once all are added.
void ExcludeFromRagged(CLI::App& app);

// --mask --bias --alibi --sinks --wq --wk --lse --weights as switches, for subcommands that read no
// files. The object outlives the parse.
class ArrayFlags {
 public:
  void AddTo(CLI::App& app);

  // Sets the options of the arrays that were asked for.
  void ApplyTo(AttentionOptions& options) const noexcept;

  // Whether any of the flags was on the command line.
  bool given() const noexcept;

 private:
  bool mask_ = false, bias_ = false, alibi_ = false, sinks_ = false, lse_ = false, weights_ = false;
  bool wq_ = false, wk_ = false;
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

// Adds `--flag TYPE` for f32, f16 or bf16.
CLI::Option* AddType(CLI::App& app, const std::string& flag, std::optional<DataType>& type,
                     const std::string& description);

// --batch --heads --kv-heads --queries --keys --dim --value-dim --key-dim --hidden --type
// --kv-type. The object outlives the parse.
class ShapeFlags {
 public:
  void AddTo(CLI::App& app);

  // Whether any of the flags was on the command line.
  bool given() const noexcept;

  // The shape with its defaults: batch and heads 1, kv_heads as heads, keys as queries, value_dim
  // as dim, type f32 and kv_type as type; of a ragged batch, batch, queries and keys as the offsets
  // of `options` say. kInvalidArgument when --queries or --dim is missing, and for offsets or
  // lengths of `options` that do not fit.
  Result<AttentionShape> shape(const OptionFlags& options) const;

 private:
  std::optional<int64_t> batch_, heads_, kv_heads_, queries_, keys_, dim_, value_dim_;
  std::optional<int64_t> key_dim_, hidden_;
  std::optional<DataType> type_, kv_type_;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_SHAPE_FLAGS_H_
