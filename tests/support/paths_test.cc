// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// That the lists of paths have what tests rely on.

#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lanewise::testing {
namespace {

// What a path may or may not have.
constexpr const char* kProperties[] = {"lse",          "weights",         "a mask",
                                       "shared heads", "several threads", "a small kv_block"};
using Properties = std::array<bool, std::size(kProperties)>;

Properties PropertiesOf(const Path& path) {
  return {path.lse,
          path.weights,
          path.mask,
          path.shared_heads,
          path.runtime.threads > 1,
          path.overrides.kv_block != 0};
}

// By target and kernel.
std::map<std::string, std::vector<Properties>> ByKernel(const std::vector<Path>& paths) {
  std::map<std::string, std::vector<Properties>> kernels;
  for (const Path& path : paths) {
    const attention::PlanOverrides& overrides = path.overrides;
    kernels[path.runtime.target + " " + overrides.variant + overrides.tile].push_back(
        PropertiesOf(path));
  }
  return kernels;
}

// On all targets.
size_t KernelCount() {
  size_t count = 0;
  for (const std::string& target : TestedTargets()) count += TilesOf(target).size() + 1;
  return count;
}

TEST(Paths, EveryKernelWithAndWithoutEachProperty) {
  for (const auto& [name, paths] :
       {std::pair("EveryPath", &EveryPath()), std::pair("EveryTile", &EveryTile())}) {
    const auto kernels = ByKernel(*paths);
    EXPECT_EQ(kernels.size(), KernelCount()) << name;
    for (const auto& [kernel, runs] : kernels) {
      for (size_t i = 0; i < std::size(kProperties); ++i) {
        std::set<bool> found;
        for (const Properties& run : runs) found.insert(run[i]);
        EXPECT_EQ(found.size(), 2U)
            << name << ": " << kernel << " is always, or never, with " << kProperties[i];
      }
    }
  }
}

// Outputs and threads in all combinations; masks and shared heads alone and together.
TEST(Paths, EveryPathCombinesProperties) {
  for (const auto& [kernel, runs] : ByKernel(EveryPath())) {
    std::set<std::vector<bool>> outputs;
    std::set<std::vector<bool>> inputs;
    for (const auto& [lse, weights, mask, shared, threads, small] : runs) {
      if (!mask && !shared) outputs.insert({lse, weights, threads});
      inputs.insert({mask, shared});
    }
    EXPECT_EQ(outputs.size(), 8U) << kernel;
    EXPECT_EQ(inputs.size(), 4U) << kernel;
  }
}

}  // namespace
}  // namespace lanewise::testing
