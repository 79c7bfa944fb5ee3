// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One function for each kind of state.

#include "tests/support/process_state.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern char** environ;

namespace lanewise::testing {
namespace {

void AddFloatingPoint(std::ostream& state) {
  state << "rounding " << std::fegetround();
#if defined(__x86_64__)
  std::fenv_t environment;
  std::fegetenv(&environment);
  constexpr unsigned kStickyFlags = 0x3F;
  state << ", x87 control " << environment.__control_word << ", mxcsr "
        << (_mm_getcsr() & ~kStickyFlags);
#endif
  // Flush-to-zero on any architecture.
  volatile double smallest = 5e-324;
  state << ", subnormals " << (smallest != 0.0) << (smallest / 2 == 0.0);
}

void AddScheduling(std::ostream& state) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  state << ", affinity";
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) state << " " << cpu;
  }
  state << ", policy " << sched_getscheduler(0) << ", priority " << getpriority(PRIO_PROCESS, 0);
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  state << ", name " << name;
}

void AddSet(std::ostream& state, const sigset_t& signals) {
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    state << sigismember(&signals, signal_number);
  }
}

void AddSignals(std::ostream& state) {
  state << ", signals";
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    struct sigaction action = {};
    if (sigaction(signal_number, nullptr, &action) != 0) continue;
    state << " " << signal_number << ":" << reinterpret_cast<void*>(action.sa_handler) << "/"
          << action.sa_flags << "/";
    AddSet(state, action.sa_mask);
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  state << ", blocked ";
  AddSet(state, blocked);
}

// Of a thread that lives on: a new one may get its stack anywhere.
void AddSignalStack(std::ostream& state) {
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  state << ", signal stack " << stack.ss_sp << "/" << stack.ss_size << "/" << stack.ss_flags;
}

void AddLocale(std::ostream& state) {
  state << ", locale " << std::setlocale(LC_ALL, nullptr) << ", of the thread "
        << uselocale(nullptr) << ", decimal point " << std::localeconv()->decimal_point;
}

void AddFiles(std::ostream& state) {
  const mode_t mask = umask(0);
  umask(mask);
  state << ", umask " << mask << ", directory " << std::filesystem::current_path().string();
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory that is being read
    const std::filesystem::path target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.string().find("/fd") != std::string::npos) continue;
    files.insert(entry.path().filename().string() + " " + target.string());
  }
  state << ", files";
  for (const std::string& file : files) state << " " << file;
}

void AddLimits(std::ostream& state) {
  state << ", limits";
  for (const auto resource : {RLIMIT_AS, RLIMIT_CORE, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_NPROC,
                              RLIMIT_MEMLOCK, RLIMIT_STACK}) {
    rlimit limit = {};
    getrlimit(resource, &limit);
    state << " " << limit.rlim_cur << "/" << limit.rlim_max;
  }
  state << ", environment";
  for (char** entry = environ; *entry != nullptr; ++entry) state << " " << *entry;
}

std::string State() {
  std::ostringstream state;
  AddFloatingPoint(state);
  AddScheduling(state);
  AddSignals(state);
  AddLocale(state);
  AddFiles(state);
  AddLimits(state);
  return state.str();
}

}  // namespace

std::string ProcessState() {
  std::ostringstream stack;
  AddSignalStack(stack);
  return State() + stack.str();
}

std::string ProcessStateOfANewThread() {
  std::string state;
  std::thread([&] { state = State(); }).join();
  return state;
}

int ThreadCount() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    count += entry.exists();
  }
  return count;
}

}  // namespace lanewise::testing
