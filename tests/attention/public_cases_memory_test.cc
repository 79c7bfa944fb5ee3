// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Public failure reports about large sizes (group M) and about memory (group R).

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/support/gen.h"
#include "tests/support/means.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"

namespace lanewise::testing {
namespace {

// Memory of which only the touched pages exist; null if the system refuses.
class LazyMemory {
 public:
  explicit LazyMemory(size_t bytes)
      : bytes_(bytes),
        address_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;
  ~LazyMemory() {
    if (address_ != MAP_FAILED) munmap(address_, bytes_);
  }

  void* get() const { return address_ == MAP_FAILED ? nullptr : address_; }

 private:
  size_t bytes_;
  void* address_;
};

// Runs the three rows of a report on every tile.
void ExpectC098(const AttentionTensors& inputs, const AttentionOptions& options) {
  const float zeros[3] = {};
  const float v[2] = {1, 2};
  AttentionTensors tensors = inputs;
  tensors.q = ConstTensor(zeros, {1, 1, 3, 1});
  tensors.k = ConstTensor(zeros, {1, 1, 2, 1});
  tensors.v = ConstTensor(v, {1, 1, 2, 1});
  const AttentionShape shape = {.queries = 3, .keys = 2, .dim = 1, .value_dim = 1};
  for (const Path& path : EveryTile()) {
    std::vector<float> out = Repeat(0, 3);
    tensors.out = Tensor(out.data(), {1, 1, 3, 1});
    const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(out, (std::vector<float>{1.5F, 1, 2})) << path.ToString();
  }
}

TEST(PublicCases, C098_MaskRowsBeyond32Bits) {
  constexpr int64_t kStride = int64_t{1} << 31;
  const LazyMemory memory(2 * static_cast<size_t>(kStride) + 2);
  if (memory.get() == nullptr) GTEST_SKIP() << "the system refuses a mapping of 4 GiB";
  uint8_t* rows = static_cast<uint8_t*>(memory.get());
  rows[0] = rows[1] = rows[kStride] = rows[2 * kStride + 1] = 1;
  AttentionOptions options;
  options.mask = true;
  AttentionTensors tensors;
  tensors.mask =
      ConstTensor(rows, DataType::kBool, {1, 1, 3, 2}, {3 * kStride, 3 * kStride, kStride, 1});
  ExpectC098(tensors, options);
}

TEST(PublicCases, C098_BiasRowsBeyond32Bits) {
  constexpr int64_t kStride = int64_t{1} << 30;
  const LazyMemory memory((2 * static_cast<size_t>(kStride) + 2) * sizeof(float));
  if (memory.get() == nullptr) GTEST_SKIP() << "the system refuses a mapping of 8 GiB";
  float* rows = static_cast<float*>(memory.get());
  rows[kStride + 1] = rows[2 * kStride] = -std::numeric_limits<float>::infinity();
  AttentionOptions options;
  options.bias = true;
  AttentionTensors tensors;
  tensors.bias = ConstTensor(rows, {1, 1, 3, 2}, {3 * kStride, 3 * kStride, kStride, 1});
  ExpectC098(tensors, options);
}

// The weights of two far rows.
TEST(AttentionMemory, WeightRowsBeyond32Bits) {
  constexpr int64_t kStride = int64_t{1} << 30;
  const LazyMemory memory((2 * static_cast<size_t>(kStride) + 2) * sizeof(float));
  if (memory.get() == nullptr) GTEST_SKIP() << "the system refuses a mapping of 8 GiB";
  float* rows = static_cast<float*>(memory.get());
  const float zeros[3] = {};
  AttentionTensors tensors;
  tensors.q = ConstTensor(zeros, {1, 1, 3, 1});
  tensors.k = tensors.v = ConstTensor(zeros, {1, 1, 2, 1});
  tensors.weights = Tensor(rows, {1, 1, 3, 2}, {3 * kStride, 3 * kStride, kStride, 1});
  AttentionOptions options;
  options.weights = options.causal = options.top_left = true;
  const AttentionShape shape = {.queries = 3, .keys = 2, .dim = 1, .value_dim = 1};
  for (const Path& path : EveryTile()) {
    std::vector<float> out = Repeat(0, 3);
    tensors.out = Tensor(out.data(), {1, 1, 3, 1});
    const Result<PlanExplanation> result = RunOnPath(shape, options, path, tensors);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(rows[0], 1.0F);
    EXPECT_EQ(rows[1], 0.0F);
    for (const int64_t row : {1, 2}) {
      EXPECT_EQ(rows[row * kStride], 0.5F) << path.ToString();
      EXPECT_EQ(rows[row * kStride + 1], 0.5F) << path.ToString();
    }
  }
}

constexpr int64_t kRadius = 16;
constexpr int64_t kDim = 8;

AttentionCase C121Case(int64_t length) {
  AttentionCase c;
  c.shape = {.queries = length, .keys = length, .dim = kDim, .value_dim = kDim};
  c.options.window = AttentionWindow::Radius(kRadius);
  return c;
}

// EveryTile() without what is as large as queries x keys: weights, and `few`, which is for few
// queries.
std::vector<Path> PathsForLongRows() {
  std::vector<Path> paths;
  for (Path path : EveryTile()) {
    if (path.overrides.variant == "few") continue;
    path.weights = false;
    paths.push_back(path);
  }
  return paths;
}

int64_t PeakKibibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// In a process whose peak is that of the arrays.
TEST(PublicCases, C121_LocalAttentionNeedsNoMemoryForAllPairs) {
  if (!CanFork()) GTEST_SKIP() << "the thread sanitizer does not support fork";
  if (kAddressSanitizer) GTEST_SKIP() << "the address sanitizer has memory of its own";
  if (!InFreshProcess()) {
    EXPECT_EQ(RunTestInFreshProcess({}), "within 32 MiB");
    return;
  }
  for (const int64_t length : {32768, 65536}) {
    const PreparedCase prepared(C121Case(length));
    const AttentionCase& c = prepared.description();
    std::vector<float> out = Repeat(0, length * kDim);
    AttentionTensors tensors = prepared.inputs();
    tensors.out = Tensor(out.data(), c.out_sizes());
    const int64_t before = PeakKibibytes();
    const Status status = Attention(tensors, c.options);
    ASSERT_TRUE(status.ok()) << status.message();
    for (Path path : EveryTarget()) {
      for (const bool more : {false, true}) {
        path.lse = path.shared_heads = more;
        path.runtime.threads = more ? 2 : 1;
        const Result<PlanExplanation> result = RunOnPath(c.shape, c.options, path, tensors);
        ASSERT_TRUE(result.ok()) << result.status().message();
      }
    }
    const int64_t extra = PeakKibibytes() - before;
    if (extra > 32 * 1024) return ReportToParent(std::to_string(extra) + " KiB");
  }
  ReportToParent("within 32 MiB");
}

TEST(PublicCases, C121_WorkspaceDoesNotGrowWithTheLength) {
  for (const Path& path : PathsForLongRows()) {
    std::vector<size_t> bytes;
    for (const int64_t length : {32768, 65536, 1 << 24}) {
      const AttentionCase c = C121Case(length);
      const Result<AttentionPlan> plan =
          attention::PlanAttentionWith(c.shape, c.options, path.runtime, path.overrides);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      bytes.push_back(plan->workspace_bytes());
    }
    EXPECT_EQ(bytes[1], bytes[0]) << path.ToString();
    EXPECT_EQ(bytes[2], bytes[0]) << path.ToString();
    EXPECT_LT(bytes[0], static_cast<size_t>(path.runtime.threads) << 20) << path.ToString();
  }
}

// Every row is checked against the definition over the keys around it.
TEST(PublicCases, C121_ResultIsRight) {
  constexpr int64_t kLength = 32768;
  constexpr int64_t kRows = 64;
  const PreparedCase prepared(C121Case(kLength));
  const AttentionTensors& whole = prepared.inputs();
  std::vector<AttentionRun> runs;
  for (const Path& path : PathsForLongRows()) runs.push_back(prepared.Run(path));
  for (int64_t first = 0; first < kLength; first += kRows) {
    const int64_t begin = std::max(first - kRadius, int64_t{0});
    const int64_t end = std::min(first + kRows + kRadius, kLength);
    const auto rows = [](const ConstTensor& tensor, int64_t row, int64_t count) {
      return ConstTensor(static_cast<const float*>(tensor.data) + row * kDim, {1, 1, count, kDim});
    };
    AttentionTensors tensors;
    tensors.q = rows(whole.q, first, kRows);
    tensors.k = rows(whole.k, begin, end - begin);
    tensors.v = rows(whole.v, begin, end - begin);
    AttentionOptions options = prepared.description().options;
    options.query_offset = first - begin;
    const reference::AttentionResult expected = reference::Attention(tensors, options);
    const reference::AttentionTolerance tolerance =
        reference::Tolerance(tensors, options, expected);
    for (const AttentionRun& run : runs) {
      const ConstTensor out(run.out.data() + first * kDim, {1, 1, kRows, kDim});
      const reference::Comparison of_out = reference::Compare(out, expected.out, tolerance.out);
      ASSERT_TRUE(of_out.ok()) << "rows from " << first << ": " << reference::Describe(of_out.worst)
                               << "\n"
                               << run.plan.ToString();
      if (run.lse.empty()) continue;
      const ConstTensor lse(run.lse.data() + first, {1, 1, kRows, 1});
      const reference::Comparison of_lse = reference::Compare(lse, expected.lse, tolerance.lse);
      ASSERT_TRUE(of_lse.ok()) << "lse of rows from " << first << ": "
                               << reference::Describe(of_lse.worst) << "\n"
                               << run.plan.ToString();
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
