// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Messages and JSON output.

#include "tools/command.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace lanewise::tools {
namespace {

void PrintError(std::string_view message) {
  std::string line = "lanewise: ";
  for (const char c : message) {
    // Paths and file contents may hold line ends and terminal control codes.
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    line += control ? ' ' : c;
  }
  line += '\n';
  std::fputs(line.c_str(), stderr);
}

}  // namespace

int Fail(std::string_view message) {
  PrintError(message);
  return kExitFailure;
}

int Fail(const Status& status) { return Fail(status.message()); }

int FailUsage(std::string_view message) {
  PrintError(message);
  return kExitUsage;
}

void PrintJson(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Status OfFlag(const char* flag, const Status& status) {
  if (status.ok() || status.code() == StatusCode::kOutOfMemory) return status;
  return Status(status.code(), fmt::format("{}: {}", flag, status.message()));
}

Status FlushStdout() {
  // What could not be written before is no longer there to fail again.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return Status::InvalidArgument("standard output cannot be written");
}

}  // namespace lanewise::tools
