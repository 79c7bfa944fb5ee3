// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What can be wrong with a shape and its options.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "src/attention/check.h"
#include "src/attention/score.h"
#include "src/core/sizes.h"
#include "src/core/tensor_check.h"

namespace lanewise::attention {
namespace {

// `shape` with the sizes that its score completes.
Status CheckSizes(const AttentionShape& shape, const AttentionOptions& options) {
  const struct {
    const char* name;
    int64_t value;
    int64_t smallest;
  } sizes[] = {{"batch", shape.batch, 0},         {"heads", shape.heads, 0},
               {"kv_heads", shape.kv_heads, 0},   {"queries", shape.queries, 0},
               {"keys", shape.keys, 0},           {"dim", shape.dim, 1},
               {"value_dim", shape.value_dim, 0}, {"key_dim", shape.key_dim, 0},
               {"hidden", shape.hidden, 0}};
  for (const auto& size : sizes) {
    if (size.value < size.smallest) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected at least {}", size.name, size.value, size.smallest));
    }
  }
  if (shape.kv_heads == 0 ? shape.heads != 0 : shape.heads % shape.kv_heads != 0) {
    return Status::InvalidArgument(fmt::format(
        "kv_heads: found {}, expected a divisor of heads ({})", shape.kv_heads, shape.heads));
  }
  // Sizes beside one of 0 have to fit, too: plans count rows, pairs and scratch by some of them.
  const auto bytes = [](std::initializer_list<int64_t> factors) {
    std::optional<int64_t> product = 4;
    for (const int64_t factor : factors) {
      if (product) product = core::CheckedProduct({*product, std::max<int64_t>(factor, 1)});
    }
    return product;
  };
  const struct {
    const char* name;
    std::optional<int64_t> bytes;
  } arrays[] = {
      {"q", bytes({shape.batch, shape.heads, shape.queries, shape.dim})},
      {"k", bytes({shape.batch, shape.kv_heads, shape.keys, shape.key_dim})},
      {"w", options.score == AttentionScore::kBilinear ? bytes({shape.dim, shape.key_dim}) : 0},
      {"wq", bytes({shape.hidden, shape.dim})},
      {"wk", bytes({shape.hidden, shape.key_dim})},
      {"v", bytes({shape.batch, shape.kv_heads, shape.keys, shape.value_dim})},
      {"out", bytes({shape.batch, shape.heads, shape.queries, shape.value_dim})},
      {"weights",
       options.weights ? bytes({shape.batch, shape.heads, shape.queries, shape.keys}) : 0}};
  for (const auto& array : arrays) {
    if (!array.bytes) {
      return Status::InvalidArgument(
          fmt::format("{}: the product of its sizes overflows 64 bits (batch {}, heads {}, "
                      "kv_heads {}, queries {}, keys {}, dim {}, value_dim {}, key_dim {}, hidden "
                      "{}), expected less",
                      array.name, shape.batch, shape.heads, shape.kv_heads, shape.queries,
                      shape.keys, shape.dim, shape.value_dim, shape.key_dim, shape.hidden));
    }
  }
  return {};
}

Status CheckTypes(const AttentionShape& shape) {
  const struct {
    const char* name;
    DataType type;
  } types[] = {{"q_type", shape.q_type},
               {"k_type", shape.k_type},
               {"v_type", shape.v_type},
               {"out_type", shape.out_type}};
  for (const auto& type : types) {
    if (Status s = core::CheckNumberType(type.name, type.type); !s.ok()) return s;
  }
  return {};
}

// What may come with which score function.
Status CheckScore(const AttentionShape& shape, const AttentionOptions& options) {
  const AttentionScore score = options.score;
  if (ScoreName(score) == nullptr) {
    return Status::InvalidArgument(fmt::format(
        "score: found {}, expected dot, bilinear, additive or gaussian", static_cast<int>(score)));
  }
  const bool additive = score == AttentionScore::kAdditive;
  const bool gaussian = score == AttentionScore::kGaussian;
  const struct {
    const char* name;
    bool given;
    bool allowed;
  } parts[] = {{"bandwidth", options.bandwidth.has_value(), gaussian},
               {"scale", options.scale.has_value(), !gaussian},
               {"wq", options.wq, additive},
               {"wk", options.wk, additive},
               {"hidden", shape.hidden != 0, additive}};
  for (const auto& part : parts) {
    if (part.given && !part.allowed) {
      return Status::InvalidArgument(fmt::format("{}: found together with score {}, expected none",
                                                 part.name, ScoreName(score)));
    }
  }
  const AttentionShape full = WithScoreSizes(shape, score);
  if ((score == AttentionScore::kDot || gaussian) && full.key_dim != full.dim) {
    return Status::InvalidArgument(
        fmt::format("key_dim: found {} with score {}, expected {} as dim", full.key_dim,
                    ScoreName(score), full.dim));
  }
  if (additive && !options.wq && full.dim != full.hidden) {
    return Status::InvalidArgument(
        fmt::format("hidden: found {} without wq, expected {} as dim", full.hidden, full.dim));
  }
  if (additive && !options.wk && full.key_dim != full.hidden) {
    return Status::InvalidArgument(fmt::format(
        "key_dim: found {} without wk, expected {} as hidden", full.key_dim, full.hidden));
  }
  if (!gaussian) return {};
  if (!options.bandwidth) {
    return Status::InvalidArgument("bandwidth: found none with score gaussian, expected a number");
  }
  if (!(*options.bandwidth >= kSmallestBandwidth) || !std::isfinite(*options.bandwidth)) {
    return Status::InvalidArgument(
        fmt::format("bandwidth: found {}, expected a finite number of at least {}",
                    *options.bandwidth, kSmallestBandwidth));
  }
  return {};
}

Status CheckOptions(const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale)) {
    return Status::InvalidArgument(
        fmt::format("scale: found {}, expected a finite number", *options.scale));
  }
  if (options.softcap && !(std::isfinite(*options.softcap) && *options.softcap >= 0)) {
    return Status::InvalidArgument(
        fmt::format("softcap: found {}, expected a finite number, at least 0", *options.softcap));
  }
  if (options.top_left && options.query_offset) {
    return Status::InvalidArgument(
        fmt::format("query_offset: found {} together with top_left, expected one of the two",
                    *options.query_offset));
  }
  const struct {
    const char* name;
    int64_t value;
  } sides[] = {{"window left", options.window.left}, {"window right", options.window.right}};
  for (const auto& side : sides) {
    if (side.value < kUnlimited) {
      return Status::InvalidArgument(
          fmt::format("{}: found {}, expected a count of keys, or {} for no limit", side.name,
                      side.value, kUnlimited));
    }
  }
  const struct {
    const char* name;
    bool on;
  } excluded[] = {{"mask", options.mask},     {"bias", options.bias},
                  {"kv_len", options.kv_len}, {"kv_first", options.kv_first},
                  {"paged", options.paged},   {"weights", options.weights}};
  for (const auto& option : excluded) {
    if (options.ragged && option.on) {
      return Status::InvalidArgument(
          fmt::format("{}: found together with ragged, expected one of the two", option.name));
    }
  }
  return {};
}

}  // namespace

Status CheckRequest(const AttentionShape& shape, const AttentionOptions& options) {
  if (Status s = CheckSizes(WithScoreSizes(shape, options.score), options); !s.ok()) return s;
  if (Status s = CheckTypes(shape); !s.ok()) return s;
  if (Status s = CheckScore(shape, options); !s.ok()) return s;
  return CheckOptions(options);
}

}  // namespace lanewise::attention
