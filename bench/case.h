// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the programs know of a case, whatever is computed in it.

#ifndef LANEWISE_BENCH_CASE_H_
#define LANEWISE_BENCH_CASE_H_

#include <cstdint>     // int64_t
#include <functional>  // Case::prepare
#include <memory>      // unique_ptr
#include <optional>    // PreparedCase::bytes
#include <string>      // names
#include <utility>     // pair, move
#include <vector>      // yardsticks

#include "bench/plan_summary.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "tune/thread_team.h"
#include "tune/yardsticks.h"

namespace lanewise::bench {

// Parameters of plans fixed by hand; an absent field (empty, 0) leaves the choice to the defaults.
// A case whose plan has no such parameter refuses it.
struct Overrides {
  std::string variant;
  std::string tile;
  int64_t kv_block = 0;  // of attention, like the next two
  int64_t q_groups = 0;
  int64_t grain = 0;
  int64_t row_block = 0;  // of matrix products, like the next two
  int64_t depth_block = 0;
  int64_t column_block = 0;
};

// What memory has to do for a case that memory bounds: the bytes are read once, or read and
// written.
enum class MemoryWork { kRead, kCopy };

// A case with everything that a call needs: plan, arrays of random numbers, workspace.
class PreparedCase {
 public:
  virtual ~PreparedCase() = default;

  // One call.
  virtual Status Run() noexcept = 0;
  virtual PlanSummary Explain() const = 0;

  // Useful floating-point operations of a call.
  virtual double flops() const = 0;

  // Numbers whose tanh a call takes, if that is what bounds it; else 0.
  virtual double tanhs() const { return 0; }

  // The bytes that a call has to move, if memory is what bounds it, and what they are compared
  // with: the best of these yardsticks, over the same arrays.
  virtual std::optional<double> bytes() const { return std::nullopt; }
  virtual MemoryWork memory_work() const { return MemoryWork::kRead; }
  virtual std::vector<tune::Yardstick> MemoryYardsticks(int64_t /*target*/,
                                                        tune::ThreadTeam& /*team*/) const {
    return {};
  }
};

// The error for an override that plans of `kind` do not have.
inline Status RefuseOverride(const char* name, int64_t value, const char* kind) {
  return Status::InvalidArgument(std::string(name) + ": found " + std::to_string(value) +
                                 ", expected none for " + kind);
}

// The error for any override, of cases whose plans take none.
inline Status RefuseOverrides(const Overrides& overrides, const char* kind) {
  const std::pair<const char*, const std::string*> names[] = {{"variant", &overrides.variant},
                                                              {"tile", &overrides.tile}};
  for (const auto& [name, value] : names) {
    if (value->empty()) continue;
    return Status::InvalidArgument(std::string(name) + ": found \"" + *value +
                                   "\", expected none for " + kind);
  }
  const std::pair<const char*, int64_t> numbers[] = {{"kv_block", overrides.kv_block},
                                                     {"q_groups", overrides.q_groups},
                                                     {"grain", overrides.grain},
                                                     {"row_block", overrides.row_block},
                                                     {"depth_block", overrides.depth_block},
                                                     {"column_block", overrides.column_block}};
  for (const auto& [name, value] : numbers) {
    if (value != 0) return RefuseOverride(name, value, kind);
  }
  return {};
}

struct Case {
  std::string name;
  // What is wrong with the request, found without making arrays.
  std::function<Status(const Runtime&, const Overrides&)> check;
  std::function<Result<std::unique_ptr<PreparedCase>>(const Runtime&, const Overrides&)> prepare;
};

// The case of a line of any table, which `Prepared` knows how to check and to prepare.
template <class Prepared, class Line>
Case CaseOf(const Line& line) {
  return {line.name,
          [line](const Runtime& runtime, const Overrides& overrides) {
            return Prepared::Check(line, runtime, overrides);
          },
          [line](const Runtime& runtime, const Overrides& overrides) {
            return Prepared::Make(line, runtime, overrides);
          }};
}

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_CASE_H_
