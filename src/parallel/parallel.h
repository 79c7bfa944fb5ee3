// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Threads. The only room that knows oneTBB.

#ifndef LANEWISE_SRC_PARALLEL_PARALLEL_H_
#define LANEWISE_SRC_PARALLEL_PARALLEL_H_

#include <cstdint>

namespace lanewise::parallel {

// A call of `body(worker, begin, end)`, without owning the body.
class RangeBody {
 public:
  template <typename Body>
  explicit RangeBody(const Body& body)
      : body_(&body), call_([](const void* b, int worker, int64_t begin, int64_t end) {
          (*static_cast<const Body*>(b))(worker, begin, end);
        }) {}

  void operator()(int worker, int64_t begin, int64_t end) const {
    call_(body_, worker, begin, end);
  }

 private:
  const void* body_;
  void (*call_)(const void*, int, int64_t, int64_t);
};

// Threads that a plan may use. Shareable: calls from several threads at once are fine, and have
// those threads together.
class Team {
 public:
  // threads >= 1: a team of that many, the caller's thread included. 0: the arena the caller is in
  // when it calls Run, with at most as many workers as that arena has now.
  explicit Team(int threads);

  // Workers that may run at the same time, at least 1.
  int workers() const noexcept { return workers_; }

  // Splits [0, count) into ranges of `grain` (the last may be shorter) and calls the body once for
  // each, on at most workers() threads at a time; returns when all are done. `worker` is in
  // [0, workers()) and never in use twice at the same time. Ranges are handed out in order to
  // whoever is free. A task that waits here does not pick up unrelated work of its thread, so a
  // caller's per-thread scratch is safe. In a child made by fork(), and when the task scheduler
  // fails, everything runs on the calling thread; where the system lets the process start fewer
  // threads, on those, or in the caller's arena on the calling thread. The body runs with default
  // floating-point modes, and must not throw.
  void Run(int64_t count, int64_t grain, RangeBody body) const noexcept;

 private:
  int workers_;
  int arena_width_ = 0;        // 0: one worker, or the caller's arena
  int scheduler_threads_ = 1;  // of all arenas together, the caller's thread included
};

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_PARALLEL_H_
