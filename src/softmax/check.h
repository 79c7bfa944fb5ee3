// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a call of lanewise/softmax.h, and how it is said.

#ifndef LANEWISE_SRC_SOFTMAX_CHECK_H_
#define LANEWISE_SRC_SOFTMAX_CHECK_H_

#include "lanewise/softmax.h"

namespace lanewise::softmax {

Status CheckSoftmax(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options);
Status CheckLogSumExp(const ConstTensor& in, const Tensor& out, const SoftmaxOptions& options);

}  // namespace lanewise::softmax

#endif  // LANEWISE_SRC_SOFTMAX_CHECK_H_
