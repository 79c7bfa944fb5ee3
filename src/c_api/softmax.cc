// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/softmax.h"

#include "lanewise/softmax.h"
#include "src/c_api/boundary.h"

namespace {

using lanewise::c_api::Call;
using lanewise::c_api::FromC;

lanewise::SoftmaxOptions FromC(const lanewise_softmax_options* options) {
  lanewise::SoftmaxOptions result;
  if (options == nullptr) return result;
  result.scale = options->scale;
  result.mask = FromC(options->mask);
  return result;
}

}  // namespace

lanewise_status lanewise_softmax_options_init(lanewise_softmax_options* options) {
  if (options == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *options = {};
  options->scale = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_softmax(const lanewise_tensor* in, const lanewise_tensor* out,
                                 const lanewise_softmax_options* options,
                                 const lanewise_runtime* runtime, lanewise_error* error) {
  return Call(error, {{"in", in}, {"out", out}}, [&] {
    return lanewise::Softmax(FromC(*in), FromC(*out), FromC(options), FromC(runtime));
  });
}

lanewise_status lanewise_log_sum_exp(const lanewise_tensor* in, const lanewise_tensor* out,
                                     const lanewise_softmax_options* options,
                                     const lanewise_runtime* runtime, lanewise_error* error) {
  return Call(error, {{"in", in}, {"out", out}}, [&] {
    return lanewise::LogSumExp(FromC(*in), FromC(*out), FromC(options), FromC(runtime));
  });
}
