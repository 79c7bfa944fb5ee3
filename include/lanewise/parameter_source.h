// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What plans of every kind say about their parameters.

#ifndef LANEWISE_PARAMETER_SOURCE_H_
#define LANEWISE_PARAMETER_SOURCE_H_

#include <string>  // names

namespace lanewise {

// One parameter of a plan, and where its value came from: "default" or "override".
struct ParameterSource {
  std::string parameter;
  std::string source;
};

}  // namespace lanewise

#endif  // LANEWISE_PARAMETER_SOURCE_H_
