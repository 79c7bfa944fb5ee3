// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/few_scratch.h"

#include <algorithm>

namespace lanewise::attention {

FewScratch::FewScratch(const AttentionPlan::Decision& decision) {
  const int64_t row_block = decision.few.row_block;
  const int64_t padded_rows =
      core::RoundUp(row_block, static_cast<int64_t>(kernels::kFewRowPadding));
  const int64_t key_rows =
      decision.shape.k_type == DataType::kF32 ? 0 : static_cast<int64_t>(kernels::kFewStageRows);
  const int64_t dim = FewPadded(decision.shape.dim);
  scores = padded_rows * dim;
  keys = scores + padded_rows * decision.few.key_chunk;
  row = keys + key_rows * dim;
  partial = row + row_block * std::max(dim, FewPadded(decision.shape.value_dim));
  end = partial + FewPartialFloats(decision);
}

std::optional<int64_t> FewScratchBytes(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  const auto columns = core::CheckedSum({shape.dim, shape.value_dim, decision.few.key_chunk});
  // Twice that for queries and a stage of them, rounded up, and the rows that are not of the block.
  constexpr auto kMoreRows = static_cast<int64_t>(kernels::kFewRowPadding + kernels::kFewStageRows);
  if (!columns || !core::CheckedProduct({*columns, decision.few.row_block + kMoreRows, 32})) {
    return std::nullopt;
  }
  return FewScratch(decision).end * static_cast<int64_t>(sizeof(float));
}

std::optional<int64_t> FewKeptFloats(const AttentionPlan::Decision& decision) {
  const AttentionShape& shape = decision.shape;
  // Rows a kv head: of a ragged batch as if one sequence had them all. Of its sequences only those
  // of more than a chunk keep any, of which there are at most twice as many as would be full.
  const int64_t all_rows = decision.group() * shape.queries;
  const int64_t rows = std::min(all_rows, std::max<int64_t>(decision.MostFewRows(), 0));
  const int64_t items = decision.options.ragged ? 1 : shape.batch;
  const int64_t key_chunk = decision.few.key_chunk;
  const int64_t chunks = decision.options.ragged ? shape.keys / key_chunk * 2 + 1
                                                 : core::DivideUp(shape.keys, key_chunk);
  if (!decision.options.ragged && !decision.TakesFew(all_rows)) return 0;
  if (shape.keys <= key_chunk && !decision.options.weights) return 0;
  return core::CheckedProduct({items, shape.kv_heads, core::DivideUp(rows, decision.few.row_block),
                               chunks, FewPartialFloats(decision)});
}

}  // namespace lanewise::attention
