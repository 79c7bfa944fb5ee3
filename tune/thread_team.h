// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Threads that start a piece of work at the same moment. For yardsticks, which have to use several
// cores but should not depend on the scheduling that they are a measure for.

#ifndef LANEWISE_TUNE_THREAD_TEAM_H_
#define LANEWISE_TUNE_THREAD_TEAM_H_

#include <atomic>      // signals
#include <cstdint>     // uint32_t
#include <functional>  // work
#include <thread>      // members
#include <vector>      // members

namespace lanewise::tune {

// The caller and `size` - 1 other threads, which sleep between calls. Not pinned: where they run is
// up to the operating system, as for the library. One call at a time.
class ThreadTeam {
 public:
  // `size` below 1 counts as 1. Throws std::system_error when a thread cannot be started.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }

  // Calls `work(member)` for each member in [0, size()), each on its own thread; `work` must not
  // throw. Returns, for each member, the seconds from the moment when all threads were awake until
  // that member was done; valid until the next call.
  const std::vector<double>& Run(const std::function<void(int member)>& work);

 private:
  void Serve(int member);
  void Work(int member);
  void Stop() noexcept;

  std::vector<std::thread> threads_;
  std::vector<double> seconds_;
  const std::function<void(int)>* work_ = nullptr;  // null: leave
  double start_time_ = 0;
  std::atomic<uint32_t> call_{0};   // number of the call to wake up for
  std::atomic<uint32_t> start_{0};  // number of the call that may start
  std::atomic<int> awake_{0};
  std::atomic<int> working_{0};
};

}  // namespace lanewise::tune

#endif  // LANEWISE_TUNE_THREAD_TEAM_H_
