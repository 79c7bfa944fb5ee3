// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A matcher for error messages: they have to name the argument and the numbers involved.

#ifndef LANEWISE_TESTS_SUPPORT_MENTIONS_H_
#define LANEWISE_TESTS_SUPPORT_MENTIONS_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/status.h"

namespace lanewise {

// How gtest shows a Status.
inline void PrintTo(const Status& status, std::ostream* stream) {
  *stream << StatusCodeName(status.code());
  if (!status.ok()) *stream << ": " << status.message();
}

namespace testing {

// Does `text` contain `word`, not as a part of a longer name or number?
inline bool ContainsWord(const std::string& text, const std::string& word) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

// A Status with `code` whose message contains each of `words`.
MATCHER_P2(FailsWith, code, words,
           "is the error \"" + std::string(StatusCodeName(code)) + "\" that mentions " +
               ::testing::PrintToString(words)) {
  const Status& status = arg;
  if (status.code() != code) return false;
  for (const std::string& word : words) {
    if (!ContainsWord(status.message(), word)) {
      *result_listener << "without the word \"" << word << "\"";
      return false;
    }
  }
  return true;
}

// The usual code.
inline auto IsInvalid(std::vector<std::string> words) {
  return FailsWith(StatusCode::kInvalidArgument, std::move(words));
}

}  // namespace testing
}  // namespace lanewise

#endif  // LANEWISE_TESTS_SUPPORT_MENTIONS_H_
