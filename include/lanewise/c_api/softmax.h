// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise/softmax.h through a C ABI.

#ifndef LANEWISE_C_API_SOFTMAX_H_
#define LANEWISE_C_API_SOFTMAX_H_

#include "lanewise/c_api/base.h"
#include "lanewise/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::SoftmaxOptions.
typedef struct lanewise_softmax_options {
  float scale;
  // bool, sizes of `in` or 1. TRUE = TAKES PART: a byte that is not 0. All zeros: absent.
  lanewise_tensor mask;
} lanewise_softmax_options;

// Scale 1, no mask.
LANEWISE_EXPORT lanewise_status lanewise_softmax_options_init(lanewise_softmax_options* options);

// lanewise::Softmax; `out` may be `in`. `options` and `runtime` are optional: null stands for the
// defaults.
LANEWISE_EXPORT lanewise_status lanewise_softmax(const lanewise_tensor* in,
                                                 const lanewise_tensor* out,
                                                 const lanewise_softmax_options* options,
                                                 const lanewise_runtime* runtime,
                                                 lanewise_error* error);

// lanewise::LogSumExp, likewise; `out` is f32 [a, b, c, 1].
LANEWISE_EXPORT lanewise_status lanewise_log_sum_exp(const lanewise_tensor* in,
                                                     const lanewise_tensor* out,
                                                     const lanewise_softmax_options* options,
                                                     const lanewise_runtime* runtime,
                                                     lanewise_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_SOFTMAX_H_
