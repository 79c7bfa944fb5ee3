// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise run`: attention on NumPy files.

#ifndef LANEWISE_TOOLS_RUN_COMMAND_H_
#define LANEWISE_TOOLS_RUN_COMMAND_H_

namespace CLI {
class App;
}

namespace lanewise::tools {

// See tools/command.h.
void AddRunCommand(CLI::App& app, int& exit_code);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_RUN_COMMAND_H_
