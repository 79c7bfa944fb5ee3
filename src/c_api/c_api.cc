// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The C ABI over the public C++ headers: copies structures field by field, since a layout that both
// languages agree on today need not last, and turns statuses and exceptions into codes.

#include "lanewise/c_api.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/kv_cache.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"

struct lanewise_plan {
  lanewise::AttentionPlan plan;
};

struct lanewise_workspace {
  lanewise::Workspace workspace;
};

namespace {

using lanewise::Status;
using lanewise::StatusCode;

static_assert(LANEWISE_OK == static_cast<int>(StatusCode::kOk));
static_assert(LANEWISE_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(LANEWISE_UNSUPPORTED == static_cast<int>(StatusCode::kUnsupported));
static_assert(LANEWISE_OUT_OF_MEMORY == static_cast<int>(StatusCode::kOutOfMemory));
static_assert(LANEWISE_F32 == static_cast<int>(lanewise::DataType::kF32));
static_assert(LANEWISE_F16 == static_cast<int>(lanewise::DataType::kF16));
static_assert(LANEWISE_BF16 == static_cast<int>(lanewise::DataType::kBF16));
static_assert(LANEWISE_BOOL == static_cast<int>(lanewise::DataType::kBool));
static_assert(LANEWISE_UNLIMITED == lanewise::kUnlimited);
static_assert(LANEWISE_SCORE_DOT == static_cast<int>(lanewise::AttentionScore::kDot));
static_assert(LANEWISE_SCORE_BILINEAR == static_cast<int>(lanewise::AttentionScore::kBilinear));
static_assert(LANEWISE_SCORE_ADDITIVE == static_cast<int>(lanewise::AttentionScore::kAdditive));
static_assert(LANEWISE_SCORE_GAUSSIAN == static_cast<int>(lanewise::AttentionScore::kGaussian));

// At most `capacity` bytes of `from` with a terminating 0.
void CopyText(std::string_view from, char* to, size_t capacity) {
  if (capacity == 0) return;
  const size_t length = std::min(from.size(), capacity - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

// Runs `body`, which returns a Status, and hands its result over.
template <typename Body>
lanewise_status Call(lanewise_error* error, const Body& body) noexcept {
  Status status;
  try {
    status = body();
  } catch (...) {  // the standard library has no other reason to throw here
    status = Status::OutOfMemory();
  }
  if (error != nullptr) CopyText(status.message(), error->message, sizeof(error->message));
  return static_cast<lanewise_status>(status.code());
}

struct Argument {
  const char* name;
  const void* pointer;
};

Status CheckPresent(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.pointer == nullptr) {
      return Status::InvalidArgument(std::string(argument.name) +
                                     ": found a null pointer, expected an object");
    }
  }
  return {};
}

Status CopyOut(const std::string& from, char* text, size_t capacity, size_t* length) {
  if (text == nullptr && capacity > 0) {
    return Status::InvalidArgument("text: found a null pointer, expected a buffer of " +
                                   std::to_string(capacity) + " bytes");
  }
  CopyText(from, text, capacity);
  if (length != nullptr) *length = from.size();
  return {};
}

lanewise::Tensor FromC(const lanewise_tensor& tensor) {
  lanewise::Tensor result;
  result.data = tensor.data;
  result.type = static_cast<lanewise::DataType>(tensor.type);
  std::copy_n(tensor.sizes, 4, result.sizes.begin());
  std::copy_n(tensor.strides, 4, result.strides.begin());
  return result;
}

lanewise::AttentionShape FromC(const lanewise_attention_shape& shape) {
  lanewise::AttentionShape result;
  result.batch = shape.batch;
  result.heads = shape.heads;
  result.kv_heads = shape.kv_heads;
  result.queries = shape.queries;
  result.keys = shape.keys;
  result.dim = shape.dim;
  result.value_dim = shape.value_dim;
  result.key_dim = shape.key_dim;
  result.hidden = shape.hidden;
  result.q_type = static_cast<lanewise::DataType>(shape.q_type);
  result.k_type = static_cast<lanewise::DataType>(shape.k_type);
  result.v_type = static_cast<lanewise::DataType>(shape.v_type);
  result.out_type = static_cast<lanewise::DataType>(shape.out_type);
  return result;
}

lanewise::AttentionOptions FromC(const lanewise_attention_options* options) {
  lanewise::AttentionOptions result;
  if (options == nullptr) return result;
  result.score = static_cast<lanewise::AttentionScore>(options->score);
  if (options->has_scale) result.scale = options->scale;
  if (options->has_bandwidth) result.bandwidth = options->bandwidth;
  result.wq = options->wq;
  result.wk = options->wk;
  result.causal = options->causal;
  result.top_left = options->top_left;
  if (options->has_query_offset) result.query_offset = options->query_offset;
  result.window = {options->window_left, options->window_right};
  if (options->has_softcap) result.softcap = options->softcap;
  result.mask = options->mask;
  result.bias = options->bias;
  result.alibi_slopes = options->alibi_slopes;
  result.sinks = options->sinks;
  result.kv_len = options->kv_len;
  result.kv_first = options->kv_first;
  result.paged = options->paged;
  result.ragged = options->ragged;
  result.lse = options->lse;
  result.weights = options->weights;
  return result;
}

lanewise::Runtime FromC(const lanewise_runtime* runtime) {
  if (runtime == nullptr) return lanewise::DefaultRuntime();
  lanewise::Runtime result;
  result.threads = runtime->threads;
  if (runtime->target != nullptr) result.target = runtime->target;
  if (runtime->note != nullptr) result.note = runtime->note;
  return result;
}

lanewise::PageTable FromC(const lanewise_page_table& table) {
  return {table.ids, table.batch, table.pages_per_item};
}

lanewise::AttentionTensors FromC(const lanewise_attention_tensors& tensors) {
  lanewise::AttentionTensors result;
  result.q = FromC(tensors.q);
  result.k = FromC(tensors.k);
  result.v = FromC(tensors.v);
  result.out = FromC(tensors.out);
  result.lse = FromC(tensors.lse);
  result.weights = FromC(tensors.weights);
  result.mask = FromC(tensors.mask);
  result.bias = FromC(tensors.bias);
  result.alibi_slopes = {tensors.alibi_slopes.data, tensors.alibi_slopes.size};
  result.sinks = {tensors.sinks.data, tensors.sinks.size};
  result.kv_len = {tensors.kv_len.data, tensors.kv_len.size};
  result.kv_first = {tensors.kv_first.data, tensors.kv_first.size};
  result.page_table = FromC(tensors.page_table);
  result.q_offsets = {tensors.q_offsets.data, tensors.q_offsets.size};
  result.k_offsets = {tensors.k_offsets.data, tensors.k_offsets.size};
  result.w = FromC(tensors.w);
  result.wq = FromC(tensors.wq);
  result.wk = FromC(tensors.wk);
  result.w_out = {tensors.w_out.data, tensors.w_out.size};
  return result;
}

lanewise::KvCache FromC(const lanewise_kv_cache& cache) {
  lanewise::KvCache result;
  result.k = FromC(cache.k);
  result.v = FromC(cache.v);
  result.length = cache.length;
  result.oldest = cache.oldest;
  result.batch = cache.batch;
  result.window_left = cache.window_left;
  result.page_table = FromC(cache.page_table);
  return result;
}

#define LANEWISE_TEXT_OF(number) #number
#define LANEWISE_TEXT(macro) LANEWISE_TEXT_OF(macro)
constexpr char kVersion[] = LANEWISE_TEXT(LANEWISE_VERSION_MAJOR) "." LANEWISE_TEXT(
    LANEWISE_VERSION_MINOR) "." LANEWISE_TEXT(LANEWISE_VERSION_PATCH);

}  // namespace

const char* lanewise_version(void) { return kVersion; }

const char* lanewise_status_name(lanewise_status status) {
  return lanewise::StatusCodeName(static_cast<StatusCode>(status)).data();  // literals
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

lanewise_status lanewise_attention_shape_init(lanewise_attention_shape* shape) {
  if (shape == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *shape = {};
  shape->batch = shape->heads = shape->kv_heads = 1;
  return LANEWISE_OK;
}

lanewise_status lanewise_attention_options_init(lanewise_attention_options* options) {
  if (options == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *options = {};
  options->window_left = options->window_right = LANEWISE_UNLIMITED;
  return LANEWISE_OK;
}

lanewise_status lanewise_runtime_init(lanewise_runtime* runtime) {
  if (runtime == nullptr) return LANEWISE_INVALID_ARGUMENT;
  const lanewise::Runtime& defaults = lanewise::DefaultRuntime();
  *runtime = {defaults.threads, defaults.target.c_str(), defaults.note.c_str()};
  return LANEWISE_OK;
}

lanewise_status lanewise_plan_create(const lanewise_attention_shape* shape,
                                     const lanewise_attention_options* options,
                                     const lanewise_runtime* runtime, lanewise_plan** plan,
                                     lanewise_error* error) {
  if (plan != nullptr) *plan = nullptr;
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"shape", shape}, {"plan", plan}}); !s.ok()) return s;
    lanewise::Result<lanewise::AttentionPlan> made =
        lanewise::PlanAttention(FromC(*shape), FromC(options), FromC(runtime));
    if (!made.ok()) return made.status();
    *plan = new lanewise_plan{*std::move(made)};
    return {};
  });
}

lanewise_status lanewise_plan_destroy(lanewise_plan* plan) {
  delete plan;
  return LANEWISE_OK;
}

lanewise_status lanewise_plan_workspace_bytes(const lanewise_plan* plan, size_t* bytes) {
  if (plan == nullptr || bytes == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *bytes = plan->plan.workspace_bytes();
  return LANEWISE_OK;
}

lanewise_status lanewise_plan_run(const lanewise_plan* plan,
                                  const lanewise_attention_tensors* tensors,
                                  lanewise_workspace* workspace, lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"plan", plan}, {"tensors", tensors}, {"workspace", workspace}});
        !s.ok()) {
      return s;
    }
    return plan->plan.Run(FromC(*tensors), workspace->workspace);
  });
}

lanewise_status lanewise_plan_explain(const lanewise_plan* plan, char* text, size_t capacity,
                                      size_t* length, lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"plan", plan}}); !s.ok()) return s;
    return CopyOut(plan->plan.Explain().ToString(), text, capacity, length);
  });
}

lanewise_status lanewise_workspace_create(size_t size_bytes, lanewise_workspace** workspace,
                                          lanewise_error* error) {
  if (workspace != nullptr) *workspace = nullptr;
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"workspace", workspace}}); !s.ok()) return s;
    auto made = std::make_unique<lanewise_workspace>();
    made->workspace = lanewise::Workspace(size_bytes);
    if (made->workspace.size_bytes() != size_bytes) return Status::OutOfMemory();
    *workspace = made.release();
    return {};
  });
}

lanewise_status lanewise_workspace_destroy(lanewise_workspace* workspace) {
  delete workspace;
  return LANEWISE_OK;
}

lanewise_status lanewise_attention(const lanewise_attention_tensors* tensors,
                                   const lanewise_attention_options* options,
                                   const lanewise_runtime* runtime, lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"tensors", tensors}}); !s.ok()) return s;
    return lanewise::Attention(FromC(*tensors), FromC(options), FromC(runtime));
  });
}

lanewise_status lanewise_merge_attention(const lanewise_attention_part* parts, int64_t part_count,
                                         const lanewise_tensor* out, const lanewise_tensor* lse,
                                         lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"parts", parts}, {"out", out}}); !s.ok()) return s;
    std::vector<lanewise::AttentionPart> list;
    if (part_count > 0) list.resize(static_cast<size_t>(part_count));
    for (size_t i = 0; i < list.size(); ++i) list[i] = {FromC(parts[i].out), FromC(parts[i].lse)};
    return lanewise::MergeAttention(list.data(), part_count, FromC(*out),
                                    lse == nullptr ? lanewise::Tensor() : FromC(*lse));
  });
}

lanewise_status lanewise_kv_cache_init(lanewise_kv_cache* cache) {
  if (cache == nullptr) return LANEWISE_INVALID_ARGUMENT;
  *cache = {};
  cache->window_left = LANEWISE_UNLIMITED;
  return LANEWISE_OK;
}

lanewise_status lanewise_append_kv(const lanewise_kv_cache* cache, const lanewise_tensor* k,
                                   const lanewise_tensor* v, const lanewise_int64_array* tokens,
                                   lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"cache", cache}, {"k", k}, {"v", v}}); !s.ok()) return s;
    lanewise::ArrayView<int64_t> counts;
    if (tokens != nullptr) counts = {tokens->data, tokens->size};
    return lanewise::AppendKv(FromC(*cache), FromC(*k), FromC(*v), counts);
  });
}

lanewise_status lanewise_rewind_kv(const lanewise_kv_cache* cache, int64_t batch_item,
                                   int64_t length, lanewise_error* error) {
  return Call(error, [&]() -> Status {
    if (Status s = CheckPresent({{"cache", cache}}); !s.ok()) return s;
    return lanewise::RewindKv(FromC(*cache), batch_item, length);
  });
}

lanewise_status lanewise_available_targets(char* text, size_t capacity, size_t* length,
                                           lanewise_error* error) {
  return Call(error, [&]() -> Status {
    std::string names;
    for (const std::string& name : lanewise::AvailableTargets()) {
      if (!names.empty()) names += ' ';
      names += name;
    }
    return CopyOut(names, text, capacity, length);
  });
}
