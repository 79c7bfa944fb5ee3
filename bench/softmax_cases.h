// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Row softmax as a case.

#ifndef LANEWISE_BENCH_SOFTMAX_CASES_H_
#define LANEWISE_BENCH_SOFTMAX_CASES_H_

#include <cstdint>   // int64_t
#include <memory>    // unique_ptr
#include <optional>  // bytes
#include <string>    // names
#include <utility>   // move
#include <vector>    // lists of cases

#include "bench/case.h"
#include "lanewise/softmax.h"
#include "tune/random_floats.h"

namespace lanewise::bench {

// f32, in place.
struct SoftmaxCase {
  std::string name;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Those of the table, in its order.
std::vector<SoftmaxCase> SoftmaxCases();

Case ToCase(SoftmaxCase benchmark);

// One call after the other works on what the one before has left; their time does not depend on it.
class PreparedSoftmax : public PreparedCase {
 public:
  // Errors: kOutOfMemory; kInvalidArgument for any override.
  static Status Check(const SoftmaxCase& benchmark, const Runtime& runtime,
                      const Overrides& overrides);
  static Result<std::unique_ptr<PreparedCase>> Make(const SoftmaxCase& benchmark,
                                                    const Runtime& runtime,
                                                    const Overrides& overrides);

  Status Run() noexcept override { return Softmax(rows_, rows_, {}, runtime_); }
  PlanSummary Explain() const override;

  // exp, sums and products with the scale count nothing.
  double flops() const override { return 0; }

  // The rows, compared with memcpy to another array.
  std::optional<double> bytes() const override;
  MemoryWork memory_work() const override { return MemoryWork::kCopy; }
  std::vector<tune::Yardstick> MemoryYardsticks(int64_t target,
                                                tune::ThreadTeam& team) const override;

  const Tensor& rows() const noexcept { return rows_; }

 private:
  PreparedSoftmax(tune::FloatArray memory, tune::FloatArray copy, const Tensor& rows,
                  Runtime runtime)
      : memory_(std::move(memory)),
        copy_(std::move(copy)),
        rows_(rows),
        runtime_(std::move(runtime)) {}

  tune::FloatArray memory_;
  tune::FloatArray copy_;
  Tensor rows_;
  Runtime runtime_;
};

}  // namespace lanewise::bench

#endif  // LANEWISE_BENCH_SOFTMAX_CASES_H_
