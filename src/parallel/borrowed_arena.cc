// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/parallel/borrowed_arena.h"

#include <oneapi/tbb/task_arena.h>

#include <list>
#include <mutex>

#include "src/parallel/forks.h"

namespace lanewise::parallel {

struct BorrowedArena::Entry {
  explicit Entry(int threads) : arena(threads), width(threads) {}

  tbb::task_arena arena;
  const int width;
  const void* borrower = nullptr;
  int times = 0;  // that the borrower holds it now; 0: idle
};

class BorrowedArena::Pool {
 public:
  Entry* Take(const void* borrower, int width) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* taken = nullptr;
    for (Entry& entry : arenas_) {
      if (entry.times > 0 && entry.borrower == borrower) {
        taken = &entry;
        break;
      }
      if (entry.times == 0 && entry.width == width) taken = &entry;
    }
    if (taken == nullptr) taken = &arenas_.emplace_front(width);
    taken->borrower = borrower;
    ++taken->times;
    return taken;
  }

  void Give(Entry* taken) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    --taken->times;
  }

  void EndIdle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    arenas_.remove_if([](const Entry& entry) { return entry.times == 0; });
  }

 private:
  std::mutex mutex_;
  std::list<Entry> arenas_;
};

// The pool itself is never destroyed: static objects of the application may run plans later.
BorrowedArena::Pool& BorrowedArena::ThePool() {
  static Pool& pool = *new Pool;
  struct EndWithTheLibrary {
    ~EndWithTheLibrary() {
      if (!InForkedChild()) pool.EndIdle();
    }
  };
  static const EndWithTheLibrary end;
  return pool;
}

BorrowedArena::BorrowedArena(const void* borrower, int width)
    : held_(ThePool().Take(borrower, width)) {}

BorrowedArena::~BorrowedArena() { ThePool().Give(held_); }

tbb::task_arena* BorrowedArena::operator->() const noexcept { return &held_->arena; }

}  // namespace lanewise::parallel
