// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A call in the words of a path: with more outputs, with a mask, with heads that are there twice.

#include "tests/support/run_on_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/attention/visibility.h"
#include "tests/support/array.h"
#include "tests/support/guard.h"

namespace lanewise::testing {
namespace {

struct Call {
  AttentionShape shape;
  AttentionOptions options;
  AttentionTensors tensors;
};

Result<PlanExplanation> Run(const Call& call, const Path& path) {
  const Result<AttentionPlan> plan =
      attention::PlanAttentionWith(call.shape, call.options, path.runtime, path.overrides);
  if (!plan.ok()) return plan.status();
  Workspace workspace(plan->workspace_bytes());
  if (workspace.size_bytes() != 0) {
    std::memset(workspace.data(), 0xFF, workspace.size_bytes());  // NaN
  }
  if (Status status = plan->Run(call.tensors, workspace); !status.ok()) return status;
  return plan->Explain();
}

// An output that a path asks for and a call has no array for; without elements if there is none.
class AddedOutput {
 public:
  AddedOutput(bool wanted, const Sizes& sizes)
      : wanted_(wanted), array_(wanted ? sizes : Sizes{}, DenseStrides, {}) {}

  void AddTo(bool& option, Tensor& tensor) {
    if (!wanted_) return;
    option = true;
    tensor = array_.view();
  }

  void ExpectWritten(const char* name, const Path& path) const {
    const std::vector<float> values = array_.Values();
    EXPECT_TRUE(std::none_of(values.begin(), values.end(), [](float v) { return IsUnwritten(v); }))
        << name << " was not written, " << path.ToString();
  }

 private:
  bool wanted_;
  Array array_;
};

// A mask that hides nothing: true for what causal, window and kv_len of a call let a row see, and
// for every second key on both sides of that, from its neighbour on. In a very large call all rows
// of an item are one, of true.
class HarmlessMask {
 public:
  HarmlessMask(bool wanted, const Call& call)
      : sizes_(
            {call.options.kv_len ? call.shape.batch : 1, 1, call.shape.queries, call.shape.keys}),
        is_large_(Count(sizes_) > kMostBytes),
        memory_(static_cast<size_t>(!wanted     ? 0
                                    : is_large_ ? sizes_[0] * sizes_[3]
                                                : Count(sizes_))) {
    std::fill_n(memory_.data(), memory_.size(), uint8_t{1});
    if (!wanted || is_large_) return;
    for (int64_t item = 0; item < sizes_[0]; ++item) SetHidden(call, item);
  }

  ConstTensor view() const {
    const int64_t item_stride = is_large_ ? sizes_[3] : sizes_[2] * sizes_[3];
    return {memory_.data(),
            DataType::kBool,
            sizes_,
            {item_stride, item_stride, is_large_ ? 0 : sizes_[3], 1}};
  }

 private:
  static constexpr int64_t kMostBytes = 1 << 24;

  void SetHidden(const Call& call, int64_t item) {
    const int64_t keys = sizes_[3];
    const int64_t valid = call.options.kv_len ? call.tensors.kv_len.data[item] : keys;
    const attention::Visibility visibility(call.options, sizes_[2], valid);
    for (int64_t i = 0; i < sizes_[2]; ++i) {
      const attention::KeyRange seen = visibility.KeysOf(i);
      uint8_t* row = memory_.data() + (item * sizes_[2] + i) * keys;
      for (int64_t j = seen.begin - 2; j >= 0; j -= 2) row[j] = 0;
      for (int64_t j = seen.end + 1; j < keys; j += 2) row[j] = 0;
    }
  }

  Sizes sizes_;
  bool is_large_;
  GuardedArray<uint8_t> memory_;
};

// Bytes from the first element of `tensor` to that of a row.
int64_t RowOffset(const ConstTensor& tensor, int64_t item, int64_t head, int64_t row) {
  return core::ElementBytes(tensor.type) *
         (item * tensor.strides[0] + head * tensor.strides[1] + row * tensor.strides[2]);
}

// Calls visit(item, head, row) for each row of arrays of these sizes.
template <typename Visit>
void ForEachRow(const Sizes& sizes, const Visit& visit) {
  if (sizes[3] == 0) return;
  for (int64_t item = 0; item < sizes[0]; ++item) {
    for (int64_t head = 0; head < sizes[1]; ++head) {
      for (int64_t row = 0; row < sizes[2]; ++row) visit(item, head, row);
    }
  }
}

size_t RowBytes(const ConstTensor& tensor) {
  return static_cast<size_t>(core::ElementBytes(tensor.type) * tensor.sizes[3]);
}

// Of arrays of the same sizes and type.
void Copy(const ConstTensor& from, const Tensor& to) {
  ForEachRow(from.sizes, [&](int64_t item, int64_t head, int64_t row) {
    std::memcpy(static_cast<std::byte*>(to.data) + RowOffset(to, item, head, row),
                static_cast<const std::byte*>(from.data) + RowOffset(from, item, head, row),
                RowBytes(from));
  });
}

// Heads first, first + 2, ...
Tensor EverySecondHead(Tensor tensor, int64_t first) {
  tensor.data = static_cast<std::byte*>(tensor.data) + RowOffset(tensor, 0, first, 0);
  tensor.sizes[1] /= 2;
  tensor.strides[1] *= 2;
  return tensor;
}

Sizes WithHeadsTwice(Sizes sizes) {
  sizes[1] *= 2;
  return sizes;
}

// An array of which heads 2h and 2h + 1 stand for the head h of a call's; dense.
template <typename AnyArray>
class HeadsTwice {
 public:
  explicit HeadsTwice(const ConstTensor& one)
      : array_(WithHeadsTwice(one.sizes), DenseStrides, {}, one.type) {}

  Tensor view() { return array_.view(); }

  // `one` in both places.
  ConstTensor Of(const ConstTensor& one) {
    for (const int64_t first : {0, 1}) Copy(one, EverySecondHead(view(), first));
    return view();
  }

  void GiveBack(const Tensor& one, const std::string& what) {
    ExpectSame(what);
    Copy(EverySecondHead(view(), 0), one);
  }

 private:
  // Which NaN comes out where several meet is left open.
  static bool IsSame(float a, float b) {
    if (std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b)) return true;
    return std::isnan(a) && std::isnan(b) && !IsUnwritten(a) && !IsUnwritten(b);
  }

  void ExpectSame(const std::string& what) {
    const Sizes sizes = view().sizes;
    const int64_t head = sizes[2] * sizes[3];
    const std::vector<float> values = array_.Values();
    for (int64_t h = 0; h < sizes[0] * sizes[1]; h += 2) {
      const auto first = values.begin() + h * head;
      const auto [at, other] = std::mismatch(first, first + head, first + head, IsSame);
      if (at == first + head) continue;
      ADD_FAILURE() << what << ": heads " << h % sizes[1] << " and " << h % sizes[1] + 1
                    << " of item " << h / sizes[1] << " are the same, but " << *at << " and "
                    << *other << " in row " << (at - first) / sizes[3] << ", column "
                    << (at - first) % sizes[3];
      return;
    }
  }

  AnyArray array_;
};

// One head is for any number of them.
ConstTensor IfOfManyHeads(const ConstTensor& tensor) {
  return tensor.sizes[1] > 1 ? tensor : ConstTensor();
}

// Of each head of a call two, over the same kv heads.
class CallTwice {
 public:
  explicit CallTwice(const Call& call)
      : one_(call),
        twice_(call),
        q_(call.tensors.q),
        mask_(IfOfManyHeads(call.tensors.mask)),
        bias_(IfOfManyHeads(call.tensors.bias)),
        out_(call.tensors.out),
        lse_(call.tensors.lse),
        weights_(call.tensors.weights),
        slopes_(EachTwice(call.tensors.alibi_slopes)),
        sinks_(EachTwice(call.tensors.sinks)) {
    AttentionTensors& tensors = twice_.tensors;
    twice_.shape.heads *= 2;
    tensors.q = q_.Of(one_.tensors.q);
    if (one_.tensors.mask.sizes[1] > 1) tensors.mask = mask_.Of(one_.tensors.mask);
    if (one_.tensors.bias.sizes[1] > 1) tensors.bias = bias_.Of(one_.tensors.bias);
    if (call.options.alibi_slopes) tensors.alibi_slopes = ViewOf(slopes_);
    if (call.options.sinks) tensors.sinks = ViewOf(sinks_);
    tensors.out = out_.view();
    if (call.options.lse) tensors.lse = lse_.view();
    if (call.options.weights) tensors.weights = weights_.view();
  }

  const Call& call() const { return twice_; }

  void GiveBack(const Path& path) {
    out_.GiveBack(one_.tensors.out, "out, " + path.ToString());
    lse_.GiveBack(one_.tensors.lse, "lse, " + path.ToString());
    weights_.GiveBack(one_.tensors.weights, "weights, " + path.ToString());
  }

 private:
  static GuardedArray<float> EachTwice(const ArrayView<float>& values) {
    GuardedArray<float> twice(2 * static_cast<size_t>(values.size));
    for (size_t i = 0; i < twice.size(); ++i) twice[i] = values.data[i / 2];
    return twice;
  }
  static ArrayView<float> ViewOf(const GuardedArray<float>& values) {
    return {values.data(), static_cast<int64_t>(values.size())};
  }

  Call one_;
  Call twice_;
  HeadsTwice<Array> q_;
  HeadsTwice<MaskArray> mask_;
  HeadsTwice<Array> bias_;
  HeadsTwice<Array> out_;
  HeadsTwice<Array> lse_;
  HeadsTwice<Array> weights_;
  GuardedArray<float> slopes_;
  GuardedArray<float> sinks_;
};

Result<PlanExplanation> RunTwice(const Call& call, const Path& path) {
  CallTwice twice(call);
  const Result<PlanExplanation> plan = Run(twice.call(), path);
  if (plan.ok()) twice.GiveBack(path);
  return plan;
}

}  // namespace

Result<PlanExplanation> RunOnPath(const AttentionShape& shape, const AttentionOptions& options,
                                  const Path& path, const AttentionTensors& tensors) {
  Call call = {shape, options, tensors};
  const int64_t items = options.ragged ? 1 : shape.batch;
  AddedOutput lse(path.lse && !options.lse, {items, shape.heads, shape.queries, 1});
  // Ragged batches have neither weights nor masks.
  AddedOutput weights(path.weights && !options.weights && !options.ragged,
                      {items, shape.heads, shape.queries, shape.keys});
  const bool adds_mask = path.mask && !options.mask && !options.ragged;
  const HarmlessMask mask(adds_mask, call);
  lse.AddTo(call.options.lse, call.tensors.lse);
  weights.AddTo(call.options.weights, call.tensors.weights);
  if (adds_mask) {
    call.options.mask = true;
    call.tensors.mask = mask.view();
  }
  const Result<PlanExplanation> plan = path.shared_heads ? RunTwice(call, path) : Run(call, path);
  if (!plan.ok()) return plan;
  lse.ExpectWritten("lse", path);
  weights.ExpectWritten("weights", path);
  return plan;
}

}  // namespace lanewise::testing
