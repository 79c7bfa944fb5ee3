// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// `lanewise bench`: named cases, or a shape from flags, against what the machine can do.

#ifndef LANEWISE_TOOLS_BENCH_COMMAND_H_
#define LANEWISE_TOOLS_BENCH_COMMAND_H_

namespace CLI {
class App;
}

namespace lanewise::tools {

// See tools/command.h.
void AddBenchCommand(CLI::App& app, int& exit_code);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_BENCH_COMMAND_H_
