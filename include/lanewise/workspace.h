// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Scratch memory that plans run in.

#ifndef LANEWISE_WORKSPACE_H_
#define LANEWISE_WORKSPACE_H_

#include <cstddef>  // size_t
#include <memory>   // unique_ptr
#include <utility>  // move, exchange

#include "lanewise/export.h"

namespace lanewise {

// Scratch memory of one call at a time, 128-byte aligned: of any plan that needs at most its size.
// Reuse it: a run allocates nothing else, but for what threads need (lanewise/runtime.h).
class LANEWISE_EXPORT Workspace {
 public:
  Workspace() noexcept = default;
  // If the memory cannot be had, size_bytes() is 0 and a run that needs more says so.
  explicit Workspace(size_t size_bytes) noexcept;

  Workspace(Workspace&& other) noexcept
      : memory_(std::move(other.memory_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

  void* data() const noexcept { return memory_.get(); }
  size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  std::unique_ptr<void, Free> memory_;
  size_t size_bytes_ = 0;
};

}  // namespace lanewise

#endif  // LANEWISE_WORKSPACE_H_
