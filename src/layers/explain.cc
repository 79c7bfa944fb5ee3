// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <string>

#include "src/layers/decision.h"

namespace lanewise {

MultiHeadExplanation MultiHeadPlan::Explain() const {
  const layers::Steps& steps = decision_->steps;
  MultiHeadExplanation explanation;
  explanation.q = steps.q.Explain();
  explanation.kv = steps.kv.Explain();
  explanation.attention = steps.attention.Explain();
  explanation.out = steps.out.Explain();
  explanation.workspace_bytes = static_cast<int64_t>(workspace_bytes());
  return explanation;
}

std::string MultiHeadExplanation::ToString() const {
  return fmt::format(
      "queries\n{}\nkeys and values\n{}\nattention\n{}\noutput\n{}\nworkspace  {} bytes\n",
      q.ToString(), kv.ToString(), attention.ToString(), out.ToString(), workspace_bytes);
}

}  // namespace lanewise
