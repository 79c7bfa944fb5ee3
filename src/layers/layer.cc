// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Parameters -> layer: validation, then packing.

#include "src/layers/layer.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "src/core/element_bytes.h"
#include "src/kernels/convert.h"
#include "src/layers/check.h"
#include "src/machine/targets.h"
#include "src/parallel/check_threads.h"

namespace lanewise {
namespace layers {
namespace {

using Layer = MultiHeadAttention::Layer;

// Rows [first, first + count) of a matrix.
ConstTensor RowsOf(const ConstTensor& matrix, int64_t first, int64_t count) {
  const int64_t bytes = first * matrix.strides[2] * core::ElementBytes(matrix.type);
  return {static_cast<const char*>(matrix.data) + bytes,
          matrix.type,
          {1, 1, count, matrix.sizes[3]},
          matrix.strides};
}

// Copies a matrix to `to`, whose rows follow each other, as `type`.
void CopyRows(const ConstTensor& matrix, int64_t target, DataType type, char* to) {
  kernels::ConvertArgs args;
  args.from = matrix.data;
  args.from_stride = matrix.strides[2];
  args.to = to;
  args.to_stride = matrix.sizes[3];
  args.row_count = static_cast<size_t>(matrix.sizes[2]);
  args.columns = static_cast<size_t>(matrix.sizes[3]);
  kernels::ConvertRowsFor(target, matrix.type, type)(args);
}

Status PackInto(PackedMatrix& to, const ConstTensor& matrix, const Runtime& runtime) {
  Result<PackedMatrix> packed = PackB(matrix, /*transpose_b=*/true, runtime);
  if (!packed.ok()) return packed.status();
  to = std::move(*packed);
  return {};
}

Status PackKeysAndValues(const MultiHeadWeights& weights, int64_t target, Layer& layer) {
  const DataType type = weights.k.type == weights.v.type ? weights.k.type : DataType::kF32;
  const Sizes sizes = {1, 1, 2 * layer.k_columns(), layer.shape.kv_d_model};
  const int64_t bytes = layer.k_columns() * layer.shape.kv_d_model * core::ElementBytes(type);
  const Workspace both(static_cast<size_t>(2 * bytes));
  if (both.size_bytes() < static_cast<size_t>(2 * bytes)) return Status::OutOfMemory();
  CopyRows(weights.k, target, type, static_cast<char*>(both.data()));
  CopyRows(weights.v, target, type, static_cast<char*>(both.data()) + bytes);
  return PackInto(layer.kv, {both.data(), type, sizes, DenseStrides(sizes)}, layer.runtime);
}

void CopyBias(const ArrayView<float>& bias, int64_t first, int64_t count, std::vector<float>& to) {
  if (bias.data != nullptr) to.assign(bias.data + first, bias.data + first + count);
}

void CopyBiases(const MultiHeadWeights& weights, Layer& layer) {
  const int64_t q = layer.q_columns();
  const int64_t k = layer.k_columns();
  CopyBias(weights.out_bias, 0, layer.shape.d_model, layer.out_bias);
  if (weights.qkv.data != nullptr) {
    CopyBias(weights.qkv_bias, 0, q, layer.q_bias);
    CopyBias(weights.qkv_bias, q, 2 * k, layer.kv_bias);
    return;
  }
  CopyBias(weights.q_bias, 0, q, layer.q_bias);
  if (weights.k_bias.data == nullptr && weights.v_bias.data == nullptr) return;
  layer.kv_bias.resize(static_cast<size_t>(2 * k));
  if (weights.k_bias.data != nullptr) {
    std::copy_n(weights.k_bias.data, k, layer.kv_bias.begin());
  }
  if (weights.v_bias.data != nullptr) {
    std::copy_n(weights.v_bias.data, k, layer.kv_bias.begin() + k);
  }
}

Result<MultiHeadAttention> Make(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                                const Runtime& runtime) {
  Result<MultiHeadShape> completed = CompleteShape(shape);
  if (!completed.ok()) return completed.status();
  if (Status s = CheckWeights(*completed, weights); !s.ok()) return s;
  if (Status s = parallel::CheckThreads(runtime.threads); !s.ok()) return s;
  const Result<int64_t> target = machine::FindTarget(runtime.target);
  if (!target.ok()) return target.status();

  auto layer = std::make_shared<Layer>();
  layer->shape = *completed;
  layer->runtime = runtime;
  if (weights.qkv.data != nullptr) {
    const int64_t q = layer->q_columns();
    if (Status s = PackInto(layer->q, RowsOf(weights.qkv, 0, q), runtime); !s.ok()) return s;
    const ConstTensor kv = RowsOf(weights.qkv, q, 2 * layer->k_columns());
    if (Status s = PackInto(layer->kv, kv, runtime); !s.ok()) return s;
  } else {
    if (Status s = PackInto(layer->q, weights.q, runtime); !s.ok()) return s;
    if (Status s = PackKeysAndValues(weights, *target, *layer); !s.ok()) return s;
  }
  if (Status s = PackInto(layer->out, weights.out, runtime); !s.ok()) return s;
  CopyBiases(weights, *layer);
  return MultiHeadAttention(std::move(layer));
}

}  // namespace
}  // namespace layers

MultiHeadAttention::MultiHeadAttention(std::shared_ptr<const Layer> layer) noexcept
    : layer_(std::move(layer)) {}

const MultiHeadShape& MultiHeadAttention::shape() const noexcept { return layer_->shape; }

Result<MultiHeadAttention> MakeMultiHeadAttention(const MultiHeadShape& shape,
                                                  const MultiHeadWeights& weights,
                                                  const Runtime& runtime) noexcept {
  try {
    return layers::Make(shape, weights, runtime);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace lanewise
