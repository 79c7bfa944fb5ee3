// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The tables of all kinds, one after the other, and look-up by name.

#include "bench/cases.h"

#include <algorithm>
#include <utility>

#include "bench/attention_cases.h"
#include "bench/gemm_cases.h"
#include "bench/layer_cases.h"
#include "bench/softmax_cases.h"

namespace lanewise::bench {
namespace {

std::vector<Case> MakeAllCases() {
  std::vector<Case> cases;
  for (AttentionCase& benchmark : AttentionCases()) cases.push_back(ToCase(std::move(benchmark)));
  for (GemmCase& benchmark : GemmCases()) cases.push_back(ToCase(std::move(benchmark)));
  for (SoftmaxCase& benchmark : SoftmaxCases()) cases.push_back(ToCase(std::move(benchmark)));
  for (LayerCase& benchmark : LayerCases()) cases.push_back(ToCase(std::move(benchmark)));
  return cases;
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
  static const std::vector<Case> cases = MakeAllCases();
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

}  // namespace lanewise::bench
