// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace lanewise::parallel {
namespace {

// The scheduler's threads do not exist in a child made by fork(), but its state says they do.
std::atomic<bool> in_forked_child{false};

bool WatchForks() noexcept {
  static const bool watching =
      pthread_atfork(nullptr, nullptr, [] { in_forked_child.store(true); }) == 0;
  return watching;
}

// Hands out ranges until none are left.
class Ranges {
 public:
  Ranges(int64_t count, int64_t grain) : count_(count), grain_(grain) {}

  void Work(int worker, const RangeBody& body) noexcept {
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

}  // namespace

struct Team::Arena {
  // The scheduler warns on standard error about an arena wider than it has threads for.
  explicit Arena(int threads)
      : arena(std::min(threads, static_cast<int>(tbb::global_control::active_value(
                                    tbb::global_control::max_allowed_parallelism)))) {}
  tbb::task_arena arena;
};

Team::Team(int threads) : workers_(std::max(threads, 1)) {
  if (threads == 0) {
    workers_ = std::max(tbb::this_task_arena::max_concurrency(), 1);
  } else if (threads > 1) {
    arena_ = std::make_unique<Arena>(threads);
  }
}

Team::~Team() = default;

void Team::Run(int64_t count, int64_t grain, RangeBody body) const noexcept {
  if (count <= 0) return;
  Ranges ranges(count, grain);
  const int workers = static_cast<int>(std::min<int64_t>(workers_, (count - 1) / grain + 1));
  if (workers > 1 && WatchForks() && !in_forked_child.load()) {
    const auto spread = [&] {
      tbb::parallel_for(
          0, workers, [&](int worker) { ranges.Work(worker, body); }, tbb::simple_partitioner());
    };
    try {
      if (arena_) {
        arena_->arena.execute([&] { tbb::this_task_arena::isolate(spread); });
      } else {
        tbb::this_task_arena::isolate(spread);
      }
    } catch (...) {
      // The scheduler ran out of memory. What it had started is done; the rest follows here.
    }
  }
  ranges.Work(0, body);
}

}  // namespace lanewise::parallel
