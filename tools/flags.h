// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Flags of one value each, which refuse what they cannot take, and the names of flags in messages.

#ifndef LANEWISE_TOOLS_FLAGS_H_
#define LANEWISE_TOOLS_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::tools {

// The message of a plan or call, with the flag of `command`, if it was given, in place of the field
// of that name which it begins with: "--kv-heads: found 3", "--alibi: found nan".
std::string NamingFlag(const CLI::App& command, std::string_view message);

// Adds `--flag FILE`; an empty path is wrong usage, and so is one that looks like another flag.
template <typename Path>
CLI::Option* AddPath(CLI::App& app, const std::string& flag, Path& path,
                     const std::string& description) {
  const auto check = [](const std::string& text) -> std::string {
    if (!text.empty() && text.rfind("--", 0) != 0) return "";
    return "found \"" + text + "\", expected the path of a file";
  };
  return app.add_option(flag, path, description)->check(check)->type_name("FILE");
}

// Adds `--flag ID`; an empty one is wrong usage.
CLI::Option* AddId(CLI::App& app, const std::string& flag, std::string& id,
                   const std::string& description);

// Numbers that a flag accepts, both ends included.
struct IntRange {
  int64_t smallest = std::numeric_limits<int64_t>::min();
  int64_t largest = std::numeric_limits<int64_t>::max();
};

// Adds `--flag N`. Unlike CLI11's own conversion it takes decimal numbers only ("010" is ten, not
// eight) and refuses what does not fit 64 bits or `range`.
CLI::Option* AddInt(CLI::App& app, const std::string& flag, std::optional<int64_t>& value,
                    const std::string& description, IntRange range = {});

// Adds `--flag X` for a finite number of at least `smallest` that f32 can hold; it is rounded to
// f32.
CLI::Option* AddFloat(CLI::App& app, const std::string& flag, std::optional<float>& value,
                      const std::string& description,
                      float smallest = std::numeric_limits<float>::lowest());

// Adds `--flag N,N,...`. `store` takes the numbers and tells whether they will do; messages
// describe what will as `expected`: "two numbers".
CLI::Option* AddIntList(CLI::App& app, const std::string& flag,
                        const std::function<bool(const std::vector<int64_t>&)>& store,
                        const std::string& expected, const std::string& description);

// Adds `--json`.
CLI::Option* AddJson(CLI::App& app, bool& json);

// "5,3,12" as numbers; nothing when the text is anything but decimal numbers between commas.
std::optional<std::vector<int64_t>> ParseIntList(std::string_view text);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_FLAGS_H_
