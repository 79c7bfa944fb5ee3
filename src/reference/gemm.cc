// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/reference/gemm.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "src/reference/attention.h"
#include "src/reference/half_format.h"

namespace lanewise::reference {
namespace {

// One matrix of an array, or its transpose, widened.
std::vector<std::vector<double>> MatrixOf(const ConstTensor& tensor, int64_t batch, int64_t head,
                                          bool transpose) {
  const auto rows = static_cast<size_t>(tensor.sizes[2]);
  const auto columns = static_cast<size_t>(tensor.sizes[3]);
  std::vector<std::vector<double>> matrix(rows);
  for (size_t i = 0; i < rows; ++i)
    ReadRow(tensor, {batch, head, static_cast<int64_t>(i)}, matrix[i]);
  if (!transpose) return matrix;
  std::vector<std::vector<double>> transposed(columns, std::vector<double>(rows));
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) transposed[j][i] = matrix[i][j];
  }
  return transposed;
}

}  // namespace

GemmResult Gemm(const GemmTensors& tensors, const GemmOptions& options) {
  constexpr double kUnit = 0x1p-24;
  const Sizes& sizes = tensors.c.sizes;
  GemmResult result;
  for (int64_t batch = 0; batch < sizes[0]; ++batch) {
    for (int64_t head = 0; head < sizes[1]; ++head) {
      const auto a = MatrixOf(tensors.a, batch, head, options.transpose_a);
      const auto b = MatrixOf(tensors.b, batch, head, options.transpose_b);
      for (int64_t row = 0; row < sizes[2]; ++row) {
        std::vector<double> old;
        std::vector<double> residual;
        if (options.beta != 0) ReadRow(tensors.c, {batch, head, row}, old);
        if (options.residual) ReadRow(tensors.residual, {batch, head, row}, residual);
        for (size_t j = 0; j < static_cast<size_t>(sizes[3]); ++j) {
          double sum = 0;
          double products = 0;  // their magnitudes
          const size_t depth = options.alpha == 0 ? 0 : b.size();
          for (size_t s = 0; s < depth; ++s) {
            const double product = a[static_cast<size_t>(row)][s] * b[s][j];
            sum += product;
            products += std::abs(product);
          }
          double others = 0;  // magnitudes of the other terms
          double c = depth == 0 ? 0 : double{options.alpha} * sum;
          const auto add = [&](double term) {
            c += term;
            others += std::abs(term);
          };
          if (options.beta != 0) add(double{options.beta} * old[j]);
          if (options.bias) add(double{tensors.bias.data[j]});
          if (options.residual) add(residual[j]);
          const double bound =
              kUnit * (static_cast<double>(depth + 4) * std::abs(double{options.alpha}) * products +
                       4 * others);
          result.c.push_back(c);
          result.tolerance.push_back(bound + StoreError(tensors.c.type, std::abs(c) + bound));
        }
      }
    }
  }
  return result;
}

}  // namespace lanewise::reference
