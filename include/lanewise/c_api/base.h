// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What all of the C ABI shares: statuses, tensors, runtimes and workspaces.

#ifndef LANEWISE_C_API_BASE_H_
#define LANEWISE_C_API_BASE_H_

#include <stddef.h>  // size_t
#include <stdint.h>  // int64_t

#include "lanewise/export.h"
#include "lanewise/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// lanewise::StatusCode.
typedef int32_t lanewise_status;
enum {
  LANEWISE_OK = 0,
  LANEWISE_INVALID_ARGUMENT = 1,
  LANEWISE_UNSUPPORTED = 2,
  LANEWISE_OUT_OF_MEMORY = 3
};

// "ok", "invalid argument", "unsupported", "out of memory"; "unknown" for other numbers. Static.
LANEWISE_EXPORT const char* lanewise_status_name(lanewise_status status);

// What went wrong, one line that names the argument, what was found and what was expected, cut off
// where it does not fit. Needs no initialisation: a call that takes it always sets it, to "" on
// success.
typedef struct lanewise_error {
  char message[512];
} lanewise_error;

// lanewise::DataType.
typedef int32_t lanewise_data_type;
enum { LANEWISE_F32 = 0, LANEWISE_F16 = 1, LANEWISE_BF16 = 2, LANEWISE_BOOL = 3 };

// "f32", "f16", "bf16", "bool"; "unknown" for other numbers. Static.
LANEWISE_EXPORT const char* lanewise_data_type_name(lanewise_data_type type);

// lanewise::Tensor: sizes and strides in elements, the last stride 1. All zeros: absent. The
// library writes only to tensors that are outputs.
typedef struct lanewise_tensor {
  void* data;
  lanewise_data_type type;
  int64_t sizes[4];
  int64_t strides[4];
} lanewise_tensor;

// A tensor without padding. `data` is const so that inputs can be; of an output it must not be. May
// be null when any of the four sizes is 0. Sizes whose strides overflow are an error.
LANEWISE_EXPORT lanewise_status lanewise_tensor_init(lanewise_tensor* tensor, const void* data,
                                                     lanewise_data_type type,
                                                     const int64_t sizes[4]);

// lanewise::Runtime.
typedef struct lanewise_runtime {
  int32_t threads;
  const char* target;  // null or "": the best. Need not outlive the call.
  const char* note;    // null or "": none. Likewise.
} lanewise_runtime;

// lanewise::DefaultRuntime(). Its texts are static.
LANEWISE_EXPORT lanewise_status lanewise_runtime_init(lanewise_runtime* runtime);

// Read-only one-dimensional arrays. All zeros: absent.
typedef struct lanewise_float_array {
  const float* data;
  int64_t size;
} lanewise_float_array;
typedef struct lanewise_int64_array {
  const int64_t* data;
  int64_t size;
} lanewise_int64_array;

// lanewise::Workspace.
typedef struct lanewise_workspace lanewise_workspace;
LANEWISE_EXPORT lanewise_status lanewise_workspace_create(size_t size_bytes,
                                                          lanewise_workspace** workspace,
                                                          lanewise_error* error);
LANEWISE_EXPORT lanewise_status lanewise_workspace_destroy(lanewise_workspace* workspace);

LANEWISE_EXPORT lanewise_status lanewise_workspace_size_bytes(const lanewise_workspace* workspace,
                                                              size_t* bytes);

// lanewise::AvailableTargets(), best first, separated by spaces: "AVX3 AVX2 SSE4".
LANEWISE_EXPORT lanewise_status lanewise_available_targets(char* text, size_t capacity,
                                                           size_t* length, lanewise_error* error);

// The version of the library that runs, which may be later than LANEWISE_VERSION_MAJOR, _MINOR and
// _PATCH of this header: "0.1.0". Static.
LANEWISE_EXPORT const char* lanewise_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // LANEWISE_C_API_BASE_H_
