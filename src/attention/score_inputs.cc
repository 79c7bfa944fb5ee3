// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/score_inputs.h"

#include "src/attention/score.h"

namespace lanewise::attention {
namespace {

const float* Floats(const ConstTensor& tensor) { return static_cast<const float*>(tensor.data); }

}  // namespace

ScoreInputs::ScoreInputs(const Call& call, const LanesScratch& layout, float* scratch)
    : call_(call),
      decision_(call.decision()),
      kernel_(decision_.lanes.kernel),
      shape_(decision_.shape),
      score_(decision_.options.score),
      raw_queries_(ProjectsQueries(decision_.options) ? scratch + layout.queries : nullptr),
      rows_(decision_.convert.k, decision_.convert.copy, shape_.key_dim, scratch + layout.k),
      projected_(decision_.options.wk ? scratch + layout.projected : nullptr),
      projected_stride_(decision_.wk_stride()) {}

void ScoreInputs::LoadQueries(kernels::LoadArgs load) const {
  const kernels::LaneGroup group = load.group;
  const size_t dim = static_cast<size_t>(shape_.dim);
  // Gaussian scores scale the sum of squares, additive ones their weights.
  const bool scales = score_ == AttentionScore::kDot || score_ == AttentionScore::kBilinear;
  load.scale = scales ? decision_.scale : 1.0f;
  if (raw_queries_ != nullptr) load.group.queries = raw_queries_;
  kernel_.load(load);
  if (raw_queries_ == nullptr) return;
  const bool bilinear = score_ == AttentionScore::kBilinear;
  const ConstTensor& weights = bilinear ? call_.tensors().w : call_.tensors().wq;
  kernels::MultiplyArgs product = {};
  product.a = Floats(weights);
  product.a_stride = weights.strides[2];
  product.by_columns = bilinear;  // the transpose of W [dim, key_dim]
  product.b = raw_queries_;
  product.to = group.queries;
  product.b_stride = product.to_stride = kernel_.lanes;
  product.row_count = static_cast<size_t>(ScoreDim(shape_, score_));
  product.steps = dim;
  kernel_.multiply(product);
}

void ScoreInputs::StageKeys(const KvRows& rows, KeyRange keys, bool gathers) {
  // Rows that are projected are read once.
  rows_.Stage(rows, keys, gathers && projected_ == nullptr);
  first_ = keys.begin;
  if (projected_ != nullptr) Project(keys);
}

// projected[key][h] = Σ_d keys[key][d] * wk[h][d], as many h at a time as the kernel has lanes.
void ScoreInputs::Project(KeyRange keys) {
  kernels::MultiplyArgs product = {};
  product.a = rows_.Row(first_);
  product.a_stride = rows_.stride();
  product.b_stride = product.to_stride = static_cast<size_t>(projected_stride_);
  product.row_count = static_cast<size_t>(keys.size());
  product.steps = static_cast<size_t>(shape_.key_dim);
  for (int64_t h = 0; h < projected_stride_; h += static_cast<int64_t>(kernel_.lanes)) {
    product.b = call_.wk_columns() + h;
    product.to = projected_ + h;
    kernel_.multiply(product);
  }
}

void ScoreInputs::AddTo(kernels::StepArgs& step, int64_t key) const {
  step.keys = Row(key);
  step.key_stride = stride();
  step.dim = static_cast<size_t>(ScoreDim(shape_, score_));
  if (score_ == AttentionScore::kAdditive) {
    step.form = kernels::ScoreForm::kAdditive;
    step.tanh_weights = call_.tanh_weights();
  } else if (score_ == AttentionScore::kGaussian) {
    step.form = kernels::ScoreForm::kDistance;
    step.distance_factor = -0.5f * decision_.scale;
  }
}

}  // namespace lanewise::attention
