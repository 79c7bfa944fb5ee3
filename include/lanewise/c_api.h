// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise through a C ABI. Each function and field does what its namesake in C++ does, which is
// where formulas, edge cases, accuracy and cost are written down: those of lanewise/c_api/gemm.h in
// lanewise/gemm.h, and so on. Comments there tell only what differs. C99 and C++; link lanewise::c
// (CMake) or lanewise-c (pkg-config).
//
//   lanewise_attention_options options;
//   lanewise_attention_options_init(&options);
//   options.causal = true;
//   lanewise_attention_tensors tensors = {0};
//   lanewise_tensor_init(&tensors.q, q, LANEWISE_F32, (int64_t[4]){1, 8, 100, 64});
//   ...                                                              // k, v and out
//   lanewise_error error;
//   if (lanewise_attention(&tensors, &options, NULL, &error) != LANEWISE_OK) puts(error.message);
//
// Every function is thread-safe and throws nothing. All return a status, but those whose results
// are static texts; most also take an `error`, which may be null. A null pointer for any other
// argument is LANEWISE_INVALID_ARGUMENT, unless the argument is said to be optional. Structures
// have to be initialised as their comments say: fields may be added in later versions.
//
// What stands for a C++ object is made by a function ..._create, which leaves null behind if it
// fails, and ends with ..._destroy, which accepts null; not while a call uses it.
//
// Functions with `text`, `capacity` and `length` copy a text as snprintf does: at most `capacity`
// bytes with the terminating 0, cut off if it does not fit. *length is the length of the whole text
// without the 0. `text` is optional if capacity is 0, `length` always.

#ifndef LANEWISE_C_API_H_
#define LANEWISE_C_API_H_

#include "lanewise/c_api/attention.h"
#include "lanewise/c_api/base.h"
#include "lanewise/c_api/gemm.h"
#include "lanewise/c_api/kv_cache.h"
#include "lanewise/c_api/layers.h"
#include "lanewise/c_api/softmax.h"

#endif  // LANEWISE_C_API_H_
