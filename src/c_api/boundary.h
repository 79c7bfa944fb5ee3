// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The boundary between C and C++: calls that turn statuses and exceptions into codes, handles, and
// the conversions that more than one source needs. Structures are copied field by field, since a
// layout that both languages agree on today need not last.

#ifndef LANEWISE_SRC_C_API_BOUNDARY_H_
#define LANEWISE_SRC_C_API_BOUNDARY_H_

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "lanewise/attention.h"
#include "lanewise/c_api/attention.h"
#include "lanewise/c_api/base.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "lanewise/workspace.h"

struct lanewise_workspace {
  lanewise::Workspace workspace;
};

namespace lanewise::c_api {

// At most `capacity` bytes of `from` with a terminating 0.
void CopyText(std::string_view from, char* to, size_t capacity);

// Where a caller wants a text.
struct TextBuffer {
  char* text;
  size_t capacity;
  size_t* length;
};
Status CopyOut(std::string_view from, const TextBuffer& to);

struct Argument {
  const char* name;
  const void* pointer;
};
using Arguments = std::initializer_list<Argument>;
Status CheckPresent(Arguments arguments);

// Runs `body`, which returns a Status, unless one of `arguments` is null, and hands the Status
// over.
template <typename Body>
lanewise_status Call(lanewise_error* error, Arguments arguments, const Body& body) noexcept {
  Status status;
  try {
    status = CheckPresent(arguments);
    if (status.ok()) status = body();
  } catch (...) {  // the standard library has no other reason to throw here
    status = Status::OutOfMemory();
  }
  if (error != nullptr) CopyText(status.message(), error->message, sizeof(error->message));
  return static_cast<lanewise_status>(status.code());
}

// Makes *handle, itself one of `arguments`, of the Result that `make` returns. On failure it is
// null.
template <typename Handle, typename Make>
lanewise_status Create(Handle** handle, Arguments arguments, lanewise_error* error,
                       const Make& make) noexcept {
  if (handle != nullptr) *handle = nullptr;
  return Call(error, arguments, [&]() -> Status {
    auto made = make();
    if (!made.ok()) return made.status();
    *handle = new Handle{std::move(*made)};
    return {};
  });
}

// What handles of plans, which hold a `plan`, have in common.
template <typename Plan>
lanewise_status WorkspaceBytes(const Plan* plan, size_t* bytes) noexcept {
  if (plan == nullptr || bytes == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *bytes = plan->plan.workspace_bytes();
  return LANEWISE_OK;
}
template <typename Plan>
lanewise_status Explain(const Plan* plan, const TextBuffer& to, lanewise_error* error) noexcept {
  return Call(error, {{"plan", plan}},
              [&] { return CopyOut(plan->plan.Explain().ToString(), to); });
}

inline DataType FromC(lanewise_data_type type) { return static_cast<DataType>(type); }
Tensor FromC(const lanewise_tensor& tensor);
inline ArrayView<float> FromC(const lanewise_float_array& array) {
  return {array.data, array.size};
}
inline ArrayView<int64_t> FromC(const lanewise_int64_array& array) {
  return {array.data, array.size};
}
inline PageTable FromC(const lanewise_page_table& table) {
  return {table.ids, table.batch, table.pages_per_item};
}
AttentionTensors FromC(const lanewise_attention_tensors& tensors);

// Null stands for the defaults.
Runtime FromC(const lanewise_runtime* runtime);
AttentionOptions FromC(const lanewise_attention_options* options);

}  // namespace lanewise::c_api

#endif  // LANEWISE_SRC_C_API_BOUNDARY_H_
