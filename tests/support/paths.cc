// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Lists of targets, tiles and settings.

#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include "src/machine/targets.h"
#include "tests/support/sanitizers.h"

namespace lanewise::testing {
namespace {

// Small enough that tests with some tens of keys cross block edges; no multiple of a tile's rows
// beyond 16.
constexpr int64_t kSmallKvBlock = 48;

// Every register tile of `lanes`, and `few`.
std::vector<Path> KernelsOf(const std::string& target) {
  std::vector<Path> paths;
  for (const kernels::LanesKernel& tile : TilesOf(target)) paths.push_back(TilePath(target, tile));
  paths.push_back(FewPath(target));
  return paths;
}

std::vector<Path> MakeEveryPath() {
  std::vector<Path> paths;
  for (const std::string& target : TestedTargets()) {
    for (const Path& kernel : KernelsOf(target)) {
      for (const int threads : {1, 2, 3}) {
        for (const unsigned outputs : {0U, 1U, 2U, 3U}) {
          Path path = kernel;
          path.runtime.threads = threads;
          path.lse = outputs % 2 != 0;
          path.weights = outputs / 2 != 0;
          if (paths.size() % 3 == 0) path.overrides.kv_block = kSmallKvBlock;
          paths.push_back(path);
        }
      }
      for (const unsigned outputs : {0U, 1U, 2U, 3U}) {
        Path path = kernel;
        const size_t turn = paths.size();
        path.runtime.threads = 1 + static_cast<int>(turn / 3 % 3);
        path.lse = outputs % 2 != 0;
        path.weights = outputs / 2 != 0;
        path.mask = turn % 3 != 0;
        path.shared_heads = turn % 3 != 1;
        if (turn % 5 < 2) path.overrides.kv_block = kSmallKvBlock;
        paths.push_back(path);
      }
    }
  }
  return paths;
}

std::vector<Path> MakeEveryTile() {
  std::vector<Path> paths;
  for (const std::string& target : TestedTargets()) {
    for (Path path : KernelsOf(target)) {
      const size_t turn = paths.size() / 2;
      path.runtime.threads = 1 + static_cast<int>(turn % 3);
      path.lse = turn % 2 == 0;
      path.weights = turn % 4 < 2;
      if (turn % 5 < 2) path.overrides.kv_block = kSmallKvBlock;
      paths.push_back(path);

      path.runtime.threads = path.runtime.threads == 1 ? 2 : 1;
      path.lse = !path.lse;
      path.weights = !path.weights;
      path.overrides.kv_block = path.overrides.kv_block == 0 ? kSmallKvBlock : 0;
      path.mask = path.shared_heads = true;
      paths.push_back(path);
    }
  }
  return paths;
}

std::vector<Path> MakeEveryTarget() {
  std::vector<Path> paths;
  for (const std::string& target : TestedTargets()) {
    Path path;
    path.runtime.target = target;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::string Path::ToString() const {
  std::string text =
      "target \"" + runtime.target + "\", threads " + std::to_string(runtime.threads);
  if (!overrides.variant.empty()) text += ", variant " + overrides.variant;
  if (!overrides.tile.empty()) text += ", tile " + overrides.tile;
  if (overrides.kv_block != 0) text += ", kv_block " + std::to_string(overrides.kv_block);
  if (overrides.q_groups != 0) text += ", q_groups " + std::to_string(overrides.q_groups);
  if (overrides.grain != 0) text += ", grain " + std::to_string(overrides.grain);
  if (lse) text += ", with lse";
  if (weights) text += ", with weights";
  if (mask) text += ", with a mask that hides nothing";
  if (shared_heads) text += ", with each head twice";
  return text;
}

std::vector<std::string> TestedTargets() {
  std::vector<std::string> targets = AvailableTargets();
  if (kAddressSanitizer) targets.resize(1);
  return targets;
}

std::vector<kernels::LanesKernel> TilesOf(const std::string& target) {
  const Result<int64_t> id = machine::FindTarget(target);
  if (!id.ok()) {
    ADD_FAILURE() << id.status().message();
    return {};
  }
  std::vector<kernels::LanesKernel> tiles = kernels::LanesKernels(*id);
  EXPECT_FALSE(tiles.empty()) << target;
  return tiles;
}

Path TilePath(const std::string& target, const kernels::LanesKernel& tile) {
  Path path;
  path.runtime.target = target;
  path.overrides.tile = std::string(tile.tile);
  return path;
}

Path FewPath(const std::string& target) {
  Path path;
  path.runtime.target = target;
  path.overrides.variant = "few";
  return path;
}

const std::vector<Path>& EveryPath() {
  static const std::vector<Path> paths = MakeEveryPath();
  return paths;
}

const std::vector<Path>& EveryTile() {
  static const std::vector<Path> paths = MakeEveryTile();
  return paths;
}

const std::vector<Path>& EveryTarget() {
  static const std::vector<Path> paths = MakeEveryTarget();
  return paths;
}

}  // namespace lanewise::testing
