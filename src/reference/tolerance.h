// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How far attention in f32 arithmetic may be from its definition: a bound for each element of the
// result, derived from epsilon, the length of the row, the norms of the data and the type of the
// output. Tests, `lanewise verify` and `lanewise run --check` all judge by it.

#ifndef LANEWISE_SRC_REFERENCE_TOLERANCE_H_
#define LANEWISE_SRC_REFERENCE_TOLERANCE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "src/reference/attention.h"

namespace lanewise::reference {

// The bound of an element that may be any number, or NaN.
inline constexpr double kAnything = -std::numeric_limits<double>::infinity();

// Same order as AttentionResult. Infinite where f32 overflows although the result does not.
struct AttentionTolerance {
  std::vector<double> out;           // [batch, heads, queries, value_dim]
  std::vector<double> lse;           // [batch, heads, queries]
  std::vector<double> weights = {};  // [batch, heads, queries, keys]; 0 where a key is not seen
};

// With u = 2^-24, the keys j that the row sees, n of them, their score s_j = t_j + b_j - a_j (dot
// product after softcap, bias, ALiBi), p_j = exp(s_j - lse), and
//
//   A_j = Σ_d |scale q_d k_jd|        D_j = max_i s_i - s_j
//   e_j = u * ((dim + 4) * A_j                      of dot products; others below
//              + 12 * |t_j|                         with softcap
//              + 6 * (|t_j| + |b_j| + |a_j|))       with bias or ALiBi
//   w_j = e_j + u * (4 * D_j + 48)                  relative error of a weight
//   L   = u * (n + n / 8 + 8)                       relative error of a sum over the row
//   W   = Σ_j p_j * w_j + L                         relative error of the denominator
//
// the bounds, to first order in w and L, are
//
//   out_c:      Σ_j p_j * w_j * |v_jc - out_c|  +  L * (Σ_j p_j * |v_jc| + |out_c|)
//   lse:        W  +  4u * (|lse| + max_j |s_j|)
//   weights_j:  p_j * (w_j + W)
//
// e_j, term by term: `dim` rounded sums, the rounded scale and its two products (a kernel may fold
// log2(e) into it); the derivative of softcap is at most 1, the quotient, tanh and the product are
// off by a few u of the result; a bias and a slope may be scaled by log2(e), the distance and its
// product are rounded, and so is each of two sums. w_j: exp(s_j - shift), where the shift lags at
// most 8 behind the running maximum and each rise multiplies what was summed by another exp. All
// arguments of exp on a key's way add up to at most D_j + 16, of which subtraction and range
// reduction without fused multiply-add each lose u; and each of at most D_j / 8 + 2 results is off
// by 5u. L: one rounding a key, at most one rescaling every eight keys, the division. A weight
// below e^-86 of the row's largest may be flushed to 0: its w_j is 1, and where its value is
// infinite the bound is kAnything, as 0 times that is NaN. Holds for any order of summation.
//
// The first term of e_j for the other score functions:
//
//   bilinear  (dim + key_dim + 6) * Σ_dc |scale q_d W_dc k_jc|: the rounded sums of a projected
//             query, then those of its dot product
//   additive  Σ_h |scale w_h| * ((hidden + 10) * |t_h| + (dim + 2) * Σ_d |W_q,hd q_d|
//                                + (key_dim + 2) * Σ_d |W_k,hd k_jd|), t_h = tanh(z_h): z_h is off
//             by the sums of its two parts and their own; tanh does not enlarge that, is off by 6u
//             of itself, and `hidden` sums follow. Rows that come projected count 1 * |q_h|, |k_jh|
//   Gaussian  (dim + 8) * |s_j|: each difference is rounded and squared, the squares added in turn,
//             and the factor and its product rounded
//
// A sink is one more key, of value 0. Its exp may be taken relative to the largest score of a key,
// so its D counts in both directions.
//
// An f16 or bf16 output is rounded to nearest once more: with B the bound of out_c above, half the
// distance between the type's numbers around |out_c| + B comes on top, the largest number that may
// have been rounded. Below the normal numbers that distance is the smallest subnormal.
//
// `expected` is what Attention() returned for the same arguments; of the outputs in `tensors` only
// `out.type` counts. Costs about twice as much.
AttentionTolerance Tolerance(const AttentionTensors& tensors, const AttentionOptions& options,
                             const AttentionResult& expected);

// The same for MergeAttention(), which is attention to one key a part: of exact score lse_p and of
// value out_p.
AttentionTolerance MergeTolerance(const std::vector<AttentionPart>& parts,
                                  const AttentionResult& expected);

// The outcome of comparing an array with its definition.
struct Comparison {
  // One element and what was found there.
  struct Element {
    Sizes index = {0, 0, 0, 0};
    double actual = 0;
    double expected = 0;
    double error = 0;      // |actual - expected|; infinite when only one of them is NaN or infinite
    double tolerance = 0;  // the bound of this element
  };

  int64_t count = 0;     // elements compared
  int64_t failures = 0;  // elements beyond their bound
  Element largest;       // the element with the largest error
  Element worst;         // the element with the largest error / tolerance
  double worst_ratio = 0;

  bool ok() const noexcept { return failures == 0; }
};

// Compares a tensor of f32, f16 or bf16 with `expected`, dense in the order of its sizes, element
// by element. Where NaN or an infinity is expected, exactly that must be found; a zero bound asks
// for equality, kAnything for nothing. An f16 or bf16 infinity is no error either where the
// expected number, as far away from zero as its bound allows, rounds to it.
Comparison Compare(const ConstTensor& actual, const std::vector<double>& expected,
                   const std::vector<double>& tolerance);

// "element [0, 1, 2, 3] is 0.5, expected 0.25: error 0.25, tolerance 1e-06".
std::string Describe(const Comparison::Element& element);

}  // namespace lanewise::reference

#endif  // LANEWISE_SRC_REFERENCE_TOLERANCE_H_
