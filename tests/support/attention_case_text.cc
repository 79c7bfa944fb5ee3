// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases as text, for messages.

#include <string>
#include <vector>

#include "src/attention/score.h"
#include "tests/support/attention_case.h"

namespace lanewise::testing {
namespace {

std::string SizesText(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

template <typename T>
std::string ListText(const std::vector<T>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size() && i < 16; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  }
  return text + (values.size() > 16 ? ", ...]" : "]");
}

// Nothing if all are f32.
std::string TypesText(const AttentionShape& shape) {
  std::string text;
  bool is_plain = true;
  for (const DataType type : {shape.q_type, shape.k_type, shape.v_type, shape.out_type}) {
    text += " " + std::string(DataTypeName(type));
    is_plain = is_plain && type == DataType::kF32;
  }
  return is_plain ? "" : ", types" + text;
}

std::string OptionsText(const AttentionOptions& options) {
  std::string text;
  if (options.score != AttentionScore::kDot) {
    text += std::string(", score ") + attention::ScoreName(options.score);
  }
  if (options.bandwidth) text += ", bandwidth " + std::to_string(*options.bandwidth);
  if (options.wq) text += ", wq";
  if (options.wk) text += ", wk";
  if (options.scale) text += ", scale " + std::to_string(*options.scale);
  if (options.causal) text += ", causal";
  if (options.top_left) text += ", top_left";
  if (options.query_offset) text += ", query_offset " + std::to_string(*options.query_offset);
  if (options.window.left != kUnlimited || options.window.right != kUnlimited) {
    text += ", window " + std::to_string(options.window.left) + "," +
            std::to_string(options.window.right);
  }
  if (options.softcap) text += ", softcap " + std::to_string(*options.softcap);
  return text;
}

}  // namespace

std::string AttentionCase::ToString() const {
  std::string text = "q " + SizesText(q_sizes()) + " strides " + SizesText(q_strides(q_sizes())) +
                     ", k " + SizesText(k_sizes()) + " strides " +
                     SizesText(kv_strides(k_sizes())) + ", v " + SizesText(v_sizes()) +
                     TypesText(shape) + OptionsText(options);
  if (options.mask) text += ", mask " + SizesText(mask_sizes);
  if (options.bias) text += ", bias " + SizesText(bias_sizes);
  if (options.alibi_slopes) text += ", alibi_slopes " + ListText(alibi_slopes);
  if (options.sinks) text += ", sinks " + ListText(sinks);
  if (options.kv_len) text += ", kv_len " + ListText(kv_len);
  if (options.score == AttentionScore::kAdditive) text += ", hidden " + std::to_string(hidden());
  if (options.ragged) text += ", ragged " + ListText(q_offsets) + " x " + ListText(k_offsets);
  return text;
}

}  // namespace lanewise::testing
