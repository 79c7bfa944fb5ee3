// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags into shapes, options and runtimes.

#include "tools/shape_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "src/attention/score.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"
#include "tools/flags.h"

namespace lanewise::tools {
namespace {

constexpr IntRange kSizes = {0};
constexpr IntRange kThreads = {1, parallel::kMaxThreads};

std::optional<AttentionScore> ScoreFrom(const std::string& name) {
  for (const AttentionScore score : {AttentionScore::kDot, AttentionScore::kBilinear,
                                     AttentionScore::kAdditive, AttentionScore::kGaussian}) {
    if (name == attention::ScoreName(score)) return score;
  }
  return std::nullopt;
}

std::optional<DataType> TypeFrom(const std::string& name) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    if (name == DataTypeName(type)) return type;
  }
  return std::nullopt;
}

}  // namespace

void OptionFlags::AddTo(CLI::App& app) {
  const auto store_score = [this](const std::string& name) {
    const std::optional<AttentionScore> score = ScoreFrom(name);
    if (!score) {
      throw CLI::ValidationError(
          "--score",
          fmt::format("found \"{}\", expected dot, bilinear, additive or gaussian", name));
    }
    options_.score = *score;
    has_score_ = true;
  };
  app.add_option_function<std::string>("--score", store_score,
                                       "dot, bilinear, additive or gaussian (default: dot)")
      ->type_name("NAME");
  AddFloat(app, "--bandwidth", options_.bandwidth, "Of gaussian scores, -|q-k|²/(2X²)",
           attention::kSmallestBandwidth);
  AddFloat(app, "--scale", options_.scale,
           "Factor of the score (default: 1/sqrt(dim) for dot, 1 for bilinear and additive)");
  app.add_flag("--causal", options_.causal,
               "Query i sees key j only if j <= its position, i + keys - queries");
  CLI::Option* top_left =
      app.add_flag("--top-left", options_.top_left,
                   "Position i instead: the first query stands at the first key");
  AddInt(app, "--query-offset", options_.query_offset, "Position i + N instead")
      ->excludes(top_left);
  const auto store_window = [this](const std::vector<int64_t>& sides) {
    if (sides.size() != 2) return false;
    window_ = {sides[0], sides[1]};
    return sides[0] >= kUnlimited && sides[1] >= kUnlimited;
  };
  CLI::Option* window =
      AddIntList(app, "--window", store_window, "two numbers L,R, each a count of keys or -1",
                 "Keys seen left and right of a query's position, inclusive; -1: no limit")
          ->type_name("L,R");
  AddInt(app, "--radius", radius_, "The same on both sides: 2N+1 keys", kSizes)->excludes(window);
  AddFloat(app, "--softcap", options_.softcap, "Bound scores to (-X, X); 0: off", 0.0f);
  const auto store_kv_len = [this](const std::vector<int64_t>& lengths) {
    kv_len_ = lengths;
    options_.kv_len = true;
    return *std::min_element(lengths.begin(), lengths.end()) >= 0;
  };
  AddIntList(app, "--kv-len", store_kv_len, "whole numbers of at least 0, with commas between them",
             "Valid keys of each batch item; positions count from their end")
      ->type_name("N,...");
  const auto add_offsets = [&](const char* flag, std::vector<int64_t>& offsets, const char* rows) {
    const auto store = [this, &offsets](const std::vector<int64_t>& numbers) {
      offsets = numbers;
      options_.ragged = true;
      return numbers.front() == 0 && std::is_sorted(numbers.begin(), numbers.end());
    };
    return AddIntList(app, flag, store,
                      "whole numbers from 0 on that never decrease, with commas between them",
                      fmt::format("Ragged batch: where the {} of each sequence begin, and where "
                                  "the last ends",
                                  rows))
        ->type_name("0,N,...");
  };
  CLI::Option* q_offsets = add_offsets("--q-offsets", q_offsets_, "queries");
  CLI::Option* k_offsets = add_offsets("--k-offsets", k_offsets_, "keys");
  q_offsets->needs(k_offsets);
  k_offsets->needs(q_offsets);
}

AttentionOptions OptionFlags::options() const noexcept {
  AttentionOptions options = options_;
  if (window_) options.window = *window_;
  if (radius_) options.window = AttentionWindow::Radius(*radius_);
  return options;
}

Status OptionFlags::CheckKvLen(const AttentionShape& shape) const {
  if (!options_.kv_len) return {};
  if (static_cast<int64_t>(kv_len_.size()) != shape.batch) {
    return Status::InvalidArgument(
        fmt::format("--kv-len: found {} number{}, expected {}, one for each batch item",
                    kv_len_.size(), kv_len_.size() == 1 ? "" : "s", shape.batch));
  }
  for (const int64_t length : kv_len_) {
    if (length > shape.keys) {
      return Status::InvalidArgument(fmt::format(
          "--kv-len: found {}, expected at most {}, the number of keys", length, shape.keys));
    }
  }
  return {};
}

Status OptionFlags::CheckOffsetCounts() const {
  if (k_offsets_.size() == q_offsets_.size()) return {};
  return Status::InvalidArgument(
      fmt::format("--k-offsets: found {} number{}, expected {} as of --q-offsets",
                  k_offsets_.size(), k_offsets_.size() == 1 ? "" : "s", q_offsets_.size()));
}

Status OptionFlags::CheckOffsets(const AttentionShape& shape) const {
  if (!options_.ragged) return {};
  if (Status s = CheckOffsetCounts(); !s.ok()) return s;
  const auto sequences = static_cast<int64_t>(q_offsets_.size()) - 1;
  if (shape.batch != sequences) {
    return Status::InvalidArgument(fmt::format(
        "--batch: found {}, expected {}, the sequences of --q-offsets", shape.batch, sequences));
  }
  const struct {
    const char* flag;
    int64_t found;
    int64_t expected;
    const char* rows;
  } ends[] = {{"--q-offsets", q_offsets_.back(), shape.queries, "queries"},
              {"--k-offsets", k_offsets_.back(), shape.keys, "keys"}};
  for (const auto& end : ends) {
    if (end.found == end.expected) continue;
    return Status::InvalidArgument(
        fmt::format("{}: found {} at the end, expected {}, the number of "
                    "{}",
                    end.flag, end.found, end.expected, end.rows));
  }
  return {};
}

bool OptionFlags::given() const noexcept {
  return has_score_ || options_.bandwidth || options_.scale || options_.causal ||
         options_.top_left || options_.query_offset || window_ || radius_ || options_.softcap ||
         options_.kv_len || options_.ragged;
}

void ExcludeFromRagged(CLI::App& app) {
  CLI::Option* ragged = app.get_option("--q-offsets");
  for (const char* flag : {"--mask", "--bias", "--weights", "--kv-len"}) {
    app.get_option(flag)->excludes(ragged);
  }
}

void ArrayFlags::AddTo(CLI::App& app) {
  app.add_flag("--mask", mask_, "With a mask for all heads, which `bench` makes all true");
  app.add_flag("--bias", bias_, "With a bias for all heads");
  app.add_flag("--alibi", alibi_, "With a slope for each head, 2^(-8(h+1)/heads)");
  app.add_flag("--sinks", sinks_, "With a sink for each head");
  app.add_flag("--wq", wq_, "With additive scores' projection of queries");
  app.add_flag("--wk", wk_, "With additive scores' projection of keys");
  app.add_flag("--lse", lse_, "With the log-sum-exp of each row");
  app.add_flag("--weights", weights_, "With the weights as an output");
}

void ArrayFlags::ApplyTo(AttentionOptions& options) const noexcept {
  options.mask = mask_;
  options.bias = bias_;
  options.alibi_slopes = alibi_;
  options.sinks = sinks_;
  options.wq = wq_;
  options.wk = wk_;
  options.lse = lse_;
  options.weights = weights_;
}

bool ArrayFlags::given() const noexcept {
  return mask_ || bias_ || alibi_ || sinks_ || wq_ || wk_ || lse_ || weights_;
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

CLI::Option* AddType(CLI::App& app, const std::string& flag, std::optional<DataType>& type,
                     const std::string& description) {
  const auto store = [&type, flag](const std::string& name) {
    type = TypeFrom(name);
    if (!type) {
      throw CLI::ValidationError(flag,
                                 fmt::format("found \"{}\", expected f32, f16 or bf16", name));
    }
  };
  return app.add_option_function<std::string>(flag, store, description)->type_name("TYPE");
}

void ShapeFlags::AddTo(CLI::App& app) {
  AddInt(app, "--batch", batch_, "Batch size (default: 1)", kSizes);
  AddInt(app, "--heads", heads_, "Query heads (default: 1)", kSizes);
  AddInt(app, "--kv-heads", kv_heads_, "Key and value heads (default: as --heads)", kSizes);
  AddInt(app, "--queries", queries_, "Queries a head", kSizes);
  AddInt(app, "--keys", keys_, "Keys a head (default: as --queries)", kSizes);
  AddInt(app, "--dim", dim_, "Length of a query", {1});
  AddInt(app, "--value-dim", value_dim_, "Length of a value (default: as --dim)", kSizes);
  AddInt(app, "--key-dim", key_dim_, "Length of a key (default: as --dim)", {1});
  AddInt(app, "--hidden", hidden_,
         "Length of projected rows of additive scores (default: as --dim)", {1});
  AddType(app, "--type", type_, "f32, f16 or bf16 (default: f32)");
  AddType(app, "--kv-type", kv_type_, "Type of keys and values (default: as --type)");
}

bool ShapeFlags::given() const noexcept {
  return batch_ || heads_ || kv_heads_ || queries_ || keys_ || dim_ || value_dim_ || key_dim_ ||
         hidden_ || type_ || kv_type_;
}

Result<AttentionShape> ShapeFlags::shape(const OptionFlags& options) const {
  const std::vector<int64_t>& q_offsets = options.q_offsets();
  const bool ragged = !q_offsets.empty();
  if ((!queries_ && !ragged) || !dim_) {
    return Status::InvalidArgument(
        fmt::format("{} is required", queries_ || ragged ? "--dim" : "--queries"));
  }
  AttentionShape shape;
  shape.batch = batch_.value_or(ragged ? static_cast<int64_t>(q_offsets.size()) - 1 : 1);
  shape.heads = heads_.value_or(1);
  shape.kv_heads = kv_heads_.value_or(shape.heads);
  shape.queries = queries_ ? *queries_ : q_offsets.back();
  shape.keys = keys_.value_or(ragged ? options.k_offsets().back() : shape.queries);
  shape.dim = *dim_;
  shape.value_dim = value_dim_.value_or(shape.dim);
  shape.key_dim = key_dim_.value_or(0);
  shape.hidden = hidden_.value_or(0);
  shape.q_type = shape.out_type = type_.value_or(DataType::kF32);
  shape.k_type = shape.v_type = kv_type_.value_or(shape.q_type);
  if (Status s = options.CheckKvLen(shape); !s.ok()) return s;
  if (Status s = options.CheckOffsets(shape); !s.ok()) return s;
  return shape;
}

}  // namespace lanewise::tools
