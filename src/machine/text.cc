// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Bounded file reading and number parsing.

#include "src/machine/text.h"

#include <charconv>      // std::from_chars, independent of the locale
#include <cstdio>        // std::fopen
#include <filesystem>    // is_regular_file
#include <limits>        // overflow check
#include <memory>        // closing the file
#include <system_error>  // std::errc

namespace lanewise::machine {

std::string ReadFile(const std::string& path, std::size_t max_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return {};
  std::string text;
  char chunk[4096];
  while (text.size() < max_bytes) {
    const std::size_t count = std::fread(chunk, 1, sizeof(chunk), file.get());
    if (count == 0) break;
    text.append(chunk, count);
  }
  if (text.size() > max_bytes) text.resize(max_bytes);
  return text;
}

std::string_view Trim(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view TakeUntil(char separator, std::string_view* text) noexcept {
  const std::size_t end = text->find(separator);
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return part;
}

bool ListContains(std::string_view list, std::string_view item) noexcept {
  while (!list.empty()) {
    if (TakeUntil(',', &list) == item) return true;
  }
  return false;
}

std::optional<int64_t> ParseInteger(std::string_view text) noexcept {
  text = Trim(text);
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseBytes(std::string_view text) noexcept {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  int shift = 0;
  switch (text.back()) {
    case 'K':
    case 'k':
      shift = 10;
      break;
    case 'M':
    case 'm':
      shift = 20;
      break;
    case 'G':
    case 'g':
      shift = 30;
      break;
    default:
      break;
  }
  if (shift != 0) text.remove_suffix(1);
  const std::optional<int64_t> value = ParseInteger(text);
  if (!value || *value < 0 || *value > (std::numeric_limits<int64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return *value << shift;
}

int CountCpuList(std::string_view text) noexcept {
  // Far above any machine; keeps the sum small whatever the text says.
  constexpr int64_t kMaxCpus = int64_t{1} << 20;
  int64_t count = 0;
  text = Trim(text);
  while (!text.empty()) {
    const std::string_view range = TakeUntil(',', &text);
    const std::size_t dash = range.find('-');
    const std::optional<int64_t> first = ParseInteger(range.substr(0, dash));
    const std::optional<int64_t> last =
        dash == std::string_view::npos ? first : ParseInteger(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return 0;
    count += *last - *first + 1;
    if (count > kMaxCpus) return 0;
  }
  return static_cast<int>(count);
}

}  // namespace lanewise::machine
