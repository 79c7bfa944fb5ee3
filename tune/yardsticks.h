// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the machine can do at most, to be measured between the rounds of the thing that is compared
// with it.

#ifndef LANEWISE_TUNE_YARDSTICKS_H_
#define LANEWISE_TUNE_YARDSTICKS_H_

#include <cstddef>  // size_t
#include <cstdint>  // int64_t
#include <vector>   // ReadSums

#include "tune/measure.h"
#include "tune/thread_team.h"

namespace lanewise::tune {

// A timer, and the amount of work (FLOPs or bytes) that one repeat of it does.
struct Yardstick {
  Timer timer;
  double work = 0;
};

// Multiply-adds in registers, on all members of `team` together; the rates of the members add up,
// so that a member that is held up takes away only its own share. `target` is one HWY_* bit that
// this machine supports; the peak is that target's, so that a forced target is compared with what
// its own vectors could do. `team` must outlive the result.
Yardstick FmaPeak(int64_t target, ThreadTeam& team);

// tanh as scores take it, of numbers in the first-level cache, on all members of `team` together;
// the work counts numbers. `target` and `team` as of FmaPeak.
Yardstick TanhCalls(int64_t target, ThreadTeam& team);

// An array to be read; its address and size are multiples of 4 bytes.
struct ReadArray {
  const void* data = nullptr;
  size_t size_bytes = 0;
};

// Plain sums over `arrays`, each split evenly over the members of `team`, until the last member is
// done: one yardstick for each element of kernels::kReadStreams, of which the best is the read
// bandwidth. `team` and the arrays must outlive the result.
std::vector<Yardstick> ReadSums(int64_t target, const std::vector<ReadArray>& arrays,
                                ThreadTeam& team);

// memcpy of `from` to `to`, split as in ReadSums; work counts the bytes once. The arrays may not
// overlap. `team` and they must outlive the result.
Yardstick MemoryCopy(const ReadArray& from, void* to, ThreadTeam& team);

}  // namespace lanewise::tune

#endif  // LANEWISE_TUNE_YARDSTICKS_H_
