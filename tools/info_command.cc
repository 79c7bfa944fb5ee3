// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Collects the facts once, then prints them as text or JSON.

#include "tools/info_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/runtime.h"
#include "lanewise/version.h"
#include "src/machine/caches.h"
#include "src/machine/cpus.h"
#include "src/machine/targets.h"
#include "tools/command.h"
#include "tools/flags.h"

namespace lanewise::tools {
namespace {

struct Info {
  std::string cpu;
  std::optional<std::string> target;  // absent: LANEWISE_TARGET names one that cannot run
  std::string target_source;
  std::vector<std::string> targets;
  int threads = 0;
  std::string threads_source;
  machine::CpuBudget budget;
  machine::Caches caches;
  std::vector<std::string> notes;
};

Info Collect() {
  const Runtime& runtime = DefaultRuntime();
  Info info;
  info.cpu = machine::CpuName();
  info.targets = AvailableTargets();
  info.caches = machine::DetectCaches();
  info.budget = machine::DetectCpuBudget();
  info.threads = runtime.threads;
  // A note means that the variable was set and not used.
  info.threads_source = std::getenv("LANEWISE_THREADS") != nullptr && runtime.note.empty()
                            ? "LANEWISE_THREADS"
                            : info.budget.source;
  if (!runtime.note.empty()) info.notes.push_back(runtime.note);
  info.target_source = runtime.target.empty() ? "best available" : "LANEWISE_TARGET";
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (target.ok()) {
    info.target = machine::TargetName(*target);
  } else {
    info.notes.push_back("LANEWISE_TARGET: " + target.status().message());
  }
  return info;
}

nlohmann::ordered_json CacheJson(const machine::CacheLevel& level) {
  return {{"bytes", level.bytes},
          {"ways", level.ways == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(level.ways)},
          {"shared_by", level.shared_by}};
}

nlohmann::ordered_json ToJson(const Info& info) {
  nlohmann::ordered_json json;
  json["version"] = fmt::format("{}.{}.{}", LANEWISE_VERSION_MAJOR, LANEWISE_VERSION_MINOR,
                                LANEWISE_VERSION_PATCH);
  json["cpu"] = info.cpu;
  json["target"] = nullptr;
  if (info.target) json["target"] = *info.target;
  json["targets"] = info.targets;
  json["threads"] = info.threads;
  json["affinity_cpus"] = info.budget.affinity;
  json["quota_cpus"] = nullptr;
  if (info.budget.quota) json["quota_cpus"] = *info.budget.quota;
  json["caches"] = {{"l1d", CacheJson(info.caches.l1d)},
                    {"l2", CacheJson(info.caches.l2)},
                    {"l3", CacheJson(info.caches.l3)},
                    {"line_bytes", info.caches.line_bytes}};
  json["profile"] = nullptr;
  json["sources"] = {{"target", info.target_source},
                     {"threads", info.threads_source},
                     {"caches",
                      {{"l1d", info.caches.l1d.source},
                       {"l2", info.caches.l2.source},
                       {"l3", info.caches.l3.source}}}};
  json["notes"] = info.notes;
  return json;
}

std::string CacheText(const machine::CacheLevel& level) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  const std::string size = level.bytes % kMiB == 0   ? fmt::format("{} MiB", level.bytes / kMiB)
                           : level.bytes % 1024 == 0 ? fmt::format("{} KiB", level.bytes / 1024)
                                                     : fmt::format("{} bytes", level.bytes);
  const std::string ways = level.ways == 0 ? "" : fmt::format(", {} ways", level.ways);
  const std::string shared =
      level.shared_by <= 1 ? ", not shared" : fmt::format(", shared by {} CPUs", level.shared_by);
  return fmt::format("{}{}{} ({})", size, ways, shared, level.source);
}

std::string ToText(const Info& info) {
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{:<9}{}\n", name, value);
  };
  line("version", fmt::format("{}.{}.{}", LANEWISE_VERSION_MAJOR, LANEWISE_VERSION_MINOR,
                              LANEWISE_VERSION_PATCH));
  line("cpu", info.cpu);
  line("target", fmt::format("{} ({})", info.target.value_or("none"), info.target_source));
  line("targets", fmt::format("{}", fmt::join(info.targets, ", ")));
  const std::string quota = info.budget.quota ? fmt::format("a quota of {:.3g}", *info.budget.quota)
                                              : std::string("no quota");
  line("threads", fmt::format("{} ({}; {} CPUs in the affinity mask, {})", info.threads,
                              info.threads_source, info.budget.affinity, quota));
  line("l1d", CacheText(info.caches.l1d));
  line("l2", CacheText(info.caches.l2));
  line("l3", CacheText(info.caches.l3));
  line("line", fmt::format("{} bytes", info.caches.line_bytes));
  line("profile", "none");
  for (const std::string& note : info.notes) line("note", note);
  return text;
}

}  // namespace

void AddInfoCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("info", "CPU, SIMD targets, threads and caches found here");
  const auto json = std::make_shared<bool>(false);
  AddJson(*command, *json);
  command->callback([json, &exit_code] {
    const Info info = Collect();
    if (*json) {
      PrintJson(ToJson(info));
    } else {
      fmt::print("{}", ToText(info));
    }
    exit_code = kExitOk;
  });
}

}  // namespace lanewise::tools
