// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise info`: what the library found out about this machine, and where each figure came from.

#ifndef LANEWISE_TOOLS_INFO_COMMAND_H_
#define LANEWISE_TOOLS_INFO_COMMAND_H_

namespace CLI {
class App;
}

namespace lanewise::tools {

// See tools/command.h.
void AddInfoCommand(CLI::App& app, int& exit_code);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_INFO_COMMAND_H_
