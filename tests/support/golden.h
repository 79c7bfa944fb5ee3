// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Results known from hand calculation in double precision, to 8 digits.

#ifndef LANEWISE_TESTS_SUPPORT_GOLDEN_H_
#define LANEWISE_TESTS_SUPPORT_GOLDEN_H_

#include <vector>

#include "tests/support/attention_case.h"

namespace lanewise::testing {

// One query and the keys (1,0), (0,1), (1,1).
struct GoldenCase {
  const char* name;
  std::vector<float> q;
  float scale;  // 0: the default, 1/sqrt(2)
  std::vector<double> weights;
  std::vector<float> v;  // [3, out.size()]
  std::vector<double> out;
  double lse;
  void (*set_score)(AttentionCase&) = nullptr;  // null: dot products

  // The case with `values` in place of v.
  AttentionCase WithValues(const std::vector<float>& values) const {
    AttentionCase c;
    c.shape.queries = 1;
    c.shape.keys = 3;
    c.shape.dim = 2;
    c.shape.value_dim = static_cast<int64_t>(values.size()) / 3;
    if (scale != 0.0F) c.options.scale = scale;
    c.q = q;
    c.k = {1, 0, 0, 1, 1, 1};
    c.v = values;
    if (set_score != nullptr) set_score(c);
    return c;
  }
};

// wᵀ tanh(q + k), with projections that change nothing.
inline void SetGoldenAdditive(AttentionCase& c) {
  c.SetAdditive(2, true, true);
  c.wq = c.wk = {1, 0, 0, 1};
  c.w_out = {1, -1};
}

inline void SetGoldenBilinear(AttentionCase& c) {
  c.SetBilinear(2);
  c.w = {2, 1, 0, 1};
}

inline void SetGoldenGaussian(AttentionCase& c) { c.SetGaussian(1); }

inline std::vector<GoldenCase> GoldenCases() {
  const std::vector<float> numbers = {10, 20, 40};
  const std::vector<float> pairs = {10, 0, 0, 10, 5, 5};
  const std::vector<double> scaled = {0.40111209, 0.19777581, 0.40111209};
  return {
      {"scaled", {1, 0}, 0, scaled, numbers, {24.01112093}, 1.62062114},
      {"scaled, two columns", {1, 0}, 0, scaled, pairs, {6.01668139, 3.98331861}, 1.62062114},
      {"scale 1",
       {1, 0},
       1,
       {0.42231880, 0.15536240, 0.42231880},
       pairs,
       {6.33478197, 3.66521803},
       1.86199480},
      {"scores 8, 0, 8",
       {1, 0},
       8,
       {0.49991615, 0.00016770, 0.49991615},
       numbers,
       {24.99916148},
       8.69331490},
      {"other query",
       {0, 1},
       0,
       {0.19777581, 0.40111209, 0.40111209},
       pairs,
       {3.98331861, 6.01668139},
       1.62062114},
      {"additive",
       {1, 0},
       0,
       {0.54104493, 0.20632957, 0.25262550},
       numbers,
       {19.64206077},
       1.57828054,
       SetGoldenAdditive},
      {"bilinear",
       {1, 0},
       0,
       {0.24472847, 0.09003057, 0.66524096},
       numbers,
       {30.85753440},
       3.40760596,
       SetGoldenBilinear},
      {"Gaussian",
       {1, 0},
       0,
       {0.50648039, 0.18632372, 0.30719589},
       numbers,
       {21.07911380},
       0.68026967,
       SetGoldenGaussian},
  };
}

// As values, these make the output the weights.
inline std::vector<float> IdentityValues() { return {1, 0, 0, 0, 1, 0, 0, 0, 1}; }

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_GOLDEN_H_
