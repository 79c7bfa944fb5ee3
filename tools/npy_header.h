// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The head of a .npy file: magic string, version, header length, and a Python dictionary literal
// such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.

#ifndef LANEWISE_TOOLS_NPY_HEADER_H_
#define LANEWISE_TOOLS_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/status.h"
#include "lanewise/tensor.h"

namespace lanewise::npy {

// Magic string (6 bytes) and version (2 bytes), followed by the header length in 2 bytes (1.0)
// or 4.
inline constexpr size_t kVersionEnd = 8;
inline constexpr size_t kLargestPreamble = 12;

// Longer headers than this describe no array this library reads; NumPy itself stops at 10000.
inline constexpr size_t kMaxHeaderBytes = size_t{64} << 10;

// Where the dictionary lies in the file.
struct HeaderSpan {
  size_t begin = 0;
  size_t length = 0;
};

// Reads the preamble from the first bytes of a file: `head` holds min(file_bytes, kLargestPreamble)
// of them. The returned span lies inside the file.
Result<HeaderSpan> ParsePreamble(std::string_view head, uint64_t file_bytes);

// The values of the dictionary as written, checked for syntax only.
struct HeaderFields {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Parses a dictionary literal with exactly the keys descr, fortran_order and shape, in any order.
// The grammar is Python's for what NumPy writes: quoted strings without escapes, True and False,
// tuples of decimal integers. Sizes that are negative or beyond 64 bits are errors.
Result<HeaderFields> ParseDictionary(std::string_view text);

// What the data must look like.
struct DataLayout {
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  uint64_t data_bytes = 0;
};

// Checks that such arrays can be read, of one of `types`, and computes their size.
Result<DataLayout> LayoutOf(HeaderFields fields, std::span<const DataType> types);

// "<f4" for f32; empty for a type that .npy does not have (bf16).
std::string_view DescrOf(DataType type) noexcept;

// `text` for messages: printable ASCII, others as '?', at most `max_chars`, then "...".
std::string Quotable(std::string_view text, size_t max_chars = 40);

}  // namespace lanewise::npy

#endif  // LANEWISE_TOOLS_NPY_HEADER_H_
