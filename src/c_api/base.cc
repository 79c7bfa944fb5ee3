// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "lanewise/c_api/base.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "src/c_api/boundary.h"

namespace lanewise::c_api {
namespace {

static_assert(LANEWISE_OK == static_cast<int>(StatusCode::kOk));
static_assert(LANEWISE_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(LANEWISE_UNSUPPORTED == static_cast<int>(StatusCode::kUnsupported));
static_assert(LANEWISE_OUT_OF_MEMORY == static_cast<int>(StatusCode::kOutOfMemory));
static_assert(LANEWISE_F32 == static_cast<int>(DataType::kF32));
static_assert(LANEWISE_F16 == static_cast<int>(DataType::kF16));
static_assert(LANEWISE_BF16 == static_cast<int>(DataType::kBF16));
static_assert(LANEWISE_BOOL == static_cast<int>(DataType::kBool));

#define LANEWISE_TEXT_OF(number) #number
#define LANEWISE_TEXT(macro) LANEWISE_TEXT_OF(macro)
constexpr char kVersion[] = LANEWISE_TEXT(LANEWISE_VERSION_MAJOR) "." LANEWISE_TEXT(
    LANEWISE_VERSION_MINOR) "." LANEWISE_TEXT(LANEWISE_VERSION_PATCH);

}  // namespace

void CopyText(std::string_view from, char* to, size_t capacity) {
  if (capacity == 0) return;
  const size_t length = std::min(from.size(), capacity - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

Status CopyOut(std::string_view from, const TextBuffer& to) {
  if (to.text == nullptr && to.capacity > 0) {
    return Status::InvalidArgument("text: found a null pointer, expected a buffer of " +
                                   std::to_string(to.capacity) + " bytes");
  }
  CopyText(from, to.text, to.capacity);
  if (to.length != nullptr) *to.length = from.size();
  return {};
}

Status CheckPresent(Arguments arguments) {
  for (const Argument& argument : arguments) {
    if (argument.pointer == nullptr) {
      return Status::InvalidArgument(std::string(argument.name) +
                                     ": found a null pointer, expected an object");
    }
  }
  return {};
}

Tensor FromC(const lanewise_tensor& tensor) {
  Tensor result;
  result.data = tensor.data;
  result.type = FromC(tensor.type);
  std::copy_n(tensor.sizes, 4, result.sizes.begin());
  std::copy_n(tensor.strides, 4, result.strides.begin());
  return result;
}

Runtime FromC(const lanewise_runtime* runtime) {
  if (runtime == nullptr) return DefaultRuntime();
  Runtime result;
  result.threads = runtime->threads;
  if (runtime->target != nullptr) result.target = runtime->target;
  if (runtime->note != nullptr) result.note = runtime->note;
  return result;
}

}  // namespace lanewise::c_api

namespace {

using lanewise::Status;
using lanewise::c_api::Call;
using lanewise::c_api::CopyOut;
using lanewise::c_api::Create;

}  // namespace

const char* lanewise_version(void) { return lanewise::c_api::kVersion; }

const char* lanewise_status_name(lanewise_status status) {
  return lanewise::StatusCodeName(static_cast<lanewise::StatusCode>(status)).data();  // literals
}

const char* lanewise_data_type_name(lanewise_data_type type) {
  return lanewise::DataTypeName(lanewise::c_api::FromC(type)).data();  // likewise
}

lanewise_status lanewise_tensor_init(lanewise_tensor* tensor, const void* data,
                                     lanewise_data_type type, const int64_t sizes[4]) {
  if (tensor == nullptr || sizes == nullptr) return LANEWISE_INVALID_ARGUMENT;
  int64_t strides[4] = {0, 0, 0, 1};
  for (size_t axis = 3; axis > 0; --axis) {
    if (__builtin_mul_overflow(strides[axis], sizes[axis], &strides[axis - 1])) {
      return LANEWISE_INVALID_ARGUMENT;
    }
  }
  tensor->data = const_cast<void*>(data);
  tensor->type = type;
  std::copy_n(sizes, 4, tensor->sizes);
  std::copy_n(strides, 4, tensor->strides);
  return LANEWISE_OK;
}

lanewise_status lanewise_runtime_init(lanewise_runtime* runtime) {
  if (runtime == nullptr) return LANEWISE_INVALID_ARGUMENT;
  const lanewise::Runtime& defaults = lanewise::DefaultRuntime();
  *runtime = {defaults.threads, defaults.target.c_str(), defaults.note.c_str()};
  return LANEWISE_OK;
}

lanewise_status lanewise_workspace_create(size_t size_bytes, lanewise_workspace** workspace,
                                          lanewise_error* error) {
  return Create(workspace, {{"workspace", workspace}}, error,
                [&]() -> lanewise::Result<lanewise::Workspace> {
                  lanewise::Workspace made(size_bytes);
                  if (made.size_bytes() != size_bytes) return Status::OutOfMemory();
                  return made;
                });
}

lanewise_status lanewise_workspace_destroy(lanewise_workspace* workspace) {
  delete workspace;
  return LANEWISE_OK;
}

lanewise_status lanewise_workspace_size_bytes(const lanewise_workspace* workspace, size_t* bytes) {
  if (workspace == nullptr || bytes == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *bytes = workspace->workspace.size_bytes();
  return LANEWISE_OK;
}

lanewise_status lanewise_available_targets(char* text, size_t capacity, size_t* length,
                                           lanewise_error* error) {
  return Call(error, {}, [&] {
    std::string names;
    for (const std::string& name : lanewise::AvailableTargets()) {
      if (!names.empty()) names += ' ';
      names += name;
    }
    return CopyOut(names, {text, capacity, length});
  });
}
