// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Quota look-up: own cgroup -> mounts of its hierarchy -> every directory up to the mount.

#include "src/machine/cgroup.h"

#include <algorithm>    // std::min
#include <cstdint>      // int64_t
#include <string_view>  // lines and fields
#include <utility>      // std::move
#include <vector>       // mounts

#include "src/machine/text.h"

namespace lanewise::machine {
namespace {

constexpr std::size_t kMaxCgroupBytes = std::size_t{64} << 10;
// A host with many containers has thousands of mounts, a few hundred bytes each.
constexpr std::size_t kMaxMountinfoBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxLimitBytes = 256;
// PATH_MAX of Linux; the kernel prints no longer one, and the walk up is quadratic in it.
constexpr std::size_t kMaxPathBytes = 4096;

enum class Version { kV1, kV2 };

// `root` is the cgroup that appears at `directory`; not "/" for a bind mount into a container.
struct Mount {
  Version version;
  std::string root;
  std::string directory;
};

std::optional<double> Smaller(std::optional<double> a, std::optional<double> b) noexcept {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

std::optional<double> Quota(std::optional<int64_t> quota_us,
                            std::optional<int64_t> period_us) noexcept {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

// cpu.max holds "<quota or max> <period>", both in microseconds.
std::optional<double> ReadQuota(Version version, const std::string& directory) {
  if (version == Version::kV1) {
    return Quota(ParseInteger(ReadFile(directory + "/cpu.cfs_quota_us", kMaxLimitBytes)),
                 ParseInteger(ReadFile(directory + "/cpu.cfs_period_us", kMaxLimitBytes)));
  }
  const std::string text = ReadFile(directory + "/cpu.max", kMaxLimitBytes);
  std::string_view rest = Trim(text);
  const std::optional<int64_t> quota_us = ParseInteger(TakeUntil(' ', &rest));
  return Quota(quota_us, ParseInteger(rest));
}

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string Unescape(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto digit = [&](std::size_t offset) {
      return i + offset < field.size() ? field[i + offset] - '0' : -1;
    };
    const int high = digit(1);
    const int middle = digit(2);
    const int low = digit(3);
    const bool octal = high >= 0 && high <= 3 && middle >= 0 && middle <= 7 && low >= 0 && low <= 7;
    if (field[i] == '\\' && octal) {
      text += static_cast<char>(high * 64 + middle * 8 + low);
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

// "<id> <parent> <device> <root> <mount point> <options> ... - <type> <source> <super options>"
std::optional<Mount> ParseMount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view tail = line.substr(dash + 3);
  const std::string_view type = TakeUntil(' ', &tail);
  TakeUntil(' ', &tail);
  const bool v1 = type == "cgroup" && ListContains(Trim(tail), "cpu");
  if (!v1 && type != "cgroup2") return std::nullopt;

  std::string_view head = line.substr(0, dash);
  for (int field = 0; field < 3; ++field) TakeUntil(' ', &head);
  std::string root = Unescape(TakeUntil(' ', &head));
  std::string directory = Unescape(TakeUntil(' ', &head));
  if (root.empty() || directory.empty()) return std::nullopt;
  return Mount{v1 ? Version::kV1 : Version::kV2, std::move(root), std::move(directory)};
}

std::vector<Mount> ReadMounts(const std::string& proc_root, const std::string& mount_root) {
  const std::string text = ReadFile(proc_root + "/self/mountinfo", kMaxMountinfoBytes);
  std::vector<Mount> mounts;
  bool found_v1 = false;
  bool found_v2 = false;
  for (std::string_view rest = text; !rest.empty();) {
    std::optional<Mount> mount = ParseMount(TakeUntil('\n', &rest));
    if (!mount) continue;
    (mount->version == Version::kV1 ? found_v1 : found_v2) = true;
    mounts.push_back(std::move(*mount));
  }
  if (!found_v1) {
    for (const char* name : {"/cpu", "/cpu,cpuacct", "/cpuacct,cpu"}) {
      mounts.push_back({Version::kV1, "/", mount_root + name});
    }
  }
  if (!found_v2) {
    for (const char* name : {"", "/unified"}) {
      mounts.push_back({Version::kV2, "/", mount_root + name});
    }
  }
  return mounts;
}

// `path` relative to `root`, "" for the root itself; nothing when it lies outside.
std::optional<std::string_view> RelativeTo(std::string_view root, std::string_view path) noexcept {
  if (root == "/") root = "";
  if (path == "/") path = "";
  if (path.substr(0, root.size()) != root) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path;
}

// A process outside its cgroup namespace has a path that starts with "/..".
bool IsWalkable(std::string_view path) noexcept {
  if (path.size() > kMaxPathBytes || path.empty() || path.front() != '/') return false;
  while (!path.empty()) {
    if (TakeUntil('/', &path) == "..") return false;
  }
  return true;
}

// The smallest quota of `path` and its parents below `mount`.
std::optional<double> WalkUp(const Mount& mount, std::string_view path) {
  std::optional<double> smallest;
  while (true) {
    smallest = Smaller(smallest, ReadQuota(mount.version, mount.directory + std::string(path)));
    if (path.empty()) return smallest;
    path = path.substr(0, path.rfind('/'));
  }
}

// The smallest quota of the cgroup `path` in the hierarchy of `version`. Mounts of other parts of
// the hierarchy are other processes' business, unless there is no better one.
std::optional<double> QuotaOf(Version version, std::string_view path,
                              const std::vector<Mount>& mounts) {
  if (!IsWalkable(path)) path = "/";
  std::optional<double> smallest;
  const Mount* foreign = nullptr;
  bool found = false;
  for (const Mount& mount : mounts) {
    if (mount.version != version) continue;
    if (const std::optional<std::string_view> relative = RelativeTo(mount.root, path); relative) {
      found = true;
      smallest = Smaller(smallest, WalkUp(mount, *relative));
    } else if (foreign == nullptr) {
      foreign = &mount;
    }
  }
  if (!found && foreign != nullptr) smallest = WalkUp(*foreign, "");
  return smallest;
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& proc_root, const std::string& mount_root) {
  const std::vector<Mount> mounts = ReadMounts(proc_root, mount_root);
  const std::string text = ReadFile(proc_root + "/self/cgroup", kMaxCgroupBytes);
  if (text.empty()) {
    return Smaller(QuotaOf(Version::kV1, "/", mounts), QuotaOf(Version::kV2, "/", mounts));
  }
  // "<hierarchy>:<controllers>:<path>"; no controllers means version 2. Both may limit the CPU.
  std::optional<double> smallest;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view path = TakeUntil('\n', &rest);
    const std::string_view hierarchy = TakeUntil(':', &path);
    const std::string_view controllers = TakeUntil(':', &path);
    if (controllers.empty() && hierarchy == "0") {
      smallest = Smaller(smallest, QuotaOf(Version::kV2, path, mounts));
    } else if (ListContains(controllers, "cpu")) {
      smallest = Smaller(smallest, QuotaOf(Version::kV1, path, mounts));
    }
  }
  return smallest;
}

}  // namespace lanewise::machine
