// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Temporary files, linked and renamed on commit.

#include "tools/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lanewise::tools {
namespace {

volatile std::sig_atomic_t held_signal = 0;

// Keeps the signals that end a command from doing so; the last of them is raised again at the end.
// A handler, because a mask of this thread would leave the signals to others.
class HeldSignals {
 public:
  HeldSignals() {
    held_signal = 0;
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction hold = {};
      hold.sa_handler = [](int signal) { held_signal = signal; };
      hold.sa_flags = SA_RESTART;
      sigaction(kSignals[i], &hold, nullptr);
    }
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    if (held_signal != 0) raise(held_signal);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

// The link by which the kernel gives an open file a name.
std::string LinkTo(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Calls `make` with names beside `path` until one is free, and returns that name; empty if `make`
// failed for another reason, which is in errno. `make` returns false for an error.
template <typename Make>
std::string MakeTemporary(const std::string& path, const Make& make) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    std::string name = (folder / fmt::format(".lanewise-{}-{}", getpid(), i)).string();
    if (make(name.c_str())) return name;
    if (errno != EEXIST) break;
  }
  return "";
}

}  // namespace

std::string EndOfLinks(const std::string& path) {
  std::filesystem::path end = path;
  std::error_code error;
  // As many as the kernel follows.
  for (int i = 0; i < 40 && std::filesystem::is_symlink(end, error); ++i) {
    end = end.parent_path() / std::filesystem::read_symlink(end, error);
  }
  return end.string();
}

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
      replaces_(other.replaces_),
      mode_(other.mode_),
      placed_(other.placed_) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  final_ = std::move(other.final_);
  temporary_ = std::exchange(other.temporary_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  replaces_ = other.replaces_;
  mode_ = other.mode_;
  placed_ = other.placed_;
  return *this;
}

PendingFile::~PendingFile() { Discard(); }

Status PendingFile::Append(std::span<const std::byte> bytes) {
  if (descriptor_ < 0) {
    if (Status s = OpenNamed(); !s.ok()) return s;
  }
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("cannot be written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status PendingFile::Commit(std::span<PendingFile* const> files) {
  const HeldSignals held;
  Status status;
  for (PendingFile* file : files) {
    if (status.ok()) status = file->Complete();
  }
  for (PendingFile* file : files) {
    // Nothing can fail after the last.
    if (status.ok()) status = file->Place(file != files.back());
  }
  for (PendingFile* file : files) {
    if (!status.ok()) file->Revoke();
    file->Discard();
  }
  return status;
}

Status PendingFile::Complete() {
  if (Status s = Append({}); !s.ok()) return s;
  if (!final_.empty() && temporary_.empty()) {
    const std::string source = LinkTo(descriptor_);
    temporary_ = MakeTemporary(final_, [&](const char* name) {
      return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (temporary_.empty()) return Error("cannot be created", errno);
  }
  // Some file systems report a full disk only here.
  if (close(std::exchange(descriptor_, -1)) != 0) return Error("cannot be written", errno);
  return {};
}

Status PendingFile::Place(bool keep) {
  if (final_.empty()) return {};
  keep = keep && replaces_;
  if (keep) {
    placed_ =
        renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0;
    if (placed_) return {};
    // A file system that cannot exchange names.
    if (errno == EINVAL || errno == ENOSYS) return PlaceInSteps();
    if (errno != ENOENT) return Error("cannot be replaced", errno);
  }
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) {
    return Error("cannot be replaced", errno);
  }
  temporary_.clear();
  placed_ = true;
  return {};
}

Status PendingFile::PlaceInSteps() {
  // The old file moves over an empty one, so that it takes nobody's name.
  std::string old = MakeTemporary(final_, [](const char* name) {
    const int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor >= 0 && close(descriptor) == 0;
  });
  if (old.empty()) return Error("cannot be replaced", errno);
  if (std::rename(final_.c_str(), old.c_str()) != 0) {
    const int error = errno;
    unlink(old.c_str());
    return Error("cannot be replaced", error);
  }
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) {
    const int error = errno;
    std::rename(old.c_str(), final_.c_str());
    return Error("cannot be replaced", error);
  }
  temporary_ = std::move(old);
  placed_ = true;
  return {};
}

void PendingFile::Revoke() noexcept {
  if (!std::exchange(placed_, false)) return;
  if (temporary_.empty()) {
    unlink(final_.c_str());
  } else {
    std::rename(temporary_.c_str(), final_.c_str());
    // Not to be removed, whether or not that went well.
    temporary_.clear();
  }
}

Status PendingFile::Open() {
  struct stat info = {};
  if (stat(path_.c_str(), &info) != 0) {
    if (errno != ENOENT) return Error("cannot be created", errno);
    final_ = EndOfLinks(path_);
    return OpenTemporary();
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
  replaces_ = true;
  mode_ = info.st_mode & 07777;
  return OpenTemporary();
}

Status PendingFile::OpenTemporary() {
  const std::filesystem::path folder = std::filesystem::path(final_).parent_path();
  descriptor_ =
      open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode_);
  if (descriptor_ >= 0 && access(LinkTo(descriptor_).c_str(), F_OK) == 0) return SetMode();
  // No files without names here, or no way to name them. That a named one can be made shows now; it
  // stays only once there is something to write.
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  Status s = OpenNamed();
  Discard();
  return s;
}

Status PendingFile::OpenNamed() {
  temporary_ = MakeTemporary(final_, [this](const char* name) {
    descriptor_ = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_);
    return descriptor_ >= 0;
  });
  return temporary_.empty() ? Error("cannot be created", errno) : SetMode();
}

Status PendingFile::SetMode() {
  // The mode given to open() loses the bits of the umask.
  if (!replaces_ || fchmod(descriptor_, mode_) == 0) return {};
  return Error("cannot be replaced", errno);
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
