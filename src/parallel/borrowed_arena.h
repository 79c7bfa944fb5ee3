// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The scheduler's arenas, used again and again.

#ifndef LANEWISE_SRC_PARALLEL_BORROWED_ARENA_H_
#define LANEWISE_SRC_PARALLEL_BORROWED_ARENA_H_

#include <oneapi/tbb/task_arena.h>

namespace lanewise::parallel {

// An arena for one borrower, who may hold it several times at once: the one it holds already, else
// an idle one of that width, else a new one. A process has as many as there ever were borrowers at
// the same time: oneTBB 2021.8 often keeps the memory of an arena that ends right after use, about
// 7 KB, and the more it has kept, the longer it takes to make the next. Idle ones end with the
// library. Throws when memory runs out. Not for children of fork().
class BorrowedArena {
 public:
  // width: threads in the arena, the caller's included, at least 1; always the same for a borrower.
  BorrowedArena(const void* borrower, int width);
  ~BorrowedArena();

  BorrowedArena(const BorrowedArena&) = delete;
  BorrowedArena& operator=(const BorrowedArena&) = delete;

  tbb::task_arena* operator->() const noexcept;

 private:
  struct Entry;
  class Pool;

  static Pool& ThePool();

  Entry* held_;
};

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_BORROWED_ARENA_H_
