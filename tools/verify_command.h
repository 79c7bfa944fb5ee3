// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise verify`: every attention kernel that can run here against the definition.

#ifndef LANEWISE_TOOLS_VERIFY_COMMAND_H_
#define LANEWISE_TOOLS_VERIFY_COMMAND_H_

namespace CLI {
class App;
}

namespace lanewise::tools {

// See tools/command.h.
void AddVerifyCommand(CLI::App& app, int& exit_code);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_VERIFY_COMMAND_H_
