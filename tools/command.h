// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the subcommands of `lanewise` share. Each file tools/<name>_command.h declares
//
//   void Add<Name>Command(CLI::App& app, int& exit_code);
//
// which adds the subcommand and its flags to `app`; once the command line is parsed, its callback
// does the work and sets `exit_code`. `exit_code` outlives the parse.

#ifndef LANEWISE_TOOLS_COMMAND_H_
#define LANEWISE_TOOLS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/status.h"

namespace lanewise::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // the command line was right, the work failed
inline constexpr int kExitUsage = 2;    // the command line was wrong

// Print "lanewise: <message>" to stderr, on one line whatever the message holds, and return the
// exit code: kExitFailure and kExitUsage.
int Fail(std::string_view message);
int FailUsage(std::string_view message);

// Fail with the message of a status that is not OK.
int Fail(const Status& status);

// Prints one JSON document to stdout. Text that is not UTF-8 is replaced; NaN and infinities, which
// JSON does not have, become null.
void PrintJson(const nlohmann::ordered_json& json);

// The error with the flag it is about in front: "--q: ...". Running out of memory is about none.
Status OfFlag(const char* flag, const Status& status);

// The message of a plan or call, with the flag of `command` in place of the field of that name
// which it begins with: "--kv-heads: found 3", "--alibi: found nan".
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

// Makes sure that whoever reads stdout has got all of it so far. kInvalidArgument.
Status FlushStdout();

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

#endif  // LANEWISE_TOOLS_COMMAND_H_
