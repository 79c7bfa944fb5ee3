// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/attention.h>
#include <lanewise/version.h>

#include <cmath>
#include <cstdio>

// One query, three keys: the golden values of scaled dot-product attention.
int main() {
  const float q[] = {1, 0};
  const float k[] = {1, 0, 0, 1, 1, 1};
  const float v[] = {10, 20, 40};
  float out = 0;
  const lanewise::Status status = lanewise::Attention(
      lanewise::ConstTensor(q, {1, 1, 1, 2}), lanewise::ConstTensor(k, {1, 1, 3, 2}),
      lanewise::ConstTensor(v, {1, 1, 3, 1}), lanewise::Tensor(&out, {1, 1, 1, 1}));
  std::printf("lanewise %d.%d: %s %.6f\n", LANEWISE_VERSION_MAJOR, LANEWISE_VERSION_MINOR,
              status.ok() ? "ok" : status.message().c_str(), out);
  return status.ok() && std::fabs(out - 24.01112093f) < 1e-4f ? 0 : 1;
}
