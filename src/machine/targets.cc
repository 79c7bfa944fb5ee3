// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Target detection and look-up by name, on top of Highway's own CPU detection.

#include "src/machine/targets.h"

#include <hwy/detect_targets.h>
#include <hwy/targets.h>

namespace lanewise::machine {
namespace {

// Targets of any architecture and Highway version, so that a request that makes sense elsewhere is
// told apart from a typing error. Targets of this build need no entry: Highway names them.
constexpr std::string_view kKnownNames[] = {
    "AVX10_2", "AVX3_SPR",    "AVX3_ZEN4", "AVX3_DL",
    "AVX3",    "AVX2",        "SSE4",      "SSSE3",
    "SSE2",    "SVE2_128",    "SVE_256",   "SVE2",
    "SVE",     "NEON",        "NEON_BF16", "NEON_WITHOUT_AES",
    "RVV",     "PPC10",       "PPC9",      "PPC8",
    "Z15",     "Z14",         "LASX",      "LSX",
    "WASM",    "WASM_EMU256", "EMU128",    "SCALAR"};

// Not std::toupper: that depends on the locale of the process.
constexpr char ToUpper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (ToUpper(a[i]) != ToUpper(b[i])) return false;
  }
  return true;
}

constexpr int64_t LowestBit(int64_t set) noexcept { return set & -set; }

// The target called `name` in `set`, or 0.
int64_t FindIn(int64_t set, std::string_view name) noexcept {
  for (; set != 0; set &= set - 1) {
    if (EqualsIgnoreCase(name, TargetName(LowestBit(set)))) return LowestBit(set);
  }
  return 0;
}

bool IsKnown(std::string_view name) noexcept {
  for (const std::string_view known : kKnownNames) {
    if (EqualsIgnoreCase(name, known)) return true;
  }
  return false;
}

std::vector<std::string> Names(int64_t set) {
  std::vector<std::string> names;
  for (; set != 0; set &= set - 1) names.emplace_back(TargetName(LowestBit(set)));
  return names;
}

// `name` comes from a user and ends up in a one-line message.
std::string Quoted(std::string_view name) {
  constexpr std::size_t kMaxShown = 40;
  std::string quoted = "\"";
  for (const char c : name.substr(0, kMaxShown)) quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += name.size() > kMaxShown ? "...\"" : "\"";
  return quoted;
}

std::string AvailableList(const TargetSets& sets) {
  std::string list = "; available here:";
  const char* separator = " ";
  for (const std::string& name : Names(sets.available())) {
    list += separator + name;
    separator = ", ";
  }
  return list;
}

const TargetSets& Detected() {
  static const TargetSets sets = DetectTargets();
  return sets;
}

}  // namespace

TargetSets DetectTargets() {
  // SupportedTargets of Highway 1.0 stores all targets of the CPU in the process-wide chosen
  // target, which would undo an hwy::DisableTargets that the rest of the process relies on. What
  // Highway's own dispatch would have stored is put back: nothing, or the enabled targets.
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  const bool was_initialized = chosen.IsInitialized();
  TargetSets sets{.generated = HWY_TARGETS, .supported = hwy::SupportedTargets()};
  if (was_initialized) {
    chosen.Update(sets.supported);
  } else {
    chosen.DeInit();
  }
  // All generated targets may have been disabled. The static one is what the compiler was free to
  // use for this very function, so it runs.
  if (sets.available() == 0) sets.supported |= HWY_STATIC_TARGET;
  return sets;
}

std::string_view TargetName(int64_t target) noexcept { return hwy::TargetName(target); }

std::vector<std::string> AvailableTargets() { return Names(Detected().available()); }

Result<int64_t> FindTarget(std::string_view name) { return FindTarget(name, Detected()); }

Result<int64_t> FindTarget(std::string_view name, const TargetSets& sets) {
  if (name.empty()) {
    if (sets.available() != 0) return LowestBit(sets.available());
    return Status::Unsupported("target: none is both in this build and supported by this machine");
  }
  if (const int64_t target = FindIn(sets.available(), name); target != 0) return target;
  if (FindIn(sets.generated, name) != 0) {
    return Status::Unsupported("target " + Quoted(name) +
                               " is not supported by this CPU or operating system" +
                               AvailableList(sets));
  }
  if (FindIn(sets.supported, name) != 0 || IsKnown(name)) {
    return Status::Unsupported("target " + Quoted(name) + " is not part of this build" +
                               AvailableList(sets));
  }
  return Status::InvalidArgument("target " + Quoted(name) + " is unknown" + AvailableList(sets));
}

}  // namespace lanewise::machine
