// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Affinity, thread budget and CPU name.

#include "src/machine/cpus.h"

#include <gtest/gtest.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include <limits>
#include <thread>

#include "tests/machine/temp_tree.h"

namespace lanewise::machine {
namespace {

#if defined(__linux__)
// Pins the calling thread to the first CPU it may use, and undoes that.
class PinToOneCpu {
 public:
  PinToOneCpu() {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
      return;
    }
  }
  ~PinToOneCpu() {
    if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  PinToOneCpu(const PinToOneCpu&) = delete;
  PinToOneCpu& operator=(const PinToOneCpu&) = delete;

  bool pinned() const { return pinned_; }

 private:
  cpu_set_t before_;
  bool pinned_ = false;
};

TEST(CpusTest, AffinityOfAPinnedThread) {
  const int before = AffinityCpus();
  {
    const PinToOneCpu pin;
    if (!pin.pinned()) GTEST_SKIP() << "cannot change the affinity here";
    EXPECT_EQ(AffinityCpus(), 1);
    const CpuBudget budget = DetectCpuBudget("/does/not/exist", "/does/not/exist");
    EXPECT_EQ(budget.affinity, 1);
    EXPECT_EQ(budget.threads, 1);
    EXPECT_EQ(budget.source, "affinity");
  }
  EXPECT_EQ(AffinityCpus(), before);
}
#endif  // defined(__linux__)

TEST(CpusTest, ThreadCount) {
  EXPECT_EQ(ThreadCount(8, std::nullopt), 8);
  EXPECT_EQ(ThreadCount(8, 2.0), 2);
  EXPECT_EQ(ThreadCount(8, 1.5), 1);
  EXPECT_EQ(ThreadCount(8, 7.99), 7);
  EXPECT_EQ(ThreadCount(8, 0.1), 1);
  EXPECT_EQ(ThreadCount(8, 8.0), 8);
  EXPECT_EQ(ThreadCount(2, 64.0), 2);
  EXPECT_EQ(ThreadCount(1, 0.001), 1);
}

TEST(CpusTest, ThreadCountOfAbsurdFigures) {
  EXPECT_EQ(ThreadCount(0, std::nullopt), 1);
  EXPECT_EQ(ThreadCount(-3, 2.0), 1);
  EXPECT_EQ(ThreadCount(4, 1e300), 4);
  EXPECT_EQ(ThreadCount(4, -1.0), 1);
  EXPECT_EQ(ThreadCount(4, std::numeric_limits<double>::infinity()), 4);
  EXPECT_EQ(ThreadCount(4, std::numeric_limits<double>::quiet_NaN()), 4);
}

TEST(CpusTest, BudgetNamesTheQuota) {
  const TempTree tree;
  tree.Write("proc/self/cgroup", "0::/a\n");
  tree.Write("cgroup/a/cpu.max", "50000 100000\n");
  CpuBudget budget = DetectCpuBudget(tree.Path("proc"), tree.Path("cgroup"));
  EXPECT_EQ(budget.quota, 0.5);
  EXPECT_EQ(budget.threads, 1);
  EXPECT_EQ(budget.source, "container quota");

  tree.Write("cgroup/a/cpu.max", "9000000000000000000 1\n");
  budget = DetectCpuBudget(tree.Path("proc"), tree.Path("cgroup"));
  EXPECT_EQ(budget.quota, 9e18);
  EXPECT_EQ(budget.threads, AffinityCpus());
  EXPECT_NE(budget.source, "container quota");
}

TEST(CpusTest, ThisMachine) {
  EXPECT_GE(AffinityCpus(), 1);
  const CpuBudget budget = DetectCpuBudget();
  EXPECT_EQ(budget.affinity, AffinityCpus());
  EXPECT_GE(budget.threads, 1);
  EXPECT_LE(budget.threads, budget.affinity);
  EXPECT_FALSE(CpuName().empty());
}

TEST(CpuNameTest, ModelNameOfTheFirstCpu) {
  const TempTree tree;
  tree.Write("cpuinfo",
             "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R)  Xeon(R) CPU   @ 2.70GHz \n\n"
             "processor\t: 1\nmodel name\t: Another\n");
  EXPECT_EQ(CpuName(tree.root()), "Intel(R) Xeon(R) CPU @ 2.70GHz");
}

TEST(CpuNameTest, ArmNumbers) {
  const TempTree tree;
  tree.Write("cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(CpuName(tree.root()), "Arm 0x41 part 0xd0c");
}

TEST(CpuNameTest, HostileNamesBecomeShortAndPrintable) {
  const TempTree tree;
  tree.Write("cpuinfo", "model name : \x1b[31m\xff\"" + std::string(100000, 'x') + "\n");
  const std::string name = CpuName(tree.root());
  EXPECT_EQ(name.size(), 128U);
  EXPECT_EQ(name.substr(0, 8), "?[31m?\"x");
}

TEST(CpuNameTest, WithoutAFileStillAName) {
  const TempTree tree;
  EXPECT_FALSE(CpuName(tree.root()).empty());
  for (const std::string text :
       {"", "model name", "model name :\n", ":::\n", "model name :  \t \n"}) {
    tree.Write("cpuinfo", text);
    const std::string name = CpuName(tree.root());
    ASSERT_FALSE(name.empty()) << text;
    EXPECT_EQ(name.front() == ' ' || name.back() == ' ', false) << name;
  }
}

}  // namespace
}  // namespace lanewise::machine
