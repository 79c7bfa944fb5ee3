// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "src/attention/few_loop.h"

#include <algorithm>
#include <limits>

#include "src/attention/few_scratch.h"
#include "src/core/sizes.h"
#include "src/kernels/few.h"
#include "src/profile/defaults.h"

namespace lanewise::attention {
namespace {

using kernels::FewRun;
using kernels::kFewStreams;
using kernels::kMaxFewRows;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One worker's way through its units.
class FewLoop {
 public:
  FewLoop(const Call& call, void* scratch)
      : call_(call),
        decision_(call.decision()),
        kernel_(decision_.few.kernel),
        shape_(decision_.shape),
        key_chunk_(decision_.few.key_chunk),
        layout_(decision_),
        queries_(static_cast<float*>(scratch)),
        scores_(queries_ + layout_.scores),
        key_stage_(shape_.k_type == DataType::kF32 ? nullptr : queries_ + layout_.keys),
        row_stage_(queries_ + layout_.row),
        own_partial_(queries_ + layout_.partial) {}

  void Chunk(int64_t index) {
    if (SetChunk(index)) {
      Score();
      ClearOutput();
      kernel_.softmax({rows_, row_count_, Place(keys_.begin), Place(keys_.end), FirstValues()});
      AddValues(false);
      if (hides_ && !kernel_.finite(rows_, row_count_, ValueDim())) {
        ClearOutput();
        AddValues(true);
      }
    }
    if (ChunkCount() == 1) MergeRows();
  }

  void Merge(int64_t index) {
    const WorkList::Unit unit = call_.row_blocks()[index];
    group_ = call_.Group(unit.batch, unit.kv_head);
    SetRows(unit.index);
    SetPartial(unit, unit.index * ChunkCount());
    MergeRows();
  }

  void Weights(int64_t index) {
    const bool sees_keys = SetChunk(index);
    if (sees_keys) Score();
    const WorkList::Unit unit = call_.chunks()[index];
    SetPartial(unit, unit.index - unit.index % ChunkCount());
    const int64_t end = std::min(chunk_begin_ + key_chunk_, group_.keys);
    for (size_t r = 0; r < row_count_; ++r) {
      float* const weights = group_.weights.At(HeadOf(r), QueryOf(r)) + chunk_begin_;
      if (!sees_keys) {
        std::fill_n(weights, end - chunk_begin_, 0.0f);
        continue;
      }
      std::fill_n(weights, keys_.begin - chunk_begin_, 0.0f);
      std::fill(weights + Place(keys_.end), weights + (end - chunk_begin_), 0.0f);
      const float* const state = Partial(r) + FewPadded(shape_.value_dim);
      kernel_.weights({rows_[r], Place(keys_.begin), Place(keys_.end), state[kernels::kFewShift],
                       state[kernels::kFewSum], weights});
    }
  }

 private:
  size_t ValueDim() const { return static_cast<size_t>(shape_.value_dim); }
  size_t Place(int64_t key) const { return static_cast<size_t>(key - chunk_begin_); }
  int64_t ChunkCount() const { return core::DivideUp(group_.keys, key_chunk_); }
  int64_t HeadOf(size_t r) const { return head_of_[r]; }
  int64_t QueryOf(size_t r) const { return query_of_[r]; }

  // Sets where the results of chunk `index` of a kv head are.
  void SetPartial(const WorkList::Unit& unit, int64_t index) {
    partial_ = own_partial_;
    if (ChunkCount() == 1 && !decision_.options.weights) return;
    index += call_.kept_chunks().FirstOf(unit.batch, unit.kv_head);
    partial_ = call_.partials() + index * FewPartialFloats(decision_);
  }

  // The output of row r there; its state follows.
  float* Partial(size_t r) const {
    return partial_ + static_cast<int64_t>(r) * FewPartialRowFloats(decision_);
  }

  void SetRows(int64_t row_block) {
    const int64_t first_row = row_block * decision_.few.row_block;
    row_count_ = static_cast<size_t>(std::min(decision_.few.row_block, group_.rows() - first_row));
    int64_t head = first_row % group_.heads;
    int64_t query = first_row / group_.heads;
    for (size_t r = 0; r < row_count_; ++r) {
      head_of_[r] = head;
      query_of_[r] = query;
      if (++head == group_.heads) {
        head = 0;
        ++query;
      }
    }
  }

  // Sets up the rows of a chunk and their queries. False if no row sees a key of it, of which the
  // partial result then says so.
  bool SetChunk(int64_t index) {
    const WorkList::Unit unit = call_.chunks()[index];
    group_ = call_.Group(unit.batch, unit.kv_head);
    SetRows(unit.index / ChunkCount());
    SetPartial(unit, unit.index);
    chunk_begin_ = unit.index % ChunkCount() * key_chunk_;
    keys_ = Intersection({group_.visibility.KeysOf(QueryOf(0)).begin,
                          group_.visibility.KeysOf(QueryOf(row_count_ - 1)).end},
                         {chunk_begin_, chunk_begin_ + key_chunk_});
    hides_ = false;
    for (size_t r = 0; r < row_count_; ++r) {
      rows_[r].scores = scores_ + static_cast<int64_t>(r) * key_chunk_;
      rows_[r].output = Partial(r);
      rows_[r].state = rows_[r].output + FewPadded(shape_.value_dim);
      if (keys_.empty()) {
        rows_[r].state[kernels::kFewSeen] = 0;
      } else {
        SetEdits(r);
      }
    }
    if (keys_.empty()) return false;
    LoadQueries();
    return true;
  }

  void SetEdits(size_t r) {
    const int64_t query = QueryOf(r);
    const int64_t head = HeadOf(r);
    kernels::FewEdits& edits = rows_[r].edits;
    edits = {};
    edits.softcap = decision_.softcap;
    if (group_.alibi_slopes != nullptr) {
      edits.alibi_slope = group_.alibi_slopes[head];
      edits.position =
          static_cast<float>(core::SaturatingSum(group_.visibility.Position(query), -chunk_begin_));
    }
    if (group_.bias.data != nullptr) {
      edits.bias_repeats = call_.bias().sizes[3] == 1;
      edits.bias = group_.bias.At(head, query) + (edits.bias_repeats ? 0 : chunk_begin_);
    }
    if (group_.mask.data != nullptr) {
      edits.mask_repeats = call_.mask().sizes[3] == 1;
      edits.mask = group_.mask.At(head, query) + (edits.mask_repeats ? 0 : chunk_begin_);
    }
    const KeyRange seen = Intersection(group_.visibility.KeysOf(query), keys_);
    if (!seen.empty()) {
      edits.begin = Place(seen.begin);
      edits.end = Place(seen.end);
    }
    hides_ |= edits.bias != nullptr || edits.mask != nullptr || !seen.Holds(keys_);
  }

  // The results of the rows that are set, from those of their chunks: the one that is set and its
  // followers.
  void MergeRows() const {
    for (size_t r = 0; r < row_count_; ++r) {
      float* const output = Partial(r);
      float* const state = output + FewPadded(shape_.value_dim);
      char* const out = group_.out.At(HeadOf(r), QueryOf(r));
      const bool narrow = decision_.convert.out != nullptr;
      kernels::FewMergeArgs merge = {};
      merge.output = output;
      merge.state = state;
      merge.chunk_stride = static_cast<size_t>(FewPartialFloats(decision_));
      merge.chunk_count = static_cast<size_t>(ChunkCount());
      merge.sink = group_.sinks == nullptr ? -kInfinity : group_.sinks[HeadOf(r)];
      merge.pairs = shape_.v_type == DataType::kBF16;
      merge.value_dim = ValueDim();
      merge.out = narrow ? row_stage_ : reinterpret_cast<float*>(out);
      if (group_.lse.data != nullptr) merge.lse = group_.lse.At(HeadOf(r), QueryOf(r));
      // For the weights, which need nothing else of the partial results.
      if (group_.weights.data != nullptr && ChunkCount() > 0) {
        merge.shift = state + kernels::kFewShift;
        merge.inverse = state + kernels::kFewSum;
      }
      kernel_.merge(merge);
      if (narrow) decision_.convert.out({row_stage_, 0, out, 0, 1, ValueDim()});
    }
  }

  void LoadQueries() {
    const size_t dim = static_cast<size_t>(shape_.dim);
    const float* queries[kMaxFewRows];
    for (size_t r = 0; r < row_count_; ++r) {
      const char* row = group_.q.At(HeadOf(r), QueryOf(r));
      queries[r] = reinterpret_cast<const float*>(row);
      if (decision_.convert.q != nullptr) {
        float* widened = row_stage_ + static_cast<int64_t>(r) * FewPadded(shape_.dim);
        decision_.convert.q({row, 0, widened, 0, 1, dim});
        queries[r] = widened;
      }
    }
    kernel_.load({queries, row_count_, dim, decision_.scale, queries_,
                  static_cast<size_t>(FewPadded(shape_.dim)), shape_.k_type == DataType::kBF16});
  }

  // Streams of keys that begin at `begin` and every `quarter` keys.
  struct Streams {
    int64_t begin;
    int64_t quarter;
  };

  // The rows of the chunk's keys from step `step` of the streams on, as far as they lie evenly.
  // Without a stream if its `count` steps hold no key of the chunk.
  FewRun RunAt(const KvRows& rows, const Streams& streams, int64_t step) const {
    FewRun run = {};
    run.stride = rows.stride();
    int64_t count = streams.quarter - step;
    for (size_t s = 0; s < kFewStreams; ++s) {
      const int64_t key = streams.begin + static_cast<int64_t>(s) * streams.quarter + step;
      if (key >= keys_.end) continue;
      if (key < keys_.begin) {
        count = std::min(count, keys_.begin - key);
        continue;
      }
      const RowRun part = rows.At(key);
      count = std::min({count, part.count, keys_.end - key});
      run.rows[run.stream_count] = part.data;
      run.first[run.stream_count] = Place(key);
      ++run.stream_count;
    }
    run.count = static_cast<size_t>(count);
    return run;
  }

  // Calls take(run) for runs that hold the keys of the chunk.
  template <class Take>
  void ForEachRun(const KvRows& rows, const Streams& streams, const Take& take) const {
    for (int64_t step = 0; step < streams.quarter;) {
      const FewRun run = RunAt(rows, streams, step);
      if (run.stream_count != 0) take(run);
      step += static_cast<int64_t>(run.count);
    }
  }

  // Streams divide what is seen, so that there are four in a chunk of few keys, too.
  void Score() const {
    const auto score = kernel_.score[static_cast<size_t>(shape_.k_type)];
    const int64_t quarter =
        core::RoundUp(core::DivideUp(keys_.size(), static_cast<int64_t>(kFewStreams)),
                      static_cast<int64_t>(kernels::kFewScoredSteps));
    ForEachRun(group_.k, {keys_.begin, quarter}, [&](const FewRun& run) {
      score({queries_, static_cast<size_t>(FewPadded(shape_.dim)), row_count_,
             static_cast<size_t>(shape_.dim), run, scores_, static_cast<size_t>(key_chunk_),
             key_stage_});
    });
  }

  void ClearOutput() const {
    for (size_t r = 0; r < row_count_; ++r) {
      std::fill_n(rows_[r].output, FewPadded(shape_.value_dim), 0.0f);
    }
  }

  // Streams begin at quarters of the chunk, whatever is seen of it: they are the order of the sums.
  Streams ValueStreams() const {
    return {chunk_begin_, key_chunk_ / static_cast<int64_t>(kFewStreams)};
  }

  // The values to fetch before they are added. More than a page of each stream gains nothing.
  kernels::FewAhead FirstValues() const {
    constexpr size_t kPageBytes = 4096;
    const FewRun run = RunAt(group_.v, ValueStreams(), 0);
    kernels::FewAhead ahead = {};
    for (size_t s = 0; s < run.stream_count; ++s) {
      ahead.rows[s] = static_cast<const char*>(run.rows[s]);
    }
    ahead.stream_count = run.stream_count;
    ahead.row_bytes = static_cast<size_t>(group_.v.Bytes(shape_.value_dim));
    ahead.stride_bytes = group_.v.stride_bytes();
    if (ahead.row_bytes != 0) ahead.count = std::min(run.count, kPageBytes / ahead.row_bytes);
    return ahead;
  }

  // select: leave out what a row does not see, instead of adding 0 times it.
  void AddValues(bool select) const {
    const auto value = kernel_.value[static_cast<size_t>(shape_.v_type)];
    ForEachRun(group_.v, ValueStreams(), [&](const FewRun& run) {
      value({rows_, row_count_, ValueDim(), run, select});
    });
  }

  const Call& call_;
  const AttentionPlan::Decision& decision_;
  const kernels::FewKernel& kernel_;
  const AttentionShape& shape_;
  const int64_t key_chunk_;
  const FewScratch layout_;
  float* const queries_;
  float* const scores_;
  float* const key_stage_;
  float* const row_stage_;
  float* const own_partial_;

  // Of the current unit.
  HeadGroup group_;
  size_t row_count_ = 0;
  int64_t head_of_[kMaxFewRows];
  int64_t query_of_[kMaxFewRows];
  int64_t chunk_begin_ = 0;
  float* partial_ = nullptr;
  KeyRange keys_;       // of the chunk that some row may see
  bool hides_ = false;  // some of them from some row
  kernels::FewRow rows_[kMaxFewRows];
};

}  // namespace

void RunFewChunks(const Call& call, int64_t begin, int64_t end, void* scratch) {
  FewLoop loop(call, scratch);
  for (int64_t i = begin; i < end; ++i) loop.Chunk(i);
}

void MergeFewChunks(const Call& call, int64_t begin, int64_t end, void* scratch) {
  FewLoop loop(call, scratch);
  for (int64_t i = begin; i < end; ++i) loop.Merge(i);
}

void RunFewWeights(const Call& call, int64_t begin, int64_t end, void* scratch) {
  FewLoop loop(call, scratch);
  for (int64_t i = begin; i < end; ++i) loop.Weights(i);
}

}  // namespace lanewise::attention
