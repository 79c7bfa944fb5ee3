// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Reading and writing: the file around the header.

#include "tools/npy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "src/core/element_bytes.h"
#include "tools/npy_header.h"

namespace lanewise::npy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are read and written as they lie in memory");

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string SystemMessage(int error) { return std::generic_category().message(error); }

// Bytes of a file at given places.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Fills `to` from `offset` on; the range lies inside [0, size()).
  virtual Status Fill(uint64_t offset, std::span<std::byte> to) = 0;
};

class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Status Fill(uint64_t offset, std::span<std::byte> to) override {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
};

class FileSource final : public ByteSource {
 public:
  FileSource() = default;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  Status Open(const std::string& path) {
    // O_NONBLOCK: opening a pipe returns instead of waiting for a writer.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info = {};
    if (descriptor_ < 0 || fstat(descriptor_, &info) != 0) {
      return Status::InvalidArgument("cannot be opened: " + SystemMessage(errno));
    }
    if (!S_ISREG(info.st_mode)) {
      return Status::InvalidArgument(
          fmt::format("is {}, expected a .npy file",
                      S_ISDIR(info.st_mode) ? "a directory" : "not a regular file"));
    }
    size_ = static_cast<uint64_t>(info.st_size);
    return {};
  }

  uint64_t size() const override { return size_; }
  Status Fill(uint64_t offset, std::span<std::byte> to) override {
    while (!to.empty()) {
      const ssize_t count = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Status::InvalidArgument("cannot be read: " + SystemMessage(errno));
      if (count == 0) return Status::InvalidArgument("became shorter while it was read");
      offset += static_cast<uint64_t>(count);
      to = to.subspan(static_cast<size_t>(count));
    }
    return {};
  }

 private:
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

Result<Array> ReadFrom(ByteSource& source, std::span<const DataType> types) {
  std::vector<std::byte> head(std::min<uint64_t>(source.size(), kLargestPreamble));
  if (Status s = source.Fill(0, head); !s.ok()) return s;
  const Result<HeaderSpan> span = ParsePreamble(AsText(head), source.size());
  if (!span.ok()) return span.status();

  head.resize(span->length);
  if (Status s = source.Fill(span->begin, head); !s.ok()) return s;
  Result<HeaderFields> fields = ParseDictionary(AsText(head));
  if (!fields.ok()) return fields.status();
  Result<DataLayout> layout = LayoutOf(std::move(*fields), types);
  if (!layout.ok()) return layout.status();

  const uint64_t data_begin = span->begin + span->length;
  const uint64_t found = source.size() - data_begin;
  if (found != layout->data_bytes) {
    return Status::InvalidArgument(fmt::format("{} bytes of data, but shape {} of {} needs {}",
                                               found, ShapeString(layout->shape),
                                               DataTypeName(layout->type), layout->data_bytes));
  }
  Array array;
  array.type = layout->type;
  array.shape = std::move(layout->shape);
  array.data.resize(found);
  if (Status s = source.Fill(data_begin, array.data); !s.ok()) return s;
  return array;
}

// Puts the name of the file in front of the message of an error.
Result<Array> Named(std::string_view name, Result<Array> result) {
  if (result.ok() || result.status().code() == StatusCode::kOutOfMemory) return result;
  return Status(result.status().code(), fmt::format("{}: {}", name, result.status().message()));
}

}  // namespace

Array Array::Zeros(std::vector<int64_t> shape, DataType type) {
  Array array;
  array.type = type;
  array.shape = std::move(shape);
  array.data.resize(static_cast<size_t>(array.ElementCount() * core::ElementBytes(type)));
  return array;
}

int64_t Array::ElementCount() const noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

size_t ElementBytes(DataType type) noexcept {
  switch (type) {
    case DataType::kF32:
      return 4;
    case DataType::kF16:
      return 2;
    case DataType::kBool:
      return 1;
    case DataType::kBF16:
      break;
  }
  return 0;
}

std::string ShapeString(const std::vector<int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Result<Array> Read(const std::string& path, std::span<const DataType> types) {
  try {
    FileSource source;
    if (Status s = source.Open(path); !s.ok()) return Named(path, s);
    return Named(path, ReadFrom(source, types));
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

Result<Array> Parse(std::span<const std::byte> bytes, std::string_view name) {
  try {
    SpanSource source(bytes);
    return Named(name, ReadFrom(source, kElementTypes));
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

std::string Header(const Array& array) {
  constexpr size_t kAlignment = 64;
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       DescrOf(array.type), ShapeString(array.shape));
  constexpr size_t kPreamble = kVersionEnd + 2;
  const size_t unpadded = kPreamble + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
             static_cast<char>(dictionary.size() >> 8)};
  return header + dictionary;
}

Status WriteTo(tools::PendingFile& file, const Array& array) {
  const std::string header = Header(array);
  if (Status s = file.Append(std::as_bytes(std::span(header))); !s.ok()) return s;
  return file.Append(array.data);
}

Status Write(const std::string& path, const Array& array) {
  Result<tools::PendingFile> file = tools::PendingFile::Create(path);
  if (!file.ok()) return file.status();
  if (Status s = WriteTo(*file, array); !s.ok()) return s;
  tools::PendingFile* const files[] = {&*file};
  return tools::PendingFile::Commit(files);
}

}  // namespace lanewise::npy
