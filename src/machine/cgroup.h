// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The CPU time that a container or another control group grants this process (Linux cgroups,
// versions 1 and 2). On other systems the files do not exist and there is no quota.

#ifndef LANEWISE_SRC_MACHINE_CGROUP_H_
#define LANEWISE_SRC_MACHINE_CGROUP_H_

#include <optional>  // no quota
#include <string>    // roots

namespace lanewise::machine {

// The smallest quota, in CPUs (1.5 = 150 ms of CPU time every 100 ms), on the way from the
// process' own cgroup up to the root of the mount; none when no level limits it.
//
// Reads `proc_root`/self/cgroup for the own cgroup and `proc_root`/self/mountinfo for the mounts.
// `mount_root` serves when the latter names no mount of a version: version 2 is then looked for in
// `mount_root` and `mount_root`/unified, version 1 in `mount_root`/cpu, cpu,cpuacct and
// cpuacct,cpu. A path that does not exist under the mount, as a container sees it, means the
// nearest parent that does, in the end the root of the mount.
//
// "max", -1, a missing file, and anything that is not two positive numbers mean no quota.
std::optional<double> CgroupCpuQuota(const std::string& proc_root = "/proc",
                                     const std::string& mount_root = "/sys/fs/cgroup");

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_CGROUP_H_
