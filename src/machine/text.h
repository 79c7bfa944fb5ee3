// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Reading the small text files of /proc and /sys: bounded, locale-independent, and never throwing
// because of what a file holds.

#ifndef LANEWISE_SRC_MACHINE_TEXT_H_
#define LANEWISE_SRC_MACHINE_TEXT_H_

#include <cstddef>      // size_t
#include <cstdint>      // int64_t
#include <optional>     // results of parsing
#include <string>       // file contents
#include <string_view>  // text

namespace lanewise::machine {

// The first `max_bytes` bytes of a regular file; empty when it cannot be read. Other kinds of file
// count as unreadable, because opening a pipe could block.
std::string ReadFile(const std::string& path, std::size_t max_bytes);

// `text` without spaces, tabs and line ends at both ends.
std::string_view Trim(std::string_view text) noexcept;

// Removes the part of `*text` before the first `separator`, and the separator, and returns that
// part; all of `*text` when there is no separator.
std::string_view TakeUntil(char separator, std::string_view* text) noexcept;

// Whether the comma-separated `list` has an element equal to `item`.
bool ListContains(std::string_view list, std::string_view item) noexcept;

// A whole decimal number with nothing but white space around it.
std::optional<int64_t> ParseInteger(std::string_view text) noexcept;

// The same with an optional K, M or G behind it (powers of 1024).
std::optional<int64_t> ParseBytes(std::string_view text) noexcept;

// The number of CPUs in a list such as "0-3,8"; 0 when the list is malformed.
int CountCpuList(std::string_view text) noexcept;

}  // namespace lanewise::machine

#endif  // LANEWISE_SRC_MACHINE_TEXT_H_
