// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/runtime.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>

#include "src/machine/cpus.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"

namespace lanewise {
namespace {

// The value of LANEWISE_THREADS if it is a number of threads, else what it replaces, with a note.
int ThreadsFrom(std::string_view text, int fallback, std::string& note) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && threads > 0 && threads <= parallel::kMaxThreads) return threads;
  note = fmt::format("LANEWISE_THREADS: found \"{}\", expected 1 to {}; using {}", text,
                     parallel::kMaxThreads, fallback);
  return fallback;
}

Runtime FromEnvironment() {
  Runtime runtime;
  runtime.threads = machine::DetectCpuBudget().threads;
  if (const char* threads = std::getenv("LANEWISE_THREADS")) {
    runtime.threads = ThreadsFrom(threads, runtime.threads, runtime.note);
  }
  if (const char* target = std::getenv("LANEWISE_TARGET")) runtime.target = target;
  return runtime;
}

}  // namespace

// Never destroyed: static objects of the application may plan and run later.
const Runtime& DefaultRuntime() noexcept {
  try {
    static const Runtime& runtime = *new Runtime(FromEnvironment());
    return runtime;
  } catch (const std::bad_alloc&) {
    // Holds no memory of its own.
    alignas(Runtime) static char memory[sizeof(Runtime)];
    static const Runtime& one_thread = *new (memory) Runtime{1, {}, {}};
    return one_thread;
  }
}

std::vector<std::string> AvailableTargets() { return machine::AvailableTargets(); }

}  // namespace lanewise
