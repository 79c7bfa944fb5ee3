// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Affinity, thread budget and CPU name.

#include "src/machine/cpus.h"

#if defined(__linux__)
#include <sched.h>  // sched_getaffinity
#endif

#include <algorithm>    // std::max
#include <bit>          // std::popcount
#include <cerrno>       // EINVAL
#include <string_view>  // lines
#include <thread>       // hardware_concurrency
#include <vector>       // affinity mask

#include "src/machine/cpuid.h"
#include "src/machine/text.h"

namespace lanewise::machine {
namespace {

// The size of the affinity mask, or 0 when the system does not tell.
int CountAffinity() {
#if defined(__linux__)
  // cpu_set_t holds 1024 CPUs; the kernel refuses (EINVAL) a mask smaller than its own. Masks of
  // any size are arrays of unsigned long.
  constexpr std::size_t kMaxMaskCpus = std::size_t{1} << 20;
  constexpr std::size_t kWordCpus = 8 * sizeof(unsigned long);
  for (std::size_t cpus = 1024; cpus <= kMaxMaskCpus; cpus *= 2) {
    std::vector<unsigned long> mask(cpus / kWordCpus);
    if (sched_getaffinity(0, cpus / 8, reinterpret_cast<cpu_set_t*>(mask.data())) == 0) {
      int count = 0;
      for (const unsigned long word : mask) count += std::popcount(word);
      return count;
    }
    if (errno != EINVAL) break;
  }
#endif
  return 0;
}

int HardwareCpus() noexcept {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 1U << 20));
}

// The value of the first "key : value" line of that key; empty when there is none.
std::string_view CpuinfoValue(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view value = TakeUntil('\n', &text);
    if (Trim(TakeUntil(':', &value)) == key) return Trim(value);
  }
  return {};
}

// Names reach terminals, file names and JSON, hence nothing but printable ASCII.
std::string CleanName(std::string_view raw) {
  constexpr std::size_t kMaxNameBytes = 128;
  std::string name;
  for (const char c : raw) {
    if (name.size() == kMaxNameBytes) break;
    const bool space = c == ' ' || c == '\t';
    if (space && (name.empty() || name.back() == ' ')) continue;
    if (space) {
      name += ' ';
    } else {
      name += c > ' ' && c <= '~' ? c : '?';
    }
  }
  return std::string(Trim(name));
}

}  // namespace

int AffinityCpus() {
  const int count = CountAffinity();
  return count > 0 ? count : HardwareCpus();
}

int ThreadCount(int affinity, std::optional<double> quota) noexcept {
  // The comparison comes first: a huge quota does not fit an int.
  if (!quota || !(*quota < affinity)) return std::max(affinity, 1);
  return std::max(static_cast<int>(std::max(*quota, 1.0)), 1);
}

CpuBudget DetectCpuBudget(const std::string& proc_root, const std::string& mount_root) {
  CpuBudget budget;
  const int count = CountAffinity();
  budget.affinity = count > 0 ? count : HardwareCpus();
  budget.quota = CgroupCpuQuota(proc_root, mount_root);
  budget.threads = ThreadCount(budget.affinity, budget.quota);
  if (budget.quota && *budget.quota < budget.affinity) {
    budget.source = "container quota";
  } else {
    budget.source = count > 0 ? "affinity" : "hardware count";
  }
  return budget;
}

std::string CpuName(const std::string& proc_root) {
  // The first CPU's entry has a few KiB at most.
  constexpr std::size_t kMaxCpuinfoBytes = std::size_t{64} << 10;
  const std::string text = ReadFile(proc_root + "/cpuinfo", kMaxCpuinfoBytes);
  std::string name = CleanName(CpuinfoValue(text, "model name"));
  if (!name.empty()) return name;
  const std::string_view implementer = CpuinfoValue(text, "CPU implementer");
  const std::string_view part = CpuinfoValue(text, "CPU part");
  if (!implementer.empty() && !part.empty()) {
    return CleanName("Arm " + std::string(implementer) + " part " + std::string(part));
  }
  name = CleanName(CpuidBrand());
  return name.empty() ? "unknown" : name;
}

}  // namespace lanewise::machine
