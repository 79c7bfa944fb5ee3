// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One layer, and one plan of it, in several threads at once, each with its own workspace.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lanewise/layers.h"
#include "tests/layers/layer_case.h"
#include "tests/support/concurrency.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr size_t kUsers = 4;
constexpr int kRounds = 10;

// Enough rows for several threads of a product, and two lane groups or more.
const MultiHeadShape kShape = LayerShape(4, 2, 8);
const MultiHeadCall kCall = CrossCall(2, 35, 21);

// One user of a shared plan: own data, own workspace, own output.
class User {
 public:
  User(const MultiHeadPlan& plan, uint32_t seed)
      : call_(kShape, kCall), workspace_(plan.workspace_bytes()) {
    call_.x().Set(Gen(seed, Count(call_.x().view().sizes)));
    call_.x_kv().Set(Gen(seed + 100, Count(call_.x_kv().view().sizes)));
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  // The bits of the output of a run, none if it fails.
  std::vector<uint32_t> Run(const MultiHeadPlan& plan) {
    const MultiHeadTensors tensors = call_.tensors();
    float* const out = static_cast<float*>(tensors.out.data);
    std::fill_n(out, Count(tensors.out.sizes), -1.0F);
    if (!plan.Run(tensors, workspace_).ok()) return {};
    return call_.Bits();
  }

 private:
  LayerCall call_;
  Workspace workspace_;
};

TEST(ConcurrencyLayers, ManyThreadsRunOnePlan) {
  const Parameters parameters(kShape);
  AttentionOptions options;
  options.causal = true;
  for (const int threads : PlanThreads()) {
    Runtime runtime = OneThread();
    runtime.threads = threads;
    const MultiHeadAttention layer = MakeLayer(kShape, parameters.Apart(), runtime);
    const Result<MultiHeadPlan> plan = layer.Plan(kCall, options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    std::vector<std::unique_ptr<User>> users;
    std::vector<std::vector<uint32_t>> alone;
    for (uint32_t i = 0; i < kUsers; ++i) {
      users.push_back(std::make_unique<User>(*plan, 40 + i));
      alone.push_back(users.back()->Run(*plan));
      ASSERT_FALSE(alone.back().empty());
    }
    ASSERT_NE(alone[0], alone[1]);
    const auto run = [&](size_t i) { return users[i]->Run(*plan) == alone[i]; };
    EXPECT_EQ(FailuresAtOnce(kUsers, kRounds, run), 0) << "threads " << threads;
  }
}

TEST(ConcurrencyLayers, ManyThreadsPlanFromOneLayer) {
  const Parameters parameters(kShape);
  const MultiHeadAttention layer = MakeLayer(kShape, parameters.Apart());
  LayerCall serial(kShape, kCall);
  ASSERT_TRUE(serial.Run(layer).ok());
  const std::vector<uint32_t> alone = serial.Bits();
  const auto plan_and_run = [&](size_t /*i*/) {
    LayerCall call(kShape, kCall);
    return call.Run(layer).ok() && call.Bits() == alone;
  };
  EXPECT_EQ(FailuresAtOnce(kUsers, kRounds, plan_and_run), 0);
}

}  // namespace
}  // namespace lanewise::testing
