// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// An output file that appears under its name whole or not at all.

#ifndef LANEWISE_TOOLS_PENDING_FILE_H_
#define LANEWISE_TOOLS_PENDING_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "lanewise/status.h"

namespace lanewise::tools {

// Collects bytes in a temporary file beside the final one; Commit() renames it. A command that
// writes several files creates all of them before it commits the first. Destroyed without Commit(),
// it leaves nothing behind. Messages begin with the path.
//
// An existing file keeps its permissions, a symbolic link stays and its target is replaced. Devices
// and pipes cannot be replaced and are written to directly.
class PendingFile {
 public:
  // Errors: a directory, a folder that does not exist or cannot be written to.
  static Result<PendingFile> Create(const std::string& path);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  Status Append(std::span<const std::byte> bytes);

  // Closes the file and gives it its name.
  Status Commit();

  // Removes the file that Commit() put in place, for when a later one of several cannot be.
  void Revoke() noexcept;

 private:
  PendingFile() = default;
  Status Open();
  Status OpenTemporary(bool replaces, unsigned mode);
  // `what` and the error number `error` as a message about this file.
  Status Error(const std::string& what, int error) const;
  void Discard() noexcept;

  std::string path_;       // as the user wrote it
  std::string final_;      // with symbolic links resolved
  std::string temporary_;  // empty: none exists
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_PENDING_FILE_H_
