// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Random combinations of everything attention can do, against the reference. A failure prints the
// simplest case that still fails as a line of flags; to run such a line again:
//
//   LANEWISE_FUZZ_CASE='--batch 1 ...' build/bin/fuzz_test --gtest_filter='*Replay*'
//
// LANEWISE_FUZZ_SEED=N adds N to all seeds: other cases.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/fuzz/check.h"
#include "tests/fuzz/current_case.h"
#include "tests/fuzz/fuzz_case.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/shrink.h"
#include "tests/support/process.h"

namespace lanewise::testing {
namespace {

constexpr uint32_t kCasesATest = 125;
constexpr uint32_t kCasesASlowTest = 2000;

// More failures say little more and take long to shrink.
constexpr int kMostFailures = 3;

// Cases that once failed, or were written by hand. Each is run on every target, tile and variant.
constexpr const char* kRecordedCases[] = {
    "--batch 2 --heads 4 --kv-heads 2 --queries 5 --keys 9 --dim 3 --value-dim 2 --causal "
    "--window 2,0 --bias holes:k --alibi usual --sinks uniform --kv-len 7,0 --lse --weights "
    "--poison hidden-nan --seed 1",
    "--batch 1 --heads 1 --kv-heads 1 --queries 3 --keys 2 --dim 1 --value-dim 1 --window "
    "0,0 --seed 1",
    "--batch 1 --heads 1 --kv-heads 1 --queries 17 --keys 1 --dim 1 --value-dim 1 --causal "
    "--sinks uniform --seed 2",
    "--batch 1 --heads 1 --kv-heads 1 --queries 2 --keys 6 --dim 1 --value-dim 1 --causal "
    "--weights --poison some-nan --seed 24",
    "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 1 --dim 1 --value-dim 1 --scale 0 "
    "--softcap 1e-40 --seed 1",
    "--batch 1 --heads 1 --kv-heads 1 --queries 2 --keys 1 --dim 1 --value-dim 1 "
    "--query-offset 9223372036854775807 --window 9223372036854775807,-1 --seed 1",
    "--batch 1 --heads 1 --kv-heads 1 --queries 1 --keys 3 --dim 1 --value-dim 1 --scale 40 "
    "--query-offset -8589934297 --alibi steep --weights --data rising --seed 20279",
};

bool Fails(const FuzzCase& c) {
  const CurrentCase current(c);
  return !Fault(c).empty();
}

void Report(const FuzzCase& failing, const std::string& found_as) {
  const FuzzCase simplest = Shrink(failing, Fails);
  ADD_FAILURE() << "the simplest case that fails:\n  " << ToText(simplest) << "\n"
                << Fault(simplest) << "\nfound as " << found_as << ":\n  " << ToText(failing);
}

void CheckSeeds(uint32_t first, uint32_t count) {
  if (const char* added = std::getenv("LANEWISE_FUZZ_SEED")) {
    first += static_cast<uint32_t>(std::strtoul(added, nullptr, 10));
  }
  int failures = 0;
  for (uint32_t seed = first; seed < first + count && failures < kMostFailures; ++seed) {
    const FuzzCase c = Generate(seed);
    if (!Fails(c)) continue;
    Report(c, "seed " + std::to_string(seed));
    ++failures;
  }
}

class RandomOptions : public ::testing::TestWithParam<uint32_t> {};
TEST_P(RandomOptions, MatchTheReference) { CheckSeeds(GetParam(), kCasesATest); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOptions, ::testing::Range(0U, 500U, kCasesATest),
                         ::testing::PrintToStringParamName());

class SlowRandomOptions : public ::testing::TestWithParam<uint32_t> {};
TEST_P(SlowRandomOptions, MatchTheReference) { CheckSeeds(GetParam(), kCasesASlowTest); }
INSTANTIATE_TEST_SUITE_P(Slow, SlowRandomOptions,
                         ::testing::Range(10'000U, 30'000U, kCasesASlowTest),
                         ::testing::PrintToStringParamName());

// Runs a case on every tile of every target, and as `few`.
void CheckOnEveryTile(FuzzCase c) {
  for (const Path& path : EveryTile()) {
    if (path.mask || path.shared_heads) continue;  // options of a case, not of its path
    c.path.runtime.target = path.runtime.target;
    c.path.overrides.tile = path.overrides.tile;
    c.path.overrides.variant = path.overrides.variant;
    if (Fails(c)) return Report(c, "a recorded case");
  }
}

TEST(RecordedCases, MatchTheReference) {
  for (const char* line : kRecordedCases) {
    const Result<FuzzCase> c = ParseFuzzCase(line);
    ASSERT_TRUE(c.ok()) << line << "\n" << c.status().message();
    CheckOnEveryTile(*c);
  }
}

// First in a child, so that a crash is a failure that can be made simpler too; children of fork()
// compute on one thread.
bool FailsOrCrashes(const FuzzCase& c) {
  return !RunInFork([&] { return Fault(c).empty(); }).ok || Fails(c);
}

// The case in the environment, if there is one.
TEST(RandomOptionsReplay, MatchesTheReference) {
  const char* line = std::getenv("LANEWISE_FUZZ_CASE");
  if (line == nullptr) return;
  const Result<FuzzCase> c = ParseFuzzCase(line);
  ASSERT_TRUE(c.ok()) << line << "\n" << c.status().message();
  if (!FailsOrCrashes(*c)) return;
  const FuzzCase simplest = Shrink(*c, FailsOrCrashes);
  ADD_FAILURE() << "the simplest case that fails:\n  " << ToText(simplest);
  // Last, for it may crash.
  EXPECT_EQ(Fault(simplest), "");
}

}  // namespace
}  // namespace lanewise::testing
