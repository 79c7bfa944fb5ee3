// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Callers with floating-point modes of their own: they keep them, and results do not depend on
// them.

#include <fenv.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "lanewise/kv_cache.h"
#include "tests/process/cases.h"
#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/process_state.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lanewise::testing {
namespace {

struct Modes {
  const char* name;
  void (*set)();
};

std::vector<Modes> OddModes() {
  std::vector<Modes> modes = {
      {"upward", [] { fesetround(FE_UPWARD); }},
      {"toward zero", [] { fesetround(FE_TOWARDZERO); }},
  };
#if defined(__x86_64__)
  modes.push_back(
      {"flush to zero, subnormals are zero", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }});
#endif
#if defined(__GLIBC__)
  // Not every CPU of other architectures can trap.
  modes.push_back({"traps", [] {
                     feclearexcept(FE_ALL_EXCEPT);
                     feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
                   }});
#endif
  return modes;
}

// Values and results are subnormal, and some are NaN: what modes make a difference to.
AttentionCase SensitiveCase() {
  AttentionCase c = PrefillCase();
  c.v = Gen(3, Count(c.v_sizes()), 1e-38F);
  for (size_t i = 0; i < c.v.size(); i += 997) c.v[i] = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 500; i < c.v.size(); i += 997) c.v[i] = std::numeric_limits<float>::infinity();
  return c;
}

// Runs `plan` on a thread with `modes`, which have to survive; what came out.
class Runner {
 public:
  Runner() : prepared_(SensitiveCase()) {}

  Result<AttentionPlan> Plan(int threads) const {
    return PlanAttention(prepared_.description().shape, prepared_.description().options,
                         OnThreads(threads).runtime);
  }

  std::vector<float> Run(const AttentionPlan& plan, void (*set_modes)()) const {
    std::vector<float> out = Repeat(0, Count(prepared_.description().out_sizes()));
    AttentionTensors tensors = prepared_.inputs();
    tensors.out = Tensor(out.data(), prepared_.description().out_sizes());
    Workspace workspace(plan.workspace_bytes());
    std::string before;
    std::string after;
    std::thread([&] {
      if (set_modes != nullptr) set_modes();
      before = ProcessState();
      const Status status = plan.Run(tensors, workspace);
      after = ProcessState();
      EXPECT_TRUE(status.ok()) << status.message();
    }).join();
    EXPECT_EQ(after, before);
    return out;
  }

  AttentionRun Expected() const {
    const AttentionRun run = prepared_.Run(OnThreads(1));
    EXPECT_TRUE(prepared_.Agrees(run, prepared_.FromReference()));
    return run;
  }

 private:
  PreparedCase prepared_;
};

TEST(FloatModesTest, MergingDoesNotDependOnTheCaller) {
  const Sizes row = {1, 1, 1, 64};
  const Sizes one = {1, 1, 1, 1};
  const std::vector<float> first = Gen(1, 64, 1e-38F);
  const std::vector<float> second = Gen(2, 64, 1e-38F);
  const float first_lse = 0.3F;
  const float second_lse = -0.4F;
  const AttentionPart parts[] = {{{first.data(), row}, {&first_lse, one}},
                                 {{second.data(), row}, {&second_lse, one}}};
  const auto merge = [&](void (*set_modes)()) {
    std::vector<float> out = Repeat(0, 64);
    std::thread([&] {
      if (set_modes != nullptr) set_modes();
      const std::string before = ProcessState();
      EXPECT_TRUE(MergeAttention(parts, 2, Tensor(out.data(), row)).ok());
      EXPECT_EQ(ProcessState(), before);
    }).join();
    return out;
  };
  const std::vector<float> expected = merge(nullptr);
  for (const Modes& modes : OddModes()) {
    EXPECT_TRUE(SameBits(merge(modes.set), expected)) << modes.name;
  }
}

TEST(FloatModesTest, ResultsDoNotDependOnTheCaller) {
  const Runner runner;
  const std::vector<float> expected = runner.Expected().out;
  for (const Modes& modes : OddModes()) {
    for (const int threads : {1, 2, 0}) {
      const std::string what = std::string(modes.name) + ", threads " + std::to_string(threads);
      const Result<AttentionPlan> plan = runner.Plan(threads);
      ASSERT_TRUE(plan.ok());
      EXPECT_TRUE(SameBits(runner.Run(*plan, modes.set), expected)) << what;
    }
  }
}

// What is computed before and beside the products.
TEST(FloatModesTest, ScaledWeightsDoNotDependOnTheCaller) {
  AttentionCase c = PrefillCase();
  c.SetAdditive(c.shape.dim, false, false);
  c.options.scale = 0.3F;
  const PreparedCase prepared(c);
  const AttentionRun expected = prepared.Run(OnThreads(1));
  for (const Modes& modes : OddModes()) {
    std::thread([&] {
      modes.set();
      EXPECT_TRUE(SameBits(prepared.Run(OnThreads(1)), expected)) << modes.name;
    }).join();
  }
}

TEST(FloatModesTest, CachesRoundAsEverAndDoNotTrap) {
  const std::vector<float> row = {1e6F, 1.0F + 0x1p-11F, std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::signaling_NaN()};
  const Sizes sizes = {1, 1, 1, 4};
  const auto append = [&](void (*set_modes)()) {
    std::vector<uint16_t> k(4), v(4);
    int64_t length = 0;
    std::thread([&] {
      if (set_modes != nullptr) set_modes();
      KvCache cache;
      cache.k = Tensor(k.data(), DataType::kF16, sizes);
      cache.v = Tensor(v.data(), DataType::kF16, sizes);
      cache.batch = 1;
      cache.length = &length;
      const Status status =
          AppendKv(cache, ConstTensor(row.data(), sizes), ConstTensor(row.data(), sizes));
      EXPECT_TRUE(status.ok()) << status.message();
    }).join();
    return k;
  };
  const std::vector<uint16_t> expected = append(nullptr);
  for (const Modes& modes : OddModes()) EXPECT_EQ(append(modes.set), expected) << modes.name;
}

// The scheduler remembers the modes of the thread that a plan first ran on.
TEST(FloatModesTest, ModesOfOneCallerDoNotReachAnother) {
  const Runner runner;
  const std::vector<float> expected = runner.Expected().out;
  for (const Modes& modes : OddModes()) {
    const Result<AttentionPlan> plan = runner.Plan(2);
    ASSERT_TRUE(plan.ok());
    for (const auto set_modes : {modes.set, static_cast<void (*)()>(nullptr), modes.set}) {
      EXPECT_TRUE(SameBits(runner.Run(*plan, set_modes), expected)) << modes.name;
    }
  }
}

}  // namespace
}  // namespace lanewise::testing
