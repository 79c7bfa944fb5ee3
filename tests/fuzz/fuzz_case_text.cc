// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases as lines of flags: one table of all fields, read in both directions.

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "tests/fuzz/fuzz_case.h"

namespace lanewise::testing {
namespace {

// The names of an enumeration, in its order.
template <typename Kind>
struct Names;
template <>
struct Names<DataType> {
  static constexpr std::array<const char*, 3> kNames = {"f32", "f16", "bf16"};
};
template <>
struct Names<AttentionScore> {
  static constexpr std::array<const char*, 4> kNames = {"dot", "bilinear", "additive", "gaussian"};
};
template <>
struct Names<DataKind> {
  static constexpr std::array<const char*, 4> kNames = {"uniform", "large", "rising", "constant"};
};
template <>
struct Names<PoisonKind> {
  static constexpr std::array<const char*, 6> kNames = {"none",     "hidden-nan", "hidden-inf",
                                                        "some-nan", "some-inf",   "queries"};
};
template <>
struct Names<LayoutKind> {
  static constexpr std::array<const char*, 6> kNames = {
      "dense", "padded", "packed", "shared-heads", "shared-batch", "shared-rows"};
};
template <>
struct Names<MaskKind> {
  static constexpr std::array<const char*, 6> kNames = {"none",   "all",        "random",
                                                        "sparse", "empty-rows", "blocks"};
};
template <>
struct Names<BiasKind> {
  static constexpr std::array<const char*, 7> kNames = {"none",       "zero",   "uniform", "holes",
                                                        "empty-rows", "lowest", "nan"};
};
template <>
struct Names<SlopesKind> {
  static constexpr std::array<const char*, 5> kNames = {"none", "usual", "zero", "negative",
                                                        "steep"};
};
template <>
struct Names<SinksKind> {
  static constexpr std::array<const char*, 5> kNames = {"none", "uniform", "absent", "mixed",
                                                        "large"};
};

template <typename Kind>
std::string Print(Kind kind) requires std::is_enum_v<Kind> {
  return Names<Kind>::kNames[static_cast<size_t>(kind)];
}

template <typename Kind>
bool Parse(const std::string& text, Kind& kind) requires std::is_enum_v<Kind> {
  const auto& names = Names<Kind>::kNames;
  for (size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) {
      kind = static_cast<Kind>(i);
      return true;
    }
  }
  return false;
}

template <typename Integer>
std::string Print(Integer value) requires std::is_integral_v<Integer> {
  return std::to_string(value);
}

template <typename Integer>
bool Parse(const std::string& text, Integer& value) requires std::is_integral_v<Integer> {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

std::string Print(float value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
  return text;
}

bool Parse(const std::string& text, float& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

std::string Print(const std::string& value) { return value; }

bool Parse(const std::string& text, std::string& value) {
  value = text;
  return !text.empty();
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (std::istringstream stream(text); std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

// "random:qk": pattern and the axes along which it varies.
constexpr std::string_view kAxes = "bhqk";

template <typename Kind>
std::string Print(const PairInput<Kind>& input) {
  std::string text = Print(input.kind) + ":";
  for (size_t axis = 0; axis < kAxes.size(); ++axis) {
    if (input.varies[axis]) text += kAxes[axis];
  }
  return text;
}

template <typename Kind>
bool Parse(const std::string& text, PairInput<Kind>& input) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !Parse(text.substr(0, colon), input.kind)) return false;
  const std::string axes = text.substr(colon + 1);
  for (size_t axis = 0; axis < kAxes.size(); ++axis) {
    input.varies[axis] = axes.find(kAxes[axis]) != std::string::npos;
  }
  return axes.find_first_not_of(kAxes) == std::string::npos;
}

// "5,3".
std::string Print(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ",") + Print(value);
  return text;
}

bool Parse(const std::string& text, std::vector<int64_t>& values) {
  values.clear();
  for (const std::string& part : Split(text, ',')) {
    if (!Parse(part, values.emplace_back())) return false;
  }
  return !values.empty();
}

// "3+5,0+2": queries and keys of each sequence.
std::string Print(const std::vector<FuzzCase::Sequence>& sequences) {
  std::string text;
  for (const FuzzCase::Sequence& sequence : sequences) {
    text += (text.empty() ? "" : ",") + Print(sequence.queries) + "+" + Print(sequence.keys);
  }
  return text;
}

bool Parse(const std::string& text, std::vector<FuzzCase::Sequence>& sequences) {
  sequences.clear();
  for (const std::string& part : Split(text, ',')) {
    const std::vector<std::string> sizes = Split(part, '+');
    FuzzCase::Sequence& sequence = sequences.emplace_back();
    if (sizes.size() != 2 || !Parse(sizes[0], sequence.queries) ||
        !Parse(sizes[1], sequence.keys)) {
      return false;
    }
  }
  return !sequences.empty();
}

// "127,0": left, right.
std::string Print(const AttentionWindow& window) {
  return Print(window.left) + "," + Print(window.right);
}

bool Parse(const std::string& text, AttentionWindow& window) {
  const std::vector<std::string> sides = Split(text, ',');
  return sides.size() == 2 && Parse(sides[0], window.left) && Parse(sides[1], window.right);
}

template <typename T>
std::string Print(const std::optional<T>& value) {
  return value ? Print(*value) : "";
}

template <typename T>
bool Parse(const std::string& text, std::optional<T>& value) {
  return Parse(text, value.emplace());
}

struct Flag {
  const char* name;
  bool takes_value;
  bool always;  // print it when the field has its default, too
  std::string (*print)(const FuzzCase&);
  bool (*parse)(const std::string& value, FuzzCase&);
};

// The flag of the field that `get` refers to.
template <typename Get>
Flag FlagOf(const char* name, Get) {
  using Field = std::remove_cvref_t<std::invoke_result_t<Get, FuzzCase&>>;
  Flag flag = {name, true, false, nullptr, nullptr};
  if constexpr (std::is_same_v<Field, bool>) {
    flag.takes_value = false;
    flag.print = [](const FuzzCase& c) { return std::string(Get()(c) ? "on" : ""); };
    flag.parse = [](const std::string&, FuzzCase& c) { return Get()(c) = true; };
  } else {
    flag.print = [](const FuzzCase& c) { return Print(Get()(c)); };
    flag.parse = [](const std::string& text, FuzzCase& c) { return Parse(text, Get()(c)); };
  }
  return flag;
}

template <typename Get>
Flag AlwaysShown(const char* name, Get get) {
  Flag flag = FlagOf(name, get);
  flag.always = true;
  return flag;
}

const std::vector<Flag>& Flags() {
  static const std::vector<Flag> flags = {
      AlwaysShown("--batch", [](auto& c) -> decltype(auto) { return (c.shape.batch); }),
      AlwaysShown("--heads", [](auto& c) -> decltype(auto) { return (c.shape.heads); }),
      AlwaysShown("--kv-heads", [](auto& c) -> decltype(auto) { return (c.shape.kv_heads); }),
      AlwaysShown("--queries", [](auto& c) -> decltype(auto) { return (c.shape.queries); }),
      AlwaysShown("--keys", [](auto& c) -> decltype(auto) { return (c.shape.keys); }),
      AlwaysShown("--dim", [](auto& c) -> decltype(auto) { return (c.shape.dim); }),
      AlwaysShown("--value-dim", [](auto& c) -> decltype(auto) { return (c.shape.value_dim); }),
      FlagOf("--key-dim", [](auto& c) -> decltype(auto) { return (c.shape.key_dim); }),
      FlagOf("--hidden", [](auto& c) -> decltype(auto) { return (c.shape.hidden); }),
      FlagOf("--score", [](auto& c) -> decltype(auto) { return (c.options.score); }),
      FlagOf("--bandwidth", [](auto& c) -> decltype(auto) { return (c.options.bandwidth); }),
      FlagOf("--wq", [](auto& c) -> decltype(auto) { return (c.options.wq); }),
      FlagOf("--wk", [](auto& c) -> decltype(auto) { return (c.options.wk); }),
      FlagOf("--q-type", [](auto& c) -> decltype(auto) { return (c.shape.q_type); }),
      FlagOf("--k-type", [](auto& c) -> decltype(auto) { return (c.shape.k_type); }),
      FlagOf("--v-type", [](auto& c) -> decltype(auto) { return (c.shape.v_type); }),
      FlagOf("--out-type", [](auto& c) -> decltype(auto) { return (c.shape.out_type); }),
      FlagOf("--ragged", [](auto& c) -> decltype(auto) { return (c.sequences); }),
      FlagOf("--scale", [](auto& c) -> decltype(auto) { return (c.options.scale); }),
      FlagOf("--causal", [](auto& c) -> decltype(auto) { return (c.options.causal); }),
      FlagOf("--top-left", [](auto& c) -> decltype(auto) { return (c.options.top_left); }),
      FlagOf("--query-offset", [](auto& c) -> decltype(auto) { return (c.options.query_offset); }),
      FlagOf("--window", [](auto& c) -> decltype(auto) { return (c.options.window); }),
      FlagOf("--softcap", [](auto& c) -> decltype(auto) { return (c.options.softcap); }),
      FlagOf("--mask", [](auto& c) -> decltype(auto) { return (c.mask); }),
      FlagOf("--bias", [](auto& c) -> decltype(auto) { return (c.bias); }),
      FlagOf("--alibi", [](auto& c) -> decltype(auto) { return (c.slopes); }),
      FlagOf("--sinks", [](auto& c) -> decltype(auto) { return (c.sinks); }),
      FlagOf("--kv-len", [](auto& c) -> decltype(auto) { return (c.kv_len); }),
      FlagOf("--kv-first", [](auto& c) -> decltype(auto) { return (c.kv_first); }),
      FlagOf("--page-size", [](auto& c) -> decltype(auto) { return (c.page_size); }),
      FlagOf("--lse", [](auto& c) -> decltype(auto) { return (c.options.lse); }),
      FlagOf("--weights", [](auto& c) -> decltype(auto) { return (c.options.weights); }),
      FlagOf("--data", [](auto& c) -> decltype(auto) { return (c.data); }),
      FlagOf("--poison", [](auto& c) -> decltype(auto) { return (c.poison); }),
      FlagOf("--q-layout", [](auto& c) -> decltype(auto) { return (c.q_layout); }),
      FlagOf("--kv-layout", [](auto& c) -> decltype(auto) { return (c.kv_layout); }),
      FlagOf("--pair-layout", [](auto& c) -> decltype(auto) { return (c.pair_layout); }),
      FlagOf("--out-layout", [](auto& c) -> decltype(auto) { return (c.out_layout); }),
      FlagOf("--guard-before", [](auto& c) -> decltype(auto) { return (c.guard_before); }),
      AlwaysShown("--seed", [](auto& c) -> decltype(auto) { return (c.seed); }),
      FlagOf("--target", [](auto& c) -> decltype(auto) { return (c.path.runtime.target); }),
      FlagOf("--variant", [](auto& c) -> decltype(auto) { return (c.path.overrides.variant); }),
      FlagOf("--tile", [](auto& c) -> decltype(auto) { return (c.path.overrides.tile); }),
      FlagOf("--kv-block", [](auto& c) -> decltype(auto) { return (c.path.overrides.kv_block); }),
      FlagOf("--q-groups", [](auto& c) -> decltype(auto) { return (c.path.overrides.q_groups); }),
      FlagOf("--grain", [](auto& c) -> decltype(auto) { return (c.path.overrides.grain); }),
      FlagOf("--threads", [](auto& c) -> decltype(auto) { return (c.path.runtime.threads); }),
  };
  return flags;
}

const Flag* FindFlag(const std::string& name) {
  for (const Flag& flag : Flags()) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

}  // namespace

std::string ToText(const FuzzCase& c) {
  static const FuzzCase defaults;
  std::string text;
  for (const Flag& flag : Flags()) {
    const std::string value = flag.print(c);
    if (!flag.always && value == flag.print(defaults)) continue;
    text += (text.empty() ? "" : " ") + std::string(flag.name);
    if (flag.takes_value) text += " " + value;
  }
  return text;
}

Result<FuzzCase> ParseFuzzCase(const std::string& text) {
  FuzzCase c;
  std::istringstream stream(text);
  for (std::string name; stream >> name;) {
    const Flag* flag = FindFlag(name);
    if (flag == nullptr) return Status::InvalidArgument(name + ": no such flag");
    std::string value;
    if (flag->takes_value) stream >> value;
    if (!flag->parse(value, c)) {
      return Status::InvalidArgument(name + ": found \"" + value + "\"");
    }
  }
  if (c.shape.kv_heads <= 0 || c.shape.heads % c.shape.kv_heads != 0) {
    return Status::InvalidArgument("--kv-heads: found " + Print(c.shape.kv_heads) +
                                   ", expected a divisor of --heads " + Print(c.shape.heads));
  }
  if (c.page_size < 0) {
    return Status::InvalidArgument("--page-size: found " + Print(c.page_size) +
                                   ", expected at least 0");
  }
  const std::string as_given = ToText(c);
  Normalize(c);
  if (ToText(c) != as_given) {
    return Status::InvalidArgument("sizes: found " + as_given + ", expected " + ToText(c));
  }
  return c;
}

}  // namespace lanewise::testing
