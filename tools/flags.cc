// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace lanewise::tools {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value = 0;
  // from_chars does not know a leading plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string RangeText(IntRange range) {
  const IntRange all;
  if (range.largest == all.largest) {
    return range.smallest == all.smallest ? "" : fmt::format(" of at least {}", range.smallest);
  }
  return fmt::format(" from {} to {}", range.smallest, range.largest);
}

}  // namespace

std::string NamingFlag(const CLI::App& command, std::string_view message) {
  const size_t end = message.find(':');
  if (end == std::string_view::npos) return std::string(message);
  std::string flag = "--" + std::string(message.substr(0, end));
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (flag == "--alibi-slopes") flag = "--alibi";
  const CLI::Option* const option = command.get_option_no_throw(flag);
  if (option == nullptr || option->count() == 0) return std::string(message);
  return flag + std::string(message.substr(end));
}

CLI::Option* AddId(CLI::App& app, const std::string& flag, std::string& id,
                   const std::string& description) {
  const auto check = [](const std::string& text) {
    return text.empty() ? "found \"\", expected an ID" : "";
  };
  return app.add_option(flag, id, description)->check(check)->type_name("ID");
}

CLI::Option* AddInt(CLI::App& app, const std::string& flag, std::optional<int64_t>& value,
                    const std::string& description, IntRange range) {
  const auto store = [&value, flag, range](const std::string& text) {
    value = ParseNumber<int64_t>(text);
    if (!value || *value < range.smallest || *value > range.largest) {
      throw CLI::ValidationError(
          flag, fmt::format("found \"{}\", expected a whole number{}", text, RangeText(range)));
    }
  };
  return app.add_option_function<std::string>(flag, store, description)->type_name("N");
}

CLI::Option* AddFloat(CLI::App& app, const std::string& flag, std::optional<float>& value,
                      const std::string& description, float smallest) {
  const auto store = [&value, flag, smallest](const std::string& text) {
    value = ParseNumber<float>(text);
    if (!value || !std::isfinite(*value) || *value < smallest) {
      const bool any = smallest == std::numeric_limits<float>::lowest();
      throw CLI::ValidationError(
          flag, fmt::format("found \"{}\", expected a finite number within f32{}", text,
                            any ? "" : fmt::format(", at least {}", smallest)));
    }
  };
  return app.add_option_function<std::string>(flag, store, description)->type_name("X");
}

CLI::Option* AddIntList(CLI::App& app, const std::string& flag,
                        const std::function<bool(const std::vector<int64_t>&)>& store,
                        const std::string& expected, const std::string& description) {
  const auto parse = [flag, store, expected](const std::string& text) {
    const std::optional<std::vector<int64_t>> numbers = ParseIntList(text);
    if (!numbers || !store(*numbers)) {
      throw CLI::ValidationError(flag, fmt::format("found \"{}\", expected {}", text, expected));
    }
  };
  return app.add_option_function<std::string>(flag, parse, description);
}

CLI::Option* AddJson(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object to standard output");
}

std::optional<std::vector<int64_t>> ParseIntList(std::string_view text) {
  std::vector<int64_t> numbers;
  for (;;) {
    const size_t comma = text.find(',');
    const std::optional<int64_t> number = ParseNumber<int64_t>(text.substr(0, comma));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace lanewise::tools
