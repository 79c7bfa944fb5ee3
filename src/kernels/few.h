// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The `few` variant of attention: fewer query rows than lanes. Dims lie across the lanes, and all
// rows that share a kv head are computed together, so that its keys and values stream once. This
// header is the contract between the loop over key chunks and the kernels.
//
// A chunk of keys is one softmax step, whatever its rows see of it:
//
//   S[row][key] = queries[row] · K[key]           score, over runs of keys
//   S edited (FewEdits); -inf where the row does not see the key
//   shift[row] = max_key S,  P = exp(S - shift),  sum[row] = Σ_key P            softmax
//   output[row][c] = Σ_key P[row][key] * V[key][c]                              value, over runs
//
// and the chunks of a sequence are merged in order:
//
//   M = max_chunk shift,  L = Σ_chunk exp(shift - M) * sum
//   out[c] = Σ_chunk exp(shift - M) * output[c] / L,  lse = M + ln L            merge
//
// A score adds up dims d, d + n, d + 2n ... in each of n lanes, n being those of a vector but at
// most 8, then the lanes in a fixed order; an output adds up keys as FewValueArgs says; a sum adds
// up keys by their place in the chunk.
// None of that depends on the other rows, on how the keys are cut into runs, or on the type they
// are read from, but for bf16 keys: their even and odd dims are added up apart (FewLoadArgs).

#ifndef LANEWISE_SRC_KERNELS_FEW_H_
#define LANEWISE_SRC_KERNELS_FEW_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lanewise/tensor.h"

namespace lanewise::kernels {

// Floats that rows of scratch are padded to: a multiple of every target's lanes.
inline constexpr size_t kFewPadding = 16;

// Query rows that the entries below take in one call, at most.
inline constexpr size_t kMaxFewRows = 64;

// Rows that queries and scores have room for are a multiple of this.
inline constexpr size_t kFewRowPadding = 4;

// queries[row] = scale * rows[row], the padding 0; where a vector is longer than a score's sum, 8
// lanes, rows lie in it side by side, 8 dims of each. Rows of bf16 are read in pairs: their kernels
// want even and odd elements apart in the queries, and leave them apart in the output.
struct FewLoadArgs {
  const float* const* rows;  // [row_count] pointers to [dim]
  size_t row_count;
  size_t dim;
  float scale;
  float* queries;  // [row_count padded, query_stride], aligned
  size_t query_stride;
  bool pairs;  // the keys are bf16
};

// Rows of keys or values that are taken together: `count` rows of each of up to four streams, which
// lie far apart so that hardware fetches ahead in all of them. Row i of stream s is key first[s] +
// i of the chunk.
inline constexpr size_t kFewStreams = 4;
// Rows of each stream whose scores are stored together, where there are as many.
inline constexpr size_t kFewScoredSteps = 4;
struct FewRun {
  const void* rows[kFewStreams];  // first row of each stream
  size_t first[kFewStreams];      // its place in the chunk
  size_t stream_count;            // at least 1
  size_t count;                   // rows of a stream, at least 1
  int64_t stride;                 // elements from one row to the next
};

// Rows of keys that are kept widened: two steps of each stream, and the two after them.
inline constexpr size_t kFewStageRows = 4 * kFewStreams;

// Scores of the keys of a run.
struct FewScoreArgs {
  const float* queries;  // as FewLoadArgs has left them
  size_t query_stride;
  size_t row_count;
  size_t dim;
  FewRun keys;    // rows [dim]
  float* scores;  // [row_count padded, score_stride], at the chunk's first key
  size_t score_stride;
  float* stage;  // [kFewStageRows, query_stride], aligned; null if the keys are f32
};

// What happens to the scores of one row, in this order; absent parts are null or 0. Keys count from
// the chunk's first.
struct FewEdits {
  float softcap;      // S = softcap * tanh(S / softcap)
  float alibi_slope;  // S -= slope * |position - key|
  float position;
  const float* bias;    // S += bias[key]; not seen where it is -inf
  const uint8_t* mask;  // seen where not 0
  bool bias_repeats;    // bias[0] for all keys
  bool mask_repeats;
  size_t begin;  // keys that the row sees, as far as bounds go
  size_t end;
};

// One row of a chunk. Of its scores, those of keys [begin, end) have been computed.
struct FewRow {
  float* scores;  // [chunk], aligned: scores in, weights out
  float* output;  // [value_dim padded], aligned
  float* state;   // [kFewStates]: shift, sum, and whether a key was seen (1 or 0)
  FewEdits edits;
};
// Entries of FewRow::state. Merging leaves the factor of a chunk in the last one.
enum FewState { kFewShift, kFewSum, kFewSeen, kFewFactor, kFewStates };

// Rows to fetch into the first-level cache: `count` of each stream.
struct FewAhead {
  const char* rows[kFewStreams];  // first row of each stream
  size_t stream_count;
  size_t count;
  size_t row_bytes;
  int64_t stride_bytes;
};

// Edits the rows and turns their scores into weights. Weights from `begin` down and from `end` up
// to a multiple of kFewPadding become 0.
struct FewSoftmaxArgs {
  const FewRow* rows;
  size_t row_count;
  size_t begin;
  size_t end;
  FewAhead values;  // those that are read next; memory would stand idle meanwhile
};

// output[row] += Σ_key weights[row][key] * V[key] over the keys of a run: first row of each stream,
// second row of each stream, ...
struct FewValueArgs {
  const FewRow* rows;
  size_t row_count;
  size_t value_dim;
  FewRun values;  // rows [value_dim]
  bool select;    // leave out keys that a row does not see, whose weight is 0: for V not finite
};

// The chunks of one row, `chunk_stride` floats apart.
struct FewMergeArgs {
  const float* output;  // [chunk_count] times [value_dim padded], aligned
  float* state;         // [chunk_count] times [kFewStates]
  size_t chunk_stride;
  size_t chunk_count;
  float sink;  // -inf: none
  bool pairs;  // the values are bf16
  size_t value_dim;
  float* out;      // [value_dim]
  float* lse;      // or null
  float* shift;    // M; or null
  float* inverse;  // 1 / L, 0 of a row that saw no key; or null
};

// weights[key] = exp(S - shift) * inverse of one row, for keys [begin, end) of the chunk, edited.
struct FewWeightsArgs {
  FewRow row;
  size_t begin;
  size_t end;
  float shift;
  float inverse;
  float* weights;  // [chunk], at the chunk's first key
};

// The kernels of one target.
struct FewKernel {
  std::string_view tile;  // register tile, query rows x streams: "4x4s"
  size_t lanes;
  void (*load)(const FewLoadArgs&);
  void (*score[3])(const FewScoreArgs&);  // by type of the keys: f32, f16, bf16
  void (*softmax)(const FewSoftmaxArgs&);
  void (*value[3])(const FewValueArgs&);  // by type of the values
  // Whether all outputs of a chunk are finite, and so nothing hidden has got into them: 0 times
  // NaN or infinity is NaN.
  bool (*finite)(const FewRow* rows, size_t row_count, size_t value_dim);
  void (*merge)(const FewMergeArgs&);
  void (*weights)(const FewWeightsArgs&);
};

// The kernels of `target` (one of the HWY_* bits).
FewKernel FewKernelFor(int64_t target);

}  // namespace lanewise::kernels

#endif  // LANEWISE_SRC_KERNELS_FEW_H_
