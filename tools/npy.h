// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Reading and writing NumPy array files (.npy, format versions 1.0, 2.0 and 3.0) of f32, f16 and
// bool elements in C order. The format is described in numpy/lib/format.py. Files are not trusted:
// whatever bytes they hold, the outcome is an array or a message, and no memory is allocated that
// the size of the file does not justify.

#ifndef LANEWISE_TOOLS_NPY_H_
#define LANEWISE_TOOLS_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "tools/pending_file.h"

namespace lanewise::npy {

// The largest rank that NumPy 1.x knows.
inline constexpr size_t kMaxRank = 32;

// A dense array, last dimension fastest. kF32 is '<f4', kF16 is '<f2', kBool is '|b1'; kBF16 exists
// in memory only.
struct Array {
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;   // empty for a scalar
  std::vector<std::byte> data;  // elements in order

  // An array of zeros. The caller guarantees that its size fits memory.
  static Array Zeros(std::vector<int64_t> shape, DataType type = DataType::kF32);

  int64_t ElementCount() const noexcept;  // 1 for a scalar
  // The elements of an f32 array.
  float* floats() noexcept { return reinterpret_cast<float*>(data.data()); }
  const float* floats() const noexcept { return reinterpret_cast<const float*>(data.data()); }
};

// Bytes of one element; 0 for a type that .npy does not have (bf16).
size_t ElementBytes(DataType type) noexcept;

// "(2, 3)", "(3,)", "()", as Python writes a shape.
std::string ShapeString(const std::vector<int64_t>& shape);

// What .npy has of the types of the library.
inline constexpr DataType kElementTypes[] = {DataType::kF32, DataType::kF16, DataType::kBool};

// Reads the file at `path`, which must be a regular file with elements of one of `types`.
// Errors, each naming the path, what was found and what was expected: kInvalidArgument for a file
// that cannot be read, is not a sound .npy file or has other elements; kUnsupported for a sound one
// of a foreign type, byte order or in Fortran order; kOutOfMemory.
Result<Array> Read(const std::string& path, std::span<const DataType> types = kElementTypes);

// The same for the bytes of a file, called `name` in messages.
Result<Array> Parse(std::span<const std::byte> bytes, std::string_view name);

// The bytes before the data of `array`: version 1.0, padded with spaces to a multiple of 64.
// `array.type` must have ElementBytes.
std::string Header(const Array& array);

// Puts `array` into `file`, which the caller commits.
Status WriteTo(tools::PendingFile& file, const Array& array);

// Writes `array` to `path`, all or nothing: on any error a file of that name stays as it was.
Status Write(const std::string& path, const Array& array);

}  // namespace lanewise::npy

#endif  // LANEWISE_TOOLS_NPY_H_
