// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The signal handler: it may only write what was prepared.

#include "tests/fuzz/current_case.h"

#include <signal.h>  // sigaction
#include <unistd.h>  // write

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

namespace lanewise::testing {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr size_t kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);

char text[4096];
std::atomic<size_t> text_size = 0;  // 0: no case
struct sigaction previous[kSignalCount];

// Prints the case and lets the previous handler do the rest: the faulting instruction, or abort,
// raises the signal again.
void PrintCase(int signal) {
  if (text_size != 0 && write(STDERR_FILENO, text, text_size) < 0) text_size = 0;
  for (size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == signal) sigaction(signal, &previous[i], nullptr);
  }
}

bool Install() {
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction action = {};
    action.sa_handler = PrintCase;
    sigaction(kSignals[i], &action, &previous[i]);
  }
  return true;
}

}  // namespace

CurrentCase::CurrentCase(const FuzzCase& c) {
  static const bool installed = Install();
  const std::string line = "\ncrashed at:\n  " + ToText(c) + "\n";
  const size_t size = std::min(line.size(), sizeof(text));
  std::copy_n(line.data(), size, text);
  text_size = installed ? size : 0;
}

CurrentCase::~CurrentCase() { text_size = 0; }

}  // namespace lanewise::testing
