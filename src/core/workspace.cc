// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/core/workspace.h"

#include <fmt/format.h>

#include <new>

namespace lanewise {

Workspace::Workspace(size_t size_bytes) noexcept
    : memory_(size_bytes == 0
                  ? nullptr
                  : ::operator new (size_bytes, std::align_val_t{core::kWorkerAlignment},
                                    std::nothrow)),
      size_bytes_(memory_ == nullptr ? 0 : size_bytes) {}

void Workspace::Free::operator()(void* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{core::kWorkerAlignment});
}

Status core::CheckWorkspace(const Workspace& workspace, size_t needed) {
  if (workspace.size_bytes() >= needed) return {};
  return Status::InvalidArgument(fmt::format("workspace: found {} bytes, expected at least {}",
                                             workspace.size_bytes(), needed));
}

}  // namespace lanewise
