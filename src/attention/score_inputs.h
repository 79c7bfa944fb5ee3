// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What the score stage of the `lanes` kernels reads, for any score function: queries and keys as
// they meet there. Bilinear and additive scores multiply a lane group's queries by their weights
// when it is loaded; additive ones a block of keys when it is staged.

#ifndef LANEWISE_SRC_ATTENTION_SCORE_INPUTS_H_
#define LANEWISE_SRC_ATTENTION_SCORE_INPUTS_H_

#include <cstdint>

#include "lanewise/attention.h"
#include "src/attention/call.h"
#include "src/attention/decision.h"
#include "src/attention/kv_rows.h"
#include "src/attention/lanes_scratch.h"
#include "src/attention/staged_rows.h"
#include "src/attention/visibility.h"
#include "src/kernels/lanes.h"

namespace lanewise::attention {

class ScoreInputs {
 public:
  // `scratch` is a worker's, laid out as `layout` says.
  ScoreInputs(const Call& call, const LanesScratch& layout, float* scratch);

  // Loads a lane group's queries, all but `scale` given, and resets its state.
  void LoadQueries(kernels::LoadArgs load) const;

  // Makes a block's keys available; `gathers` as of StagedRows::Stage.
  void StageKeys(const KvRows& rows, KeyRange keys, bool gathers);

  // Sets what `step` scores, from `key` on.
  void AddTo(kernels::StepArgs& step, int64_t key) const;

 private:
  void Project(KeyRange keys);

  // Keys of the staged block, as the kernel scores them.
  const float* Row(int64_t key) const {
    return projected_ == nullptr ? rows_.Row(key) : projected_ + (key - first_) * projected_stride_;
  }
  int64_t stride() const { return projected_ == nullptr ? rows_.stride() : projected_stride_; }

  const Call& call_;
  const AttentionPlan::Decision& decision_;
  const kernels::LanesKernel& kernel_;
  const AttentionShape& shape_;
  const AttentionScore score_;
  float* const raw_queries_;  // [dim, lanes]: before they are multiplied; null: they are not
  StagedRows rows_;
  float* const projected_;  // [kv_block, projected_stride]; null: keys are scored as they are
  const int64_t projected_stride_;
  int64_t first_ = 0;  // key of the staged block
};

}  // namespace lanewise::attention

#endif  // LANEWISE_SRC_ATTENTION_SCORE_INPUTS_H_
