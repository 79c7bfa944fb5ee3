// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The ways in which one attention can be computed here: SIMD targets, register tiles, threads, key
// blocks.

#ifndef LANEWISE_TESTS_SUPPORT_PATHS_H_
#define LANEWISE_TESTS_SUPPORT_PATHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/runtime.h"
#include "src/attention/overrides.h"
#include "src/kernels/lanes.h"

namespace lanewise::testing {

// A default path is the default plan on one thread.
struct Path {
  Runtime runtime = {.threads = 1, .target = "", .note = ""};
  attention::PlanOverrides overrides = {};
  bool lse = false;      // also ask for the log-sum-exp
  bool weights = false;  // also ask for the weights
  // What RunOnPath does to a call, and what must not change its rows:
  bool mask = false;          // if it has none, one that hides nothing
  bool shared_heads = false;  // each query head twice, over the same kv heads

  std::string ToString() const;
};

// All targets of this machine. Under AddressSanitizer, where kernels are not optimized, the best
// one stands for all.
std::vector<std::string> TestedTargets();

// The tiles of a target that AvailableTargets() names.
std::vector<kernels::LanesKernel> TilesOf(const std::string& target);

// A register tile on one thread.
Path TilePath(const std::string& target, const kernels::LanesKernel& tile);

// The variant `few` on one thread.
Path FewPath(const std::string& target);

// Every target x (tile of `lanes`, or `few`) x {1, 2, 3} threads x with and without LSE x with and
// without weights; kv_block alternates between the default and a small one. Then every target x
// kernel x LSE x weights with a mask, with shared heads and with both, in turn, as are threads.
const std::vector<Path>& EveryPath();

// Every target x (tile of `lanes`, or `few`) twice, once as a case is and once with a mask and with
// shared heads; threads, LSE, weights and kv_block take turns, and are the opposite the second
// time.
const std::vector<Path>& EveryTile();

// The default tile of every target, on one thread.
const std::vector<Path>& EveryTarget();

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_PATHS_H_
