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

// Where a file of this name is or would be: behind symbolic links, also those that lead nowhere
// yet.
std::string EndOfLinks(const std::string& path);

// Collects bytes in a file without a name in the folder of the final one, which Commit() links
// there. Destroyed or killed without Commit(), it leaves nothing behind. Where a file system has no
// such files, a named temporary one is made by the first Append(). Messages begin with the path.
//
// An existing file keeps its permissions, a symbolic link stays and its target is replaced or made.
// Devices and pipes cannot be replaced and are written to directly.
class PendingFile {
 public:
  // Errors: a directory, a name that is too long, a folder that does not exist or cannot be written
  // to.
  static Result<PendingFile> Create(const std::string& path);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  Status Append(std::span<const std::byte> bytes);

  // Closes `files` and gives them their names: all of them, or after an error none, and then what
  // had the names before has them again. SIGINT, SIGTERM and SIGHUP wait until it is done.
  static Status Commit(std::span<PendingFile* const> files);

 private:
  PendingFile() = default;
  Status Open();
  // Fills descriptor_, and temporary_ if only a file with a name can be had.
  Status OpenTemporary();
  Status OpenNamed();
  Status SetMode();
  // Gives the temporary file a name, and closes it.
  Status Complete();
  // Renames the temporary file. With `keep` what it replaces becomes the temporary one.
  Status Place(bool keep);
  // The same with `keep`, for a moment without any file of that name.
  Status PlaceInSteps();
  // Undoes either.
  void Revoke() noexcept;
  // `what` and the error number `error` as a message about this file.
  Status Error(const std::string& what, int error) const;
  void Discard() noexcept;

  std::string path_;       // as the user wrote it
  std::string final_;      // with symbolic links resolved; empty: written to directly
  std::string temporary_;  // empty: none has a name
  int descriptor_ = -1;
  bool replaces_ = false;  // a file had the name when this one was created
  unsigned mode_ = 0666;
  bool placed_ = false;
};

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_PENDING_FILE_H_
