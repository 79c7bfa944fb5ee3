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

#include <nlohmann/json_fwd.hpp>
#include <string_view>

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

// Makes sure that whoever reads stdout has got all of it so far. kInvalidArgument.
Status FlushStdout();

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_COMMAND_H_
