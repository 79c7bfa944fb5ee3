// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/call.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "src/attention/few_scratch.h"
#include "src/core/element_bytes.h"
#include "src/core/sizes.h"

namespace lanewise::attention {
namespace {

// The rows of one head of a batch item, from row `first_row`; `heads` after it follow. Strides
// count elements, or bytes where Element is a byte for typed arrays.
template <typename Element, typename Void>
HeadRows<Element> RowsOf(const BasicTensor<Void>& tensor, int64_t batch, int64_t head,
                         int64_t first_row) {
  const int64_t unit = std::is_same_v<std::remove_const_t<Element>, char>
                           ? core::ElementBytes(tensor.type)
                           : int64_t{1};
  HeadRows<Element> rows;
  rows.head_stride = tensor.strides[1] * unit;
  rows.row_stride = tensor.strides[2] * unit;
  rows.data = static_cast<Element*>(tensor.data) + batch * tensor.strides[0] * unit +
              head * rows.head_stride + first_row * rows.row_stride;
  return rows;
}

// The same of an array whose axes of size 1 broadcast.
template <typename Element>
HeadRows<const Element> BroadcastRowsOf(const ConstTensor& tensor, int64_t batch, int64_t head) {
  HeadRows<const Element> rows = RowsOf<const Element>(tensor, tensor.sizes[0] == 1 ? 0 : batch,
                                                       tensor.sizes[1] == 1 ? 0 : head, 0);
  if (tensor.sizes[1] == 1) rows.head_stride = 0;
  if (tensor.sizes[2] == 1) rows.row_stride = 0;
  return rows;
}

// Where the parts of a call's shared scratch begin, in bytes.
struct SharedLayout {
  int64_t work_lists = 0;  // four, [batch + 1] each
  int64_t classes = 0;
  int64_t partials = 0;
  int64_t tanh_weights = 0;  // of additive scores
  int64_t wk_columns = 0;    // with wk
  int64_t size = 0;
};

std::optional<SharedLayout> LayOut(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const auto lists =
      core::CheckedProduct({shape.batch + 1, 4, static_cast<int64_t>(sizeof(int64_t))});
  const auto classes = decision.options.mask ? MaskClasses::TableSize(shape, decision.lanes)
                                             : std::optional<int64_t>(0);
  const auto partials = FewKeptFloats(decision);
  if (!lists || !classes || !partials || *partials > INT64_MAX / 8) return std::nullopt;
  if (*lists > INT64_MAX / 8 || *classes > INT64_MAX / 8) return std::nullopt;
  const int64_t wk_rows = decision.options.wk ? shape.key_dim : 0;
  const auto wk_columns = core::CheckedProduct({wk_rows, decision.wk_stride(), 4});
  if (!wk_columns || *wk_columns > INT64_MAX / 8) return std::nullopt;
  const auto after = [](int64_t begin, int64_t bytes) {
    return core::RoundUp(begin + bytes, kWorkerAlignment);
  };
  constexpr int64_t kFloatBytes = sizeof(float);
  SharedLayout layout;
  layout.classes = *lists;
  constexpr int64_t kEntryBytes = sizeof(MaskClasses::Entry);
  layout.partials = after(layout.classes, *classes * kEntryBytes);
  layout.tanh_weights = after(layout.partials, *partials * kFloatBytes);
  layout.wk_columns = after(layout.tanh_weights, shape.hidden * kFloatBytes);
  layout.size = layout.wk_columns + *wk_columns;
  return layout;
}

}  // namespace

ConstTensor Broadcast(const ConstTensor& tensor) {
  ConstTensor broadcast = tensor;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (tensor.strides[axis] == 0 && tensor.sizes[axis] > 1) broadcast.sizes[axis] = 1;
  }
  return broadcast;
}

std::optional<int64_t> Call::SharedBytes(const AttentionPlan::Decision& decision) {
  const auto layout = LayOut(decision);
  return layout ? std::optional<int64_t>(layout->size) : std::nullopt;
}

Call::Call(const AttentionPlan::Decision& decision, const AttentionTensors& tensors, void* shared)
    : decision_(decision), tensors_(tensors) {
  const AttentionShape& shape = decision.shape;
  const AttentionOptions& options = decision.options;
  const SharedLayout layout = *LayOut(decision);
  char* const bytes = static_cast<char*>(shared);
  partials_ = reinterpret_cast<float*>(bytes + layout.partials);
  tanh_weights_ = reinterpret_cast<float*>(bytes + layout.tanh_weights);
  wk_columns_ = reinterpret_cast<float*>(bytes + layout.wk_columns);
  if (options.bias) bias_ = Broadcast(tensors.bias);
  if (options.mask) {
    mask_ = Broadcast(tensors.mask);
    mask_classes_ = MaskClasses(mask_, shape, decision.lanes,
                                reinterpret_cast<MaskClasses::Entry*>(bytes + layout.classes));
  }

  // Heads that share a mask or bias take its rows in turn, so that they are read once.
  const bool heads_first =
      (options.mask && mask_.sizes[1] == 1) || (options.bias && bias_.sizes[1] == 1);
  int64_t* lists = reinterpret_cast<int64_t*>(bytes);
  tiles_ = WorkList(lists, shape.batch, shape.kv_heads, heads_first);
  chunks_ = WorkList(lists + shape.batch + 1, shape.batch, shape.kv_heads, false);
  kept_chunks_ = WorkList(lists + 2 * (shape.batch + 1), shape.batch, shape.kv_heads, false);
  row_blocks_ = WorkList(lists + 3 * (shape.batch + 1), shape.batch, shape.kv_heads, false);
  const bool writes = shape.value_dim > 0 || options.lse || (options.weights && shape.keys > 0);
  const int64_t tile_rows =
      decision.lanes.q_groups * static_cast<int64_t>(decision.lanes.kernel.lanes);
  for (int64_t b = 0; b < shape.batch; ++b) {
    const int64_t rows = writes ? QueriesOf(b) * decision.group() : 0;
    const bool few = decision.TakesFew(rows);
    const int64_t row_blocks = few ? core::DivideUp(rows, decision.few.row_block) : 0;
    tiles_.Set(b, few ? 0 : core::DivideUp(rows, tile_rows));
    const int64_t chunks = core::DivideUp(KeysOf(b), decision.few.key_chunk);
    chunks_.Set(b, row_blocks * chunks);
    kept_chunks_.Set(b, chunks == 1 && !options.weights ? 0 : row_blocks * chunks);
    row_blocks_.Set(b, chunks == 1 ? 0 : row_blocks);
  }
  if (options.score == AttentionScore::kAdditive && tiles_.size() > 0) PrepareAdditive();
}

void Call::PrepareAdditive() {
  const AttentionShape& shape = decision_.shape;
  for (int64_t h = 0; h < shape.hidden; ++h) {
    tanh_weights_[h] = decision_.scale * tensors_.w_out.data[h];
  }
  if (!decision_.options.wk) return;
  const float* wk = static_cast<const float*>(tensors_.wk.data);
  const int64_t row_stride = tensors_.wk.strides[2];
  const int64_t stride = decision_.wk_stride();
  std::fill_n(wk_columns_, shape.key_dim * stride, 0.0f);
  // A line of each column at a time.
  constexpr int64_t kLine = kernels::kScratchAlignment / sizeof(float);
  for (int64_t first = 0; first < shape.hidden; first += kLine) {
    const int64_t end = std::min(first + kLine, shape.hidden);
    for (int64_t d = 0; d < shape.key_dim; ++d) {
      for (int64_t h = first; h < end; ++h) {
        wk_columns_[d * stride + h] = wk[h * row_stride + d];
      }
    }
  }
}

int64_t Call::QueriesOf(int64_t batch) const {
  if (!decision_.options.ragged) return decision_.shape.queries;
  return tensors_.q_offsets.data[batch + 1] - tensors_.q_offsets.data[batch];
}

int64_t Call::KeysOf(int64_t batch) const {
  if (!decision_.options.ragged) return decision_.shape.keys;
  return tensors_.k_offsets.data[batch + 1] - tensors_.k_offsets.data[batch];
}

HeadGroup Call::Group(int64_t batch, int64_t kv_head) const {
  const AttentionOptions& options = decision_.options;
  HeadGroup group;
  group.batch = batch;
  group.kv_head = kv_head;
  group.heads = decision_.group();
  group.queries = QueriesOf(batch);
  group.keys = KeysOf(batch);
  const int64_t item = options.ragged ? 0 : batch;
  const int64_t q_row = options.ragged ? tensors_.q_offsets.data[batch] : 0;
  const int64_t k_row = options.ragged ? tensors_.k_offsets.data[batch] : 0;
  const int64_t head = kv_head * group.heads;

  group.q = RowsOf<const char>(tensors_.q, item, head, q_row);
  group.out = RowsOf<char>(tensors_.out, item, head, q_row);
  const int64_t kv_item = options.paged ? 0 : item;
  group.k = KvRows(tensors_.k, kv_item, kv_head, k_row, group.keys);
  group.v = KvRows(tensors_.v, kv_item, kv_head, k_row, group.keys);
  if (options.paged) {
    const int32_t* ids = tensors_.page_table.ids + batch * tensors_.page_table.pages_per_item;
    group.k.SetPages(tensors_.k, ids);
    group.v.SetPages(tensors_.v, ids);
  }
  if (options.kv_first) {
    group.k.SetRing(tensors_.kv_first.data[batch]);
    group.v.SetRing(tensors_.kv_first.data[batch]);
  }
  if (options.lse) group.lse = RowsOf<float>(tensors_.lse, item, head, q_row);
  if (options.weights) group.weights = RowsOf<float>(tensors_.weights, item, head, 0);
  if (options.bias) group.bias = BroadcastRowsOf<float>(bias_, batch, head);
  if (options.mask) group.mask = BroadcastRowsOf<uint8_t>(mask_, batch, head);
  if (options.alibi_slopes) group.alibi_slopes = tensors_.alibi_slopes.data + head;
  if (options.sinks) group.sinks = tensors_.sinks.data + head;
  group.visibility =
      Visibility(options, group.queries, options.kv_len ? tensors_.kv_len.data[batch] : group.keys);
  return group;
}

}  // namespace lanewise::attention
