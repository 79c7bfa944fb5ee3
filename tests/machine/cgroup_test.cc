// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Quotas of both cgroup versions on made-up /proc and /sys/fs/cgroup trees.

#include "src/machine/cgroup.h"

#include <gtest/gtest.h>

#include "tests/machine/temp_tree.h"

namespace lanewise::machine {
namespace {

class CgroupTest : public testing::Test {
 protected:
  void Cgroup(const std::string& lines) { tree_.Write("proc/self/cgroup", lines); }

  // mountinfo with one mount at `directory` below the tree.
  std::string MountLine(const std::string& root, const std::string& directory,
                        const std::string& type_and_options) {
    return "35 24 0:29 " + root + " " + tree_.Path(directory) + " rw,nosuid shared:9 - " +
           type_and_options + "\n";
  }
  void Mountinfo(const std::string& lines) {
    tree_.Write("proc/self/mountinfo",
                "23 30 0:22 / /sys rw - sysfs sysfs rw\nnonsense\n\n" + lines);
  }
  void V2(const std::string& group, const std::string& max) {
    tree_.Write("cgroup" + group + "/cpu.max", max + "\n");
  }
  void V1(const std::string& group, const std::string& quota, const std::string& period) {
    tree_.Write("cgroup/cpu" + group + "/cpu.cfs_quota_us", quota + "\n");
    tree_.Write("cgroup/cpu" + group + "/cpu.cfs_period_us", period + "\n");
  }
  std::optional<double> Quota() { return CgroupCpuQuota(tree_.Path("proc"), tree_.Path("cgroup")); }

  TempTree tree_;
};

TEST_F(CgroupTest, NoFilesNoQuota) {
  EXPECT_EQ(Quota(), std::nullopt);
  Cgroup("0::/a/b\n1:cpu:/c\n");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CgroupTest, Version2OwnGroup) {
  Cgroup("0::/user.slice/app\n");
  V2("/user.slice/app", "150000 100000");
  EXPECT_EQ(Quota(), 1.5);
}

TEST_F(CgroupTest, Version2SmallestOfTheParentsWins) {
  Cgroup("0::/a/b/c\n");
  V2("/a/b/c", "max 100000");
  V2("/a", "200000 100000");
  V2("/a/b", "400000 100000");
  V2("/a/b/other", "1000 100000");
  V2("/a/b/c/child", "1000 100000");
  EXPECT_EQ(Quota(), 2.0);
  V2("/a/b/c", "10000 20000");
  EXPECT_EQ(Quota(), 0.5);
}

TEST_F(CgroupTest, Version2MaxIsNoQuota) {
  Cgroup("0::/a\n");
  V2("/a", "max 100000");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CgroupTest, Version2RootOfTheMountInAContainer) {
  V2("", "300000 100000");
  Cgroup("0::/\n");
  EXPECT_EQ(Quota(), 3.0);
  Cgroup("0::/docker/0123456789abcdef\n");  // the host's path, absent here
  EXPECT_EQ(Quota(), 3.0);
  Cgroup("0::/../elsewhere\n");
  tree_.Write("elsewhere/cpu.max", "100000 100000");
  EXPECT_EQ(Quota(), 3.0) << "a path must not lead out of the mount";
}

TEST_F(CgroupTest, RootsOfTheMountsWithoutProc) {
  V2("", "300000 100000");
  EXPECT_EQ(Quota(), 3.0);
  V1("", "250000", "100000");
  EXPECT_EQ(Quota(), 2.5);
}

TEST_F(CgroupTest, Version1) {
  Cgroup("12:cpuset:/set\n4:cpu,cpuacct:/a/b\n1:name=systemd:/a\n");
  V1("/a/b", "-1", "100000");
  EXPECT_EQ(Quota(), std::nullopt);
  V1("/a", "50000", "100000");
  EXPECT_EQ(Quota(), 0.5);
  V1("/set", "1000", "100000");
  EXPECT_EQ(Quota(), 0.5) << "cpuset is another controller";
}

TEST_F(CgroupTest, Version1UnderTheJointName) {
  Cgroup("4:cpu,cpuacct:/a\n");
  tree_.Write("cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000");
  tree_.Write("cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Quota(), 4.0);
}

TEST_F(CgroupTest, Version1PathOfTheHost) {
  Cgroup("4:cpu:/docker/0123\n");
  V1("", "200000", "100000");
  EXPECT_EQ(Quota(), 2.0);
}

TEST_F(CgroupTest, HybridTakesTheSmaller) {
  Cgroup("4:cpu:/a\n0::/a\n");
  V1("/a", "300000", "100000");
  tree_.Write("cgroup/unified/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(Quota(), 2.0);
}

TEST_F(CgroupTest, MountinfoSaysWhere) {
  Cgroup("0::/a\n3:cpu:/b\n");
  Mountinfo(MountLine("/", "elsewhere/two", "cgroup2 none rw,nsdelegate") +
            MountLine("/", "elsewhere/sets", "cgroup cgroup rw,cpuset") +
            MountLine("/", "elsewhere/one", "cgroup cgroup rw,cpuacct,cpu"));
  tree_.Write("elsewhere/two/a/cpu.max", "500000 100000\n");
  EXPECT_EQ(Quota(), 5.0);
  tree_.Write("elsewhere/one/b/cpu.cfs_quota_us", "400000\n");
  tree_.Write("elsewhere/one/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 4.0);
  V2("/a", "100000 100000");
  V1("/b", "100000", "100000");
  EXPECT_EQ(Quota(), 4.0) << "nothing is mounted there";
}

TEST_F(CgroupTest, MountOfTheOwnPartOfTheHierarchy) {
  Cgroup("0::/docker/01/worker\n");
  Mountinfo(MountLine("/docker/02", "cgroup/other", "cgroup2 none rw") +
            MountLine("/docker/01", "cgroup/own", "cgroup2 none rw"));
  tree_.Write("cgroup/other/cpu.max", "100000 100000");
  tree_.Write("cgroup/own/cpu.max", "400000 100000");
  tree_.Write("cgroup/own/worker/cpu.max", "300000 100000");
  EXPECT_EQ(Quota(), 3.0);
  Cgroup("0::/docker/011\n");
  EXPECT_EQ(Quota(), 1.0) << "a prefix that is no parent; the first mount's root serves";
}

TEST_F(CgroupTest, MountPointWithSpaces) {
  Cgroup("0::/a\n");
  Mountinfo(MountLine("/", "with\\040space", "cgroup2 none rw"));
  tree_.Write("with space/a/cpu.max", "200000 100000");
  EXPECT_EQ(Quota(), 2.0);
}

TEST_F(CgroupTest, AbsurdFiguresAreNoQuota) {
  Cgroup("0::/a\n4:cpu:/a\n");
  for (const std::string max :
       {"", "100000", "100000 0", "0 100000", "-1 100000", "100000 -100000", "x y", "1.5 1",
        "99999999999999999999 100000", "100000 99999999999999999999", "100000 100000 7",
        "\xff\xfe\xfd", " "}) {
    V2("/a", max);
    EXPECT_EQ(Quota(), std::nullopt) << max;
  }
  for (const std::string figure : {"", "0", "-5", "x", "99999999999999999999", "max"}) {
    V1("/a", figure, "100000");
    EXPECT_EQ(Quota(), std::nullopt) << figure;
    V1("/a", "100000", figure);
    EXPECT_EQ(Quota(), std::nullopt) << figure;
  }
  tree_.Write("cgroup/cpu/a/cpu.cfs_quota_us", "100000");
  std::filesystem::remove(tree_.Path("cgroup/cpu/a/cpu.cfs_period_us"));
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CgroupTest, HostileProcFiles) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "/a";
  for (const std::string& text :
       {deep, "0::" + deep, std::string("0"), std::string("0:"), std::string("0::"),
        std::string("0::relative"), std::string(":::::"), std::string("\n\n\n"),
        std::string(100000, '\0'), std::string(100000, ':')}) {
    Cgroup(text);
    Mountinfo(text);
    EXPECT_EQ(Quota(), std::nullopt);
    Mountinfo("a - cgroup2 - cgroup2\n - cgroup2\n1 2 3 4 - cgroup2 x\n");
    EXPECT_EQ(Quota(), std::nullopt);
  }
}

TEST_F(CgroupTest, ThisMachine) {
  const std::optional<double> quota = CgroupCpuQuota();
  EXPECT_GT(quota.value_or(1.0), 0.0);
}

}  // namespace
}  // namespace lanewise::machine
