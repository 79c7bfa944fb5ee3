// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The `lanewise` command. Exit codes: 0 success, 1 failure, 2 wrong usage; an error is one line on
// stderr.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/version.h"
#include "tools/bench_command.h"
#include "tools/command.h"
#include "tools/explain_command.h"
#include "tools/info_command.h"
#include "tools/run_command.h"
#include "tools/verify_command.h"

namespace lanewise::tools {
namespace {

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

void SetUpProcess() {
  // Files that become too large are errors of write(), which leave no part of a file behind.
  std::signal(SIGXFSZ, SIG_IGN);
  // A file that is opened may not take the number of a standard stream that is closed: what is
  // printed would go there. Nothing can be written to these.
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (descriptor >= 0) close(descriptor);
}

// The flag with one value that was given several, and these; empty if it is not that.
std::string Repeated(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string>& values = option->results();
      if (option->get_expected_max() != 1 || values.size() < 2) continue;
      return fmt::format("{}: found \"{}\", expected one value", option->get_name(),
                         fmt::join(values, "\" and \""));
    }
  }
  return "";
}

// The error for a value given to a switch, which CLI11 would take for yes or no, or how often, and
// for a value that ends at its sign, where it would take the next argument.
std::string WrongAtSign(const CLI::App& command, std::span<char* const> arguments) {
  for (const std::string_view argument : arguments) {
    const size_t sign = argument.find('=');
    if (argument.substr(0, 2) != "--" || sign == std::string_view::npos) continue;
    const std::string name(argument.substr(0, sign));
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option == nullptr) continue;
    const std::string_view value = argument.substr(sign + 1);
    const bool is_switch = option->get_items_expected_max() == 0;
    if (!is_switch && !value.empty()) continue;
    return fmt::format("{}: found \"{}\", expected {} value", name, value, is_switch ? "no" : "a");
  }
  return "";
}

int Main(int argc, char** argv) {
  CLI::App app("Attention on CPUs: every query owns a SIMD lane.", "lanewise");
  app.set_version_flag("--version", fmt::format("lanewise {}.{}.{}", LANEWISE_VERSION_MAJOR,
                                                LANEWISE_VERSION_MINOR, LANEWISE_VERSION_PATCH));
  app.require_subcommand(1);
  int exit_code = kExitOk;
  AddInfoCommand(app, exit_code);
  AddRunCommand(app, exit_code);
  AddExplainCommand(app, exit_code);
  AddVerifyCommand(app, exit_code);
  AddBenchCommand(app, exit_code);
  const std::vector<std::string> commands = SubcommandNames(app);
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    return FailUsage(fmt::format("unknown subcommand \"{}\", expected one of {}", argv[1],
                                 fmt::join(commands, ", ")));
  }
  if (argc > 1 && argv[1][0] != '-') {
    const std::string wrong =
        WrongAtSign(*app.get_subcommand(argv[1]), {argv, static_cast<size_t>(argc)});
    if (!wrong.empty()) return FailUsage(wrong);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    // The message of CLI11 has the arguments in reverse order.
    return FailUsage(fmt::format("unexpected arguments: {}", fmt::join(app.remaining(true), " ")));
  } catch (const CLI::RequiredError& error) {
    // What is missing may stand there without its flag.
    const std::vector<std::string> rest = app.remaining(true);
    if (rest.empty()) return FailUsage(error.what());
    return FailUsage(
        fmt::format("unexpected arguments: {}; {}", fmt::join(rest, " "), error.what()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string repeated = Repeated(app);
    return FailUsage(repeated.empty() ? error.what() : repeated);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return FailUsage(error.what());
    app.exit(error);  // --help and --version
  }
  return exit_code;
}

}  // namespace
}  // namespace lanewise::tools

int main(int argc, char** argv) {
  using lanewise::tools::Fail;
  try {
    lanewise::tools::SetUpProcess();
    const int exit_code = lanewise::tools::Main(argc, argv);
    // One error is enough.
    if (exit_code != lanewise::tools::kExitOk) return exit_code;
    const lanewise::Status flushed = lanewise::tools::FlushStdout();
    return flushed.ok() ? exit_code : Fail(flushed);
  } catch (const std::bad_alloc&) {
    return Fail("out of memory");
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
}
