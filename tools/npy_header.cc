// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Parsing the head of a .npy file and checking what it promises.

#include "tools/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/npy.h"

namespace lanewise::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

uint32_t ByteAt(std::string_view bytes, size_t i) { return static_cast<unsigned char>(bytes[i]); }

// Recursive descent over the literal. A method that returns false has set `error_`.
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  Result<HeaderFields> Parse() {
    if (!ParseAll()) return Status::InvalidArgument("header is malformed: " + error_);
    return HeaderFields{*std::move(descr_), *fortran_order_, *std::move(shape_)};
  }

 private:
  bool ParseAll() {
    if (!Expect('{')) return false;
    while (!Accept('}')) {
      if (!ParseEntry()) return false;
      if (Accept('}')) break;
      if (!Expect(',')) return false;
    }
    SkipSpace();
    if (at_ != text_.size()) return Fail("the end of the header");
    if (!descr_) return Missing("descr");
    if (!fortran_order_) return Missing("fortran_order");
    if (!shape_) return Missing("shape");
    return true;
  }

  bool ParseEntry() {
    std::string key;
    if (!ParseString(&key) || !Expect(':')) return false;
    if (key == "descr") {
      if (descr_) return Repeated(key);
      return ParseString(&descr_.emplace());
    }
    if (key == "fortran_order") {
      if (fortran_order_) return Repeated(key);
      return ParseBool(&fortran_order_.emplace());
    }
    if (key == "shape") {
      if (shape_) return Repeated(key);
      return ParseShape(&shape_.emplace());
    }
    error_ = fmt::format("key '{}', expected descr, fortran_order and shape only", Quotable(key));
    return false;
  }

  // A string in single or double quotes. Escapes do not occur in what NumPy writes.
  bool ParseString(std::string* value) {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Fail("a quoted string");
    const size_t begin = at_ + 1;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) return Fail("a quoted string that ends");
    const std::string_view content = text_.substr(begin, end - begin);
    if (content.find_first_of("\\\n\r") != std::string_view::npos) {
      return Fail("a string without escapes and line ends");
    }
    *value = content;
    at_ = end + 1;
    return true;
  }

  bool ParseBool(bool* value) {
    SkipSpace();
    const std::string_view rest = text_.substr(at_);
    const std::string_view word = rest.substr(0, std::min(WordLength(rest), rest.size()));
    if (word != "True" && word != "False") return Fail("True or False");
    *value = word == "True";
    at_ += word.size();
    return true;
  }

  // (), (a,), (a, b), (a, b,) ... A number in parentheses, (a), is a number in Python, not a tuple.
  bool ParseShape(std::vector<int64_t>* shape) {
    if (!Expect('(')) return false;
    if (Accept(')')) return true;
    for (bool comma = false;;) {
      if (comma && Accept(')')) return true;
      if (shape->size() == kMaxRank) {
        error_ = fmt::format("shape has more than {} dimensions", kMaxRank);
        return false;
      }
      if (!ParseSize(&shape->emplace_back())) return false;
      comma = Accept(',');
      if (comma) continue;
      if (shape->size() < 2) return Fail("',' after the only size of a shape");
      return Expect(')');
    }
  }

  bool ParseSize(int64_t* value) {
    SkipSpace();
    const std::string_view rest = text_.substr(at_);
    const bool negative = rest.starts_with('-');
    const std::string_view word = rest.substr(0, WordLength(rest.substr(negative)) + negative);
    const std::string_view digits = word.substr(negative);
    const bool decimal = !digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit);
    if (!decimal || (digits.size() > 1 && digits[0] == '0')) return Fail("a decimal size");
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *value);
    if (error != std::errc() || *value < 0) {
      error_ = fmt::format("shape has the size {}, expected 0 to {}", Quotable(word),
                           std::numeric_limits<int64_t>::max());
      return false;
    }
    at_ += word.size();
    return true;
  }

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsWord(char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }
  // Characters up to the end of the name or number that `text` begins with.
  static size_t WordLength(std::string_view text) {
    return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsWord) - text.begin());
  }

  void SkipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n\f", at_), text_.size()); }
  bool Accept(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Expect(char c) {
    if (Accept(c)) return true;
    return Fail(fmt::format("'{}'", c));
  }

  bool Fail(std::string_view expected) {
    const std::string found =
        at_ < text_.size() ? fmt::format("'{}'", Quotable(text_.substr(at_), 20)) : "the end";
    error_ = fmt::format("{} at character {}, expected {}", found, at_, expected);
    return false;
  }
  bool Missing(std::string_view key) {
    error_ = fmt::format("no key '{}', expected descr, fortran_order and shape", key);
    return false;
  }
  bool Repeated(std::string_view key) {
    error_ = fmt::format("key '{}' twice, expected once", key);
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<int64_t>> shape_;
};

constexpr std::pair<DataType, std::string_view> kDescrs[] = {
    {DataType::kF32, "<f4"}, {DataType::kF16, "<f2"}, {DataType::kBool, "|b1"}};

bool IsAmong(std::span<const DataType> types, DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// "a", "a or b", "a, b or c".
template <typename Text>
std::string List(std::span<const DataType> types, const Text& text) {
  std::string list;
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) list += i + 1 < types.size() ? ", " : " or ";
    list += text(types[i]);
  }
  return list;
}

}  // namespace

Result<HeaderSpan> ParsePreamble(std::string_view head, uint64_t file_bytes) {
  if (head.size() < kVersionEnd || !head.starts_with(kMagic)) {
    return Status::InvalidArgument(
        file_bytes < kVersionEnd
            ? fmt::format("{} bytes, too short for a .npy file", file_bytes)
            : "not a .npy file, expected the magic string \\x93NUMPY at the start");
  }
  const uint32_t major = ByteAt(head, 6);
  const uint32_t minor = ByteAt(head, 7);
  if (major < 1 || major > 3 || minor != 0) {
    return Status::Unsupported(
        fmt::format(".npy version {}.{}, expected 1.0, 2.0 or 3.0", major, minor));
  }
  const size_t begin = major == 1 ? kVersionEnd + 2 : kVersionEnd + 4;
  if (head.size() < begin) {
    return Status::InvalidArgument(fmt::format("{} bytes, too short for a .npy file", file_bytes));
  }
  uint32_t length = 0;
  for (size_t i = begin; i-- > kVersionEnd;) length = length << 8 | ByteAt(head, i);
  if (length > file_bytes - begin) {
    return Status::InvalidArgument(
        fmt::format("header of {} bytes goes beyond the end of the file, which has {} bytes",
                    length, file_bytes));
  }
  if (length > kMaxHeaderBytes) {
    return Status::Unsupported(
        fmt::format("header of {} bytes, expected at most {}", length, kMaxHeaderBytes));
  }
  return HeaderSpan{begin, length};
}

Result<HeaderFields> ParseDictionary(std::string_view text) {
  return DictionaryParser(text).Parse();
}

std::string_view DescrOf(DataType type) noexcept {
  for (const auto& [known, descr] : kDescrs) {
    if (known == type) return descr;
  }
  return "";
}

Result<DataLayout> LayoutOf(HeaderFields fields, std::span<const DataType> types) {
  DataLayout layout;
  const auto* known = std::find_if(std::begin(kDescrs), std::end(kDescrs),
                                   [&](const auto& entry) { return entry.second == fields.descr; });
  const bool big_endian = fields.descr == ">f4" || fields.descr == ">f2";
  if (known != std::end(kDescrs)) {
    layout.type = known->first;
  } else if (big_endian &&
             IsAmong(types, fields.descr == ">f4" ? DataType::kF32 : DataType::kF16)) {
    return Status::Unsupported(fmt::format("dtype '{}' is big-endian, expected little-endian '<{}'",
                                           fields.descr, fields.descr.substr(1)));
  } else {
    return Status::Unsupported(fmt::format(
        "dtype '{}', expected {}", Quotable(fields.descr), List(types, [](DataType type) {
          return fmt::format("'{}' ({})", DescrOf(type), DataTypeName(type));
        })));
  }
  if (!IsAmong(types, layout.type)) {
    return Status::InvalidArgument(
        fmt::format("{} elements, expected {}", DataTypeName(layout.type),
                    List(types, [](DataType type) { return std::string(DataTypeName(type)); })));
  }
  if (fields.fortran_order) {
    return Status::Unsupported(
        "array in Fortran order, expected C order (numpy.ascontiguousarray converts)");
  }
  layout.data_bytes = ElementBytes(layout.type);
  layout.shape = std::move(fields.shape);
  if (std::find(layout.shape.begin(), layout.shape.end(), 0) != layout.shape.end()) {
    layout.data_bytes = 0;
    return layout;
  }
  for (const int64_t size : layout.shape) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(layout.data_bytes, static_cast<uint64_t>(size), &bytes)) {
      return Status::InvalidArgument(
          fmt::format("shape {} needs more than 2^64 bytes", ShapeString(layout.shape)));
    }
    layout.data_bytes = bytes;
  }
  return layout;
}

std::string Quotable(std::string_view text, size_t max_chars) {
  std::string quotable(text.substr(0, max_chars));
  for (char& c : quotable) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > max_chars) quotable += "...";
  return quotable;
}

}  // namespace lanewise::npy
