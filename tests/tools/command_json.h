// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What commands print with --json.

#ifndef LANEWISE_TESTS_TOOLS_COMMAND_JSON_H_
#define LANEWISE_TESTS_TOOLS_COMMAND_JSON_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/tools/command_runner.h"

namespace lanewise::tools {

inline nlohmann::json JsonOf(const Outcome& outcome) {
  EXPECT_TRUE(Succeeds(outcome));
  nlohmann::json parsed = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << outcome.out;
  return parsed;
}

inline std::set<std::string> NamesOf(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

}  // namespace lanewise::tools

#endif  // LANEWISE_TESTS_TOOLS_COMMAND_JSON_H_
