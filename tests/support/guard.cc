// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Mapping pages, and keeping them for the next that need as many.

#include "tests/support/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>
#include <vector>

namespace lanewise::testing {
namespace {

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* Map(size_t bytes) {
  const size_t mapped_bytes = bytes + 2 * PageBytes();
  void* mapping = mmap(nullptr, mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  void* begin = static_cast<std::byte*>(mapping) + PageBytes();
  if (bytes == 0 || mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0) return mapping;
  munmap(mapping, mapped_bytes);
  throw std::bad_alloc();
}

void Unmap(void* mapping, size_t bytes) { munmap(mapping, bytes + 2 * PageBytes()); }

// Mappings of up to so many pages that are not in use. Tests make many small arrays, and half of
// their time was the system calls and page faults of these.
class KeptMappings {
 public:
  ~KeptMappings() {
    are_gone_ = true;
    for (size_t pages = 0; pages < kept_.size(); ++pages) {
      for (void* mapping : kept_[pages]) Unmap(mapping, pages * PageBytes());
    }
  }

  // Null if there is none of this size.
  void* Take(size_t bytes) {
    const size_t pages = bytes / PageBytes();
    if (pages >= kept_.size() || kept_[pages].empty()) return nullptr;
    void* mapping = kept_[pages].back();
    kept_[pages].pop_back();
    std::memset(static_cast<std::byte*>(mapping) + PageBytes(), 0, bytes);
    return mapping;
  }

  // Whether it was kept.
  bool Keep(void* mapping, size_t bytes) {
    const size_t pages = bytes / PageBytes();
    if (pages >= kept_.size() || kept_[pages].size() >= kMostOfASize) return false;
    kept_[pages].push_back(mapping);
    return true;
  }

  // Static objects may outlive those of a thread.
  static bool AreGone() { return are_gone_; }

 private:
  static constexpr size_t kMostOfASize = 32;

  static thread_local bool are_gone_;

  std::array<std::vector<void*>, 17> kept_;  // by the number of pages
};

thread_local bool KeptMappings::are_gone_ = false;

// Of each thread, for a lock would order threads that a test wants to race.
thread_local KeptMappings kept_mappings;

}  // namespace

GuardedPages::GuardedPages(size_t bytes)
    : bytes_((bytes + PageBytes() - 1) / PageBytes() * PageBytes()) {
  mapping_ = KeptMappings::AreGone() ? nullptr : kept_mappings.Take(bytes_);
  if (mapping_ == nullptr) mapping_ = Map(bytes_);
}

GuardedPages::~GuardedPages() {
  if (mapping_ == nullptr) return;
  if (!KeptMappings::AreGone() && kept_mappings.Keep(mapping_, bytes_)) return;
  Unmap(mapping_, bytes_);
}

std::byte* GuardedPages::begin() const noexcept {
  return static_cast<std::byte*>(mapping_) + PageBytes();
}

}  // namespace lanewise::testing
