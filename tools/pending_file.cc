// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Temporary files, renamed on commit.

#include "tools/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lanewise::tools {

Result<PendingFile> PendingFile::Create(const std::string& path) {
  if (path.empty()) return Status::InvalidArgument("empty file name, expected a path");
  PendingFile file;
  file.path_ = path;
  if (Status s = file.Open(); !s.ok()) return s;
  return file;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      final_(std::move(other.final_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      renamed_(std::exchange(other.renamed_, false)) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  final_ = std::move(other.final_);
  temporary_ = std::exchange(other.temporary_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  renamed_ = std::exchange(other.renamed_, false);
  return *this;
}

PendingFile::~PendingFile() { Discard(); }

Status PendingFile::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("cannot be written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status PendingFile::Commit() {
  // Some file systems report a full disk only here.
  if (close(std::exchange(descriptor_, -1)) != 0) return Error("cannot be written", errno);
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) {
    return Error("cannot be replaced", errno);
  }
  temporary_.clear();
  renamed_ = true;
  return {};
}

void PendingFile::Revoke() noexcept {
  if (std::exchange(renamed_, false)) unlink(final_.c_str());
}

Status PendingFile::Open() {
  struct stat info = {};
  if (stat(path_.c_str(), &info) != 0) {
    final_ = path_;
    return OpenTemporary(false, 0666);
  }
  if (S_ISDIR(info.st_mode)) {
    return Status::InvalidArgument(path_ + ": is a directory, expected the name of a file");
  }
  if (!S_ISREG(info.st_mode)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor_ >= 0 ? Status() : Error("cannot be opened", errno);
  }
  if (access(path_.c_str(), W_OK) != 0) return Error("cannot be replaced", errno);
  std::error_code error;
  final_ = std::filesystem::canonical(path_, error).string();
  if (error) return Error("cannot be replaced", error.value());
  return OpenTemporary(true, info.st_mode & 07777);
}

Status PendingFile::OpenTemporary(bool replaces, unsigned mode) {
  const std::filesystem::path folder = std::filesystem::path(final_).parent_path();
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    const std::string name = (folder / fmt::format(".lanewise-{}-{}", getpid(), i)).string();
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) return Error("cannot be created", errno);
    temporary_ = name;
    // The mode given to open() loses the bits of the umask.
    if (replaces && fchmod(descriptor_, mode) != 0) return Error("cannot be replaced", errno);
    return {};
  }
  return Error("cannot be created", EEXIST);
}

Status PendingFile::Error(const std::string& what, int error) const {
  return Status::InvalidArgument(
      fmt::format("{}: {}: {}", path_, what, std::generic_category().message(error)));
}

void PendingFile::Discard() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) unlink(std::exchange(temporary_, {}).c_str());
}

}  // namespace lanewise::tools
