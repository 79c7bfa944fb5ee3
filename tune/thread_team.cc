// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A team of threads with a common start. Members sleep until a call begins, which may take tens of
// microseconds, and then wait awake for each other, so that the start itself takes none.

#include "tune/thread_team.h"

#include <algorithm>
#include <cstddef>

#include "tune/measure.h"

namespace lanewise::tune {

ThreadTeam::ThreadTeam(int size) : seconds_(static_cast<size_t>(std::max(size, 1))) {
  try {
    for (int member = 1; member < size; ++member) {
      threads_.emplace_back([this, member] { Serve(member); });
    }
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { Stop(); }

const std::vector<double>& ThreadTeam::Run(const std::function<void(int)>& work) {
  const int others = size() - 1;
  work_ = &work;
  awake_ = 0;
  working_ = others;
  const uint32_t call = call_.fetch_add(1) + 1;
  call_.notify_all();
  while (awake_ != others) std::this_thread::yield();

  start_time_ = MonotonicSeconds();
  start_ = call;
  Work(0);
  while (working_ != 0) std::this_thread::yield();
  return seconds_;
}

void ThreadTeam::Work(int member) {
  (*work_)(member);
  seconds_[static_cast<size_t>(member)] = MonotonicSeconds() - start_time_;
}

void ThreadTeam::Serve(int member) {
  for (uint32_t call = 1;; ++call) {
    call_.wait(call - 1);
    if (work_ == nullptr) return;
    ++awake_;
    while (start_ != call) std::this_thread::yield();
    Work(member);
    --working_;
  }
}

void ThreadTeam::Stop() noexcept {
  work_ = nullptr;
  ++call_;
  call_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace lanewise::tune
