// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases x kernels x targets.

#include "tools/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "src/attention/overrides.h"
#include "src/kernels/lanes.h"
#include "src/machine/targets.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/prepared_verify_case.h"
#include "tools/shape_flags.h"
#include "tools/verify_cases.h"

namespace lanewise::tools {
namespace {

struct VerifyFlags {
  RuntimeFlags runtime;
  bool json = false;
};

// What a target did.
struct TargetReport {
  std::string target;
  std::vector<std::string> tiles;
  int64_t runs = 0;
  double worst_ratio = 0;
  std::string worst_run;              // "lanes 8x2v, causal ..."
  std::vector<std::string> failures;  // run and what was wrong

  bool passed() const { return failures.empty(); }
};

// A way to compute, and what to call it.
struct Choice {
  std::string name;
  attention::PlanOverrides overrides;
};

// Every register tile of `lanes`, `few`, and what the plan chooses by itself.
std::vector<Choice> Choices(const std::vector<std::string>& tiles) {
  std::vector<Choice> choices(2);
  choices[0].name = "default plan";
  choices[1].name = choices[1].overrides.variant = "few";
  for (const std::string& tile : tiles) {
    Choice& choice = choices.emplace_back();
    choice.name = "lanes " + tile;
    choice.overrides.tile = tile;
  }
  return choices;
}

// Runs every case in every way on `runtime.target`.
Result<TargetReport> VerifyTarget(const Runtime& runtime, std::vector<PreparedVerifyCase>& cases) {
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();
  TargetReport report;
  report.target = machine::TargetName(*target);
  for (const kernels::LanesKernel& kernel : kernels::LanesKernels(*target)) {
    report.tiles.emplace_back(kernel.tile);
  }
  for (auto& [name, overrides] : Choices(report.tiles)) {
    for (PreparedVerifyCase& prepared : cases) {
      const VerifyCase& description = prepared.description();
      // `few` takes dot products only.
      const bool is_dot = description.options.score == AttentionScore::kDot;
      if (overrides.variant == "few" && !is_dot) continue;
      overrides.kv_block = description.kv_block;
      const Result<AttentionPlan> plan =
          attention::PlanAttentionWith(description.shape, description.options, runtime, overrides);
      if (!plan.ok()) return plan.status();
      const std::string run = fmt::format("{}, {}", name, description.name);
      double ratio = 0;
      const std::string wrong = prepared.Run(*plan, &ratio);
      if (!wrong.empty()) report.failures.push_back(run + ": " + wrong);
      if (report.runs == 0 || ratio > report.worst_ratio) {
        report.worst_ratio = ratio;
        report.worst_run = run;
      }
      ++report.runs;
    }
  }
  return report;
}

nlohmann::ordered_json ToJson(const std::vector<TargetReport>& reports) {
  nlohmann::ordered_json targets = nlohmann::ordered_json::array();
  bool passed = true;
  for (const TargetReport& report : reports) {
    passed = passed && report.passed();
    targets.push_back({{"target", report.target},
                       {"tiles", report.tiles},
                       {"runs", report.runs},
                       {"worst_ratio", report.worst_ratio},
                       {"worst_run", report.worst_run},
                       {"failures", report.failures},
                       {"passed", report.passed()}});
  }
  return {{"targets", targets}, {"passed", passed}};
}

void PrintText(const std::vector<TargetReport>& reports) {
  fmt::print("{:<9}{:>6}{:>7}{:>20}  {}\n", "target", "tiles", "runs", "error / tolerance",
             "result");
  // Each kernel that is wrong tends to be wrong in many cases.
  constexpr size_t kShown = 10;
  for (const TargetReport& report : reports) {
    fmt::print("{:<9}{:>6}{:>7}{:>20.3f}  {}\n", report.target, report.tiles.size(), report.runs,
               report.worst_ratio, report.passed() ? "PASS" : "FAIL");
    for (size_t i = 0; i < std::min(kShown, report.failures.size()); ++i) {
      fmt::print("  {}\n", report.failures[i]);
    }
    if (report.failures.size() > kShown) {
      fmt::print("  and {} more\n", report.failures.size() - kShown);
    }
  }
}

int Verify(const VerifyFlags& flags) {
  Runtime runtime = flags.runtime.runtime();
  const std::vector<std::string> targets =
      runtime.target.empty() ? AvailableTargets() : std::vector<std::string>{runtime.target};
  std::vector<PreparedVerifyCase> cases;
  for (VerifyCase& description : VerifyCases()) cases.emplace_back(std::move(description));

  std::vector<TargetReport> reports;
  for (const std::string& target : targets) {
    runtime.target = target;
    const Result<TargetReport> report = VerifyTarget(runtime, cases);
    if (!report.ok()) return Fail(report.status());
    reports.push_back(*report);
  }
  if (flags.json) {
    PrintJson(ToJson(reports));
  } else {
    PrintText(reports);
  }
  for (const TargetReport& report : reports) {
    if (!report.passed()) {
      return Fail(fmt::format("{} of {} runs are wrong on target {}", report.failures.size(),
                              report.runs, report.target));
    }
  }
  return kExitOk;
}

}  // namespace

void AddVerifyCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "verify",
      "Run every attention kernel that can run here on built-in cases, against the definition");
  const auto flags = std::make_shared<VerifyFlags>();
  flags->runtime.AddTo(*command);
  AddJson(*command, flags->json);
  command->callback([flags, &exit_code] { exit_code = Verify(*flags); });
}

}  // namespace lanewise::tools
