// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/core/explanation.h"

#include <fmt/format.h>

namespace lanewise::core {

std::string SourcesAndReasons(const std::vector<ParameterSource>& sources,
                              const std::vector<std::string>& reasons, size_t width) {
  std::string text;
  for (const ParameterSource& source : sources) {
    text += fmt::format("{:<{}} from {}\n", source.parameter, width, source.source);
  }
  for (const std::string& reason : reasons) text += reason + "\n";
  return text;
}

}  // namespace lanewise::core
