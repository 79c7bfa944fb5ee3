// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Plans causal attention once and runs it on two batches, as an inference engine would: eight query
// heads share two heads of keys and values, and the arrays are packed [queries, heads, dim].

#include <lanewise/attention.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  lanewise::AttentionShape shape;
  shape.heads = 8;
  shape.kv_heads = 2;
  shape.queries = shape.keys = 100;
  shape.dim = shape.value_dim = 64;

  lanewise::AttentionOptions options;
  options.causal = true;
  options.lse = true;

  lanewise::Result<lanewise::AttentionPlan> plan = lanewise::PlanAttention(shape, options);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.status().message().c_str());
    return 1;
  }
  std::printf("%s", plan->Explain().ToString().c_str());
  lanewise::Workspace workspace(plan->workspace_bytes());

  // Packed [tokens, heads, dim], seen as [batch, heads, tokens, dim] through strides.
  const auto view = [&](auto& array, int64_t heads) {
    return lanewise::Tensor(array.data(), {1, heads, 100, 64}, {0, 64, heads * 64, 1});
  };
  std::vector<float> q(100 * 8 * 64), k(100 * 2 * 64), v(k.size()), out(q.size()), lse(8 * 100);
  for (int batch = 0; batch < 2; ++batch) {
    for (size_t i = 0; i < q.size(); ++i) q[i] = std::sin(static_cast<float>(i + batch));
    for (size_t i = 0; i < k.size(); ++i) k[i] = std::cos(static_cast<float>(i));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / (2 * 64));  // its token

    lanewise::AttentionTensors tensors{view(q, 8), view(k, 2), view(v, 2), view(out, 8)};
    tensors.lse = lanewise::Tensor(lse.data(), {1, 8, 100, 1});
    if (lanewise::Status status = plan->Run(tensors, workspace); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
    // The first token sees itself alone; the last one averages tokens 0 to 99.
    const float last = out[99 * 8 * 64];
    std::printf("batch %d: first token %g, last token %g, log-sum-exp %g\n", batch, out[0], last,
                lse[99]);
    if (out[0] != 0.0f || !(last > 0.0f && last < 99.0f)) return 1;
  }
  return 0;
}
