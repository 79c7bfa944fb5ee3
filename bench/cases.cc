// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The table of cases.

#include "bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace lanewise::bench {
namespace {

// A line of the table. All types are f32, value_dim is dim.
struct Line {
  std::string_view name;
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;
  int64_t queries;
  int64_t keys;
  int64_t dim;
  bool causal;
};

constexpr Line kLines[] = {
    // name, batch, heads, kv_heads, queries, keys, dim, causal
    {"full_d64", 1, 8, 8, 2048, 2048, 64, false},   {"full_d128", 1, 8, 8, 2048, 2048, 128, false},
    {"causal_d64", 1, 8, 8, 2048, 2048, 64, true},  {"causal_d128", 1, 8, 8, 4096, 4096, 128, true},
    {"bert", 8, 12, 12, 128, 128, 64, false},       {"decode_gqa", 1, 32, 8, 1, 8192, 128, false},
    {"decode_mha", 1, 32, 32, 1, 4096, 128, false}, {"chunk_gqa", 1, 32, 8, 64, 4096, 128, true},
};

Case FromLine(const Line& line) {
  Case result;
  result.name = line.name;
  result.shape.batch = line.batch;
  result.shape.heads = line.heads;
  result.shape.kv_heads = line.kv_heads;
  result.shape.queries = line.queries;
  result.shape.keys = line.keys;
  result.shape.dim = line.dim;
  result.shape.value_dim = line.dim;
  result.options.causal = line.causal;
  return result;
}

// `name` as it may appear in a message: one line, of limited length.
std::string Quoted(std::string_view name) {
  constexpr size_t kMaxShown = 40;
  std::string quoted = "\"";
  for (const char c : name.substr(0, kMaxShown)) quoted += c >= ' ' && c <= '~' ? c : '?';
  return quoted + (name.size() > kMaxShown ? "...\"" : "\"");
}

}  // namespace

const std::vector<Case>& AllCases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> result;
    std::transform(std::begin(kLines), std::end(kLines), std::back_inserter(result), FromLine);
    return result;
  }();
  return cases;
}

Result<std::vector<Case>> FindCases(const std::vector<std::string>& names) {
  if (names.empty()) return AllCases();
  std::vector<Case> found;
  for (const std::string& name : names) {
    const auto it = std::find_if(AllCases().begin(), AllCases().end(),
                                 [&](const Case& c) { return c.name == name; });
    if (it == AllCases().end()) {
      std::string message = "case " + Quoted(name) + " is unknown; expected one of:";
      const char* separator = " ";
      for (const Case& known : AllCases()) {
        message += separator + known.name;
        separator = ", ";
      }
      return Status::InvalidArgument(std::move(message));
    }
    found.push_back(*it);
  }
  return found;
}

Case CustomCase(const AttentionShape& shape, const AttentionOptions& options) {
  std::string name =
      fmt::format("b{}_h{}_kv{}_q{}_k{}_d{}_v{}", shape.batch, shape.heads, shape.kv_heads,
                  shape.queries, shape.keys, shape.dim, shape.value_dim);
  if (options.causal) name += "_causal";
  if (options.top_left) name += "_top_left";
  if (options.query_offset) name += fmt::format("_offset{}", *options.query_offset);
  return {std::move(name), shape, options};
}

}  // namespace lanewise::bench
