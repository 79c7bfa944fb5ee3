// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise explain`: the plan for a shape and options, and why.

#ifndef LANEWISE_TOOLS_EXPLAIN_COMMAND_H_
#define LANEWISE_TOOLS_EXPLAIN_COMMAND_H_

namespace CLI {
class App;
}

namespace lanewise::tools {

// See tools/command.h.
void AddExplainCommand(CLI::App& app, int& exit_code);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_EXPLAIN_COMMAND_H_
