// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Where and with how many threads plans run.
//
// A run on one thread allocates nothing and takes no lock. One on several threads borrows an arena
// of oneTBB, and makes one if all that the process has are in use; no lock is held while it
// computes. oneTBB itself allocates tasks. The first run of a process that wants several threads
// finds out whether the system lets them start. Where memory or threads are refused, the run does
// with fewer. A child made by fork() after such a run computes on the calling thread alone.

#ifndef LANEWISE_RUNTIME_H_
#define LANEWISE_RUNTIME_H_

#include <string>  // target, note
#include <vector>  // AvailableTargets

#include "lanewise/export.h"

namespace lanewise {

// What a plan may use. A plain value; plans copy what they need from it.
//
//   lanewise::Runtime runtime = lanewise::DefaultRuntime();
//   runtime.threads = 1;
//   auto plan = lanewise::PlanAttention(shape, options, runtime);
struct Runtime {
  // Threads a call may use, the caller's included. 0: work in the oneTBB arena the caller is in,
  // with the width that arena has when the plan is made. 1: never leave the calling thread.
  // Results do not depend on it, bit for bit.
  int threads = 0;

  // SIMD target by name ("AVX3", "AVX2", "SSE4", ...; case does not matter). Empty: the best that
  // this CPU and operating system support. A name that this machine cannot run is an error of the
  // plan, which lists the names that it can.
  std::string target;

  // What DefaultRuntime() found wrong in the environment, one line; empty if nothing. Shown by
  // AttentionPlan::Explain and `lanewise info`.
  std::string note;
};

// The process-wide default: threads = min(CPUs in the affinity mask, container CPU quota), best
// target. The environment is read once, at the first call:
//
//   LANEWISE_THREADS  a number of threads, 1 to 4096. Anything else is ignored and leaves a `note`.
//   LANEWISE_TARGET   a target name, as in Runtime::target.
//
// If there is no memory for that, this call gives one thread and the best target; the next one
// reads the environment again.
//
// Thread-safe.
LANEWISE_EXPORT const Runtime& DefaultRuntime() noexcept;

// Names of the SIMD targets that this machine can run, best first.
LANEWISE_EXPORT std::vector<std::string> AvailableTargets();

}  // namespace lanewise

#endif  // LANEWISE_RUNTIME_H_
