// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The workspace of a call: its alignment, and whether it is large enough.

#ifndef LANEWISE_SRC_CORE_WORKSPACE_H_
#define LANEWISE_SRC_CORE_WORKSPACE_H_

#include <cstddef>
#include <cstdint>

#include "lanewise/status.h"
#include "lanewise/workspace.h"

namespace lanewise::core {

// Workspaces, and each worker's part of one, are aligned to a pair of cache lines, so that workers
// share neither a line nor a line that hardware prefetches with it.
inline constexpr int64_t kWorkerAlignment = 128;

Status CheckWorkspace(const Workspace& workspace, size_t needed);

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_WORKSPACE_H_
