// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Made-up .npy files.

#ifndef LANEWISE_TESTS_TOOLS_NPY_FILES_H_
#define LANEWISE_TESTS_TOOLS_NPY_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/npy.h"

namespace lanewise::npy {

// A file of format 1.0 with `dictionary` as it stands and `data_bytes` bytes of data.
inline std::string File(const std::string& dictionary, size_t data_bytes) {
  std::string file = "\x93NUMPY";
  file += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  return file + dictionary + std::string(data_bytes, '\x11');
}

// The same for a shape of f32.
inline std::string FileOfShape(const std::string& shape, size_t data_bytes) {
  return File("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n", data_bytes);
}

// Parses a copy that ends where its memory ends, so that a sanitizer sees what is read beyond it.
inline Result<Array> ParseText(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  return Parse(std::vector<std::byte>(bytes.begin(), bytes.end()), "x.npy");
}

}  // namespace lanewise::npy

#endif  // LANEWISE_TESTS_TOOLS_NPY_FILES_H_
