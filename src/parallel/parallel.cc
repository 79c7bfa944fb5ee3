// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/parallel.h"

#include <dlfcn.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "src/parallel/borrowed_arena.h"
#include "src/parallel/float_modes.h"
#include "src/parallel/forks.h"
#include "src/parallel/thread_supply.h"

namespace lanewise::parallel {
namespace {

// Threads that the scheduler uses at most, the caller's included.
int SchedulerThreads() {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

// oneTBB 2021.8 ends the process if it is unloaded after it had threads, which happens where a
// plugin of the application brought lanewise: from now on it stays.
void KeepSchedulerLoaded() noexcept {
  static const bool kept = [] {
    Dl_info library;
    return dladdr(reinterpret_cast<const void*>(TBB_runtime_interface_version), &library) != 0 &&
           dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  }();
  (void)kept;
}

// Hands out ranges until none are left.
class Ranges {
 public:
  Ranges(int64_t count, int64_t grain) : count_(count), grain_(grain) {}

  void Work(int worker, const RangeBody& body) noexcept {
    const DefaultFloatModes modes;
    for (;;) {
      const int64_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= count_) return;
      body(worker, begin, std::min(begin + grain_, count_));
    }
  }

 private:
  const int64_t count_;
  const int64_t grain_;
  std::atomic<int64_t> next_{0};
};

// For all teams of a process that can start only `startable` threads, at least 1, fewer than the
// scheduler would: arenas of their own could together ask for more. Half of them are left to the
// application. Never destroyed: static objects of the application may run plans late.
tbb::task_arena& NarrowArena(int startable) {
  static tbb::task_arena& arena = *new tbb::task_arena(1 + (startable + 1) / 2);
  return arena;
}

}  // namespace

Team::Team(int threads) : workers_(std::max(threads, 1)) {
  if (threads == 1) return;
  scheduler_threads_ = SchedulerThreads();
  if (threads == 0) {
    workers_ = std::max(tbb::this_task_arena::max_concurrency(), 1);
  } else {
    // The scheduler warns on standard error about an arena that is wider than it has threads for.
    arena_width_ = std::min(threads, scheduler_threads_);
  }
}

void Team::Run(int64_t count, int64_t grain, RangeBody body) const noexcept {
  if (count <= 0) return;
  Ranges ranges(count, grain);
  const int workers = static_cast<int>(std::min<int64_t>(workers_, (count - 1) / grain + 1));
  if (workers > 1 && !InForkedChild() && WatchForks()) {
    KeepSchedulerLoaded();
    const auto spread = [&] {
      tbb::parallel_for(
          0, workers, [&](int worker) { ranges.Work(worker, body); }, tbb::simple_partitioner());
    };
    const auto isolated = [&] { tbb::this_task_arena::isolate(spread); };
    // The scheduler starts threads from threads of its own. If one cannot be started then, nobody
    // catches its exception, and the process ends.
    const int startable = StartableThreads(scheduler_threads_ - 1);
    try {
      if (startable == scheduler_threads_ - 1) {
        if (arena_width_ > 0) {
          BorrowedArena(this, arena_width_)->execute(isolated);
        } else {
          isolated();
        }
      } else if (arena_width_ > 0 && startable > 0) {
        NarrowArena(startable).execute(isolated);
      }
    } catch (...) {
      // The scheduler ran out of memory. What it had started is done; the rest follows here.
    }
  }
  ranges.Work(0, body);
}

}  // namespace lanewise::parallel
