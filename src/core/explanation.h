// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What explanations of plans of every kind share.

#ifndef LANEWISE_SRC_CORE_EXPLANATION_H_
#define LANEWISE_SRC_CORE_EXPLANATION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "lanewise/parameter_source.h"

namespace lanewise::core {

// Where a parameter comes from.
inline std::string SourceText(bool overridden) { return overridden ? "override" : "default"; }

// A line for each source, names padded to `width`, then one for each reason.
std::string SourcesAndReasons(const std::vector<ParameterSource>& sources,
                              const std::vector<std::string>& reasons, size_t width);

}  // namespace lanewise::core

#endif  // LANEWISE_SRC_CORE_EXPLANATION_H_
