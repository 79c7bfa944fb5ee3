// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Attention: out = softmax(scores of q and k) v, softmax over the keys. The scores are scaled dot
// products, or one of the other functions of a query and a key that AttentionScore names.

#ifndef LANEWISE_ATTENTION_H_
#define LANEWISE_ATTENTION_H_

#include <cstddef>   // size_t
#include <cstdint>   // int64_t
#include <memory>    // shared_ptr
#include <optional>  // options that may be absent
#include <string>    // PlanExplanation
#include <vector>    // PlanExplanation

#include "lanewise/export.h"
#include "lanewise/parameter_source.h"
#include "lanewise/runtime.h"
#include "lanewise/status.h"
#include "lanewise/tensor.h"
#include "lanewise/workspace.h"

namespace lanewise {

// The sizes and types a plan is made for.
//
//   q   [batch, heads,    queries, dim]
//   k   [batch, kv_heads, keys,    key_dim]
//   v   [batch, kv_heads, keys,    value_dim]
//   out [batch, heads,    queries, value_dim]
//
// Query head h reads kv head h / (heads / kv_heads), so `heads` must be a multiple of `kv_heads`.
// Zero batch, heads, queries or value_dim: a call succeeds and writes no `out`. Zero keys: `out` is
// all zeros. dim must be at least 1.
struct AttentionShape {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t dim = 0;
  int64_t value_dim = 0;
  // Columns of k; 0: dim. Other than dim only where the score has a weight matrix between them.
  int64_t key_dim = 0;
  // Of additive scores alone: the length of w_out and of projected rows; 0: dim.
  int64_t hidden = 0;
  DataType q_type = DataType::kF32;
  DataType k_type = DataType::kF32;
  DataType v_type = DataType::kF32;
  DataType out_type = DataType::kF32;
};

// No limit on that side of a window.
inline constexpr int64_t kUnlimited = -1;

// How far a query sees: `left` keys before its position and `right` keys after it, inclusive, and
// its own. 0 is the query's own position alone on that side; kUnlimited no limit; other negative
// values are errors.
struct AttentionWindow {
  int64_t left = kUnlimited;
  int64_t right = kUnlimited;

  // The two-sided window of 2r + 1 keys.
  static constexpr AttentionWindow Radius(int64_t r) noexcept { return {r, r}; }
};

// How a query and a key make a score.
//
//   kDot       s = scale * q·k
//              Vaswani et al. 2017 (arXiv 1706.03762)
//   kBilinear  s = scale * qᵀ W k, W [dim, key_dim]
//              "general" of Luong et al. 2015 (1508.04025)
//   kAdditive  s = scale * w_outᵀ tanh(W_q q + W_k k), W_q [hidden, dim], W_k [hidden, key_dim]
//              Bahdanau et al. 2014 (1409.0473)
//   kGaussian  s = -‖q - k‖² / (2 bandwidth²)
//              the kernel smoother of Nadaraya 1964 and Watson 1964
//
// The parameters are arrays of the call, the same for all heads and batch items. Everything that
// follows is as for dot products.
enum class AttentionScore { kDot, kBilinear, kAdditive, kGaussian };

// What to compute. The defaults are full attention with scale 1/sqrt(dim). Scores are edited in
// this order:
//
//   s = scale * (q · k), or what `score` says
//   s = softcap * tanh(s / softcap)
//   s = s + bias - alibi_slope * |position - j|
//   keys that the row may not see are left out
//   softmax, with the sink in the denominator
//
// A row sees a key if causal, window, kv_len, mask and a bias above -inf all allow it.
struct AttentionOptions {
  AttentionScore score = AttentionScore::kDot;

  // Factor of the score. Absent: 1/sqrt(dim) for dot products, 1 for bilinear and additive scores.
  // Zero and negative values are honoured; NaN and infinities are errors, and so is any with
  // Gaussian scores, whose factor is the bandwidth's.
  std::optional<float> scale;

  // Of Gaussian scores, which need it; an error with others. Positive and finite, and not so small
  // that 1 / bandwidth² is infinite.
  std::optional<float> bandwidth;

  // Of additive scores: whether the call brings W_q as `wq`, and W_k as `wk`. Without it the rows
  // of q, or of k, are projected already and have `hidden` columns: a cache can hold W_k k.
  bool wq = false;
  bool wk = false;

  // Query i sees key j only if j <= position(i). position(i) is `i + kv_len - queries`, which lines
  // up the last query with the last valid key (kv_len is `keys` unless given), unless one of the
  // next two says otherwise. A query that sees no key gives exactly 0 and a log-sum-exp of -inf.
  bool causal = false;
  // position(i) = i: query 0 lines up with key 0. Excludes `query_offset`.
  bool top_left = false;
  // position(i) = i + query_offset; may be negative.
  std::optional<int64_t> query_offset;

  // Query i sees key j only if position(i) - left <= j <= position(i) + right. Combines with
  // causal.
  AttentionWindow window;

  // Bounds scores smoothly to (-softcap, softcap). Absent or 0: off; negative or not finite: error.
  std::optional<float> softcap;

  // Inputs that a call brings beside q, k and v: each makes the array of that name in
  // AttentionTensors required, and its absence here makes that array an error.
  bool mask = false;          // which pairs may attend
  bool bias = false;          // added to the scores
  bool alibi_slopes = false;  // a penalty that grows with distance (Press et al. 2021, 2108.12409)
  bool sinks = false;         // a logit a head that only enlarges the denominator
  bool kv_len = false;        // valid keys of each batch item
  // Key j of batch item b lies in slot (kv_first[b] + j) % keys: a ring buffer that has wrapped.
  bool kv_first = false;
  // k and v are pools of pages that a page table assigns to batch items.
  bool paged = false;
  // Sequences of different lengths, one after the other (q_offsets, k_offsets). Not together with
  // mask, bias, kv_len, kv_first, paged or weights.
  bool ragged = false;

  // Outputs that a call wants beside `out`.
  bool lse = false;      // the log-sum-exp of each row
  bool weights = false;  // the attention weights; costs a second pass over the scores
};

// Where the keys of each batch item lie in pools of pages. Slot s of batch item b is row
// s % page_size of page ids[b * pages_per_item + s / page_size].
struct PageTable {
  const int32_t* ids = nullptr;  // [batch, pages_per_item]
  int64_t batch = 0;
  int64_t pages_per_item = 0;
};

// The arrays of one call. Strides are free (last stride 1); a stride of 0 broadcasts an input.
// Outputs need memory of their own: no two of their elements may coincide, and the memory between
// the first and the last element of each may not meet that of another array. Inputs may overlap.
struct AttentionTensors {
  ConstTensor q;    // [batch, heads, queries, dim]
  ConstTensor k;    // [batch, kv_heads, keys, key_dim]
  ConstTensor v;    // [batch, kv_heads, keys, value_dim]
  Tensor out;       // [batch, heads, queries, value_dim]
  Tensor lse = {};  // f32 [batch, heads, queries, 1]

  // f32 [batch, heads, queries, keys]. Entries of keys that a row does not see are exactly 0.
  Tensor weights = {};

  // Pairs that may attend: bool, true = may attend. Each of its sizes is that of
  // [batch, heads, queries, keys] or 1, which broadcasts; a plain [queries, keys] array is
  // {1, 1, queries, keys}.
  ConstTensor mask = {};
  // Added to the scores: f32, sizes as of `mask`. -inf hides the pair, as mask does; any finite
  // value, however negative, is an ordinary number. [1, 1, 1, keys] is a bias for each key.
  ConstTensor bias = {};
  ArrayView<float> alibi_slopes = {};  // [heads], finite
  ArrayView<float> sinks = {};         // [heads]; neither scaled nor capped; -inf = no sink

  // [batch], each from 0 to `keys`: how many of the `keys` slots of k and v are valid. Slots beyond
  // are never read.
  ArrayView<int64_t> kv_len = {};

  // [batch], each from 0 to `keys`: the slot of key 0 in a ring buffer of `keys` slots. Masks,
  // biases, weights and positions count keys in order, not slots.
  ArrayView<int64_t> kv_first = {};

  // With it k is [pages, kv_heads, page_size, key_dim] and v [pages, kv_heads, page_size,
  // value_dim], for any number of pages and any page size, and `keys` slots of each batch item lie
  // in pages of the table. Ids of pages that hold no valid slot are not read.
  PageTable page_table = {};

  // Ragged batches: q and out are [1, heads, queries, ...], k and v [1, kv_heads, keys, ...], lse
  // accordingly, and hold `batch` sequences one after the other. Sequence b has the queries
  // q_offsets[b] <= i < q_offsets[b + 1] and the keys k_offsets[b] <= j < k_offsets[b + 1]; it is
  // computed as if alone, with positions counted from its own start and its own number of keys.
  // [batch + 1] each, non-decreasing, from 0 to `queries` and to `keys`.
  ArrayView<int64_t> q_offsets = {};
  ArrayView<int64_t> k_offsets = {};

  // Parameters of the score, f32.
  ConstTensor w = {};           // bilinear: [1, 1, dim, key_dim]
  ConstTensor wq = {};          // additive, with the option: [1, 1, hidden, dim]
  ConstTensor wk = {};          // additive, with the option: [1, 1, hidden, key_dim]
  ArrayView<float> w_out = {};  // additive: [hidden]
};

// What a plan decided and why.
struct PlanExplanation {
  // "lanes": every query owns a SIMD lane. "few": fewer query rows than lanes, which lie across the
  // dims. In a ragged batch "lanes, few" if a sequence takes either by its own number of rows.
  std::string variant;
  std::string tile;      // register tile, rows x vectors: "8x2v"
  int64_t kv_block = 0;  // keys per softmax step
  int64_t q_groups = 0;  // lane groups a query tile
  int64_t grain = 0;     // query tiles, or key chunks, that a thread takes at a time
  std::string target;    // SIMD target
  int threads = 0;       // threads a run may use
  int64_t workspace_bytes = 0;
  std::vector<ParameterSource> sources;
  std::vector<std::string> reasons;  // why other variants or tiles were passed over

  // All of it as a few lines of text.
  LANEWISE_EXPORT std::string ToString() const;
};

// A validated, immutable decision how to compute one shape with one set of options. Cheap to copy
// (copies share the decision); safe to run from many threads at once, each with its own Workspace.
// A moved-from plan may be assigned to or destroyed, and nothing else.
class LANEWISE_EXPORT AttentionPlan {
 public:
  // Computes attention on `tensors`, for each batch item b, head h and query i:
  //
  //   s_j   = score of q[b,h,i] and k[b,h',j], edited    h' = h / (heads / kv_heads)
  //   l_i   = Σ_j exp(s_j) + exp(sink_h)                  over the keys j that i sees
  //   out_i = Σ_j exp(s_j) v[b,h',j] / l_i
  //   lse_i = ln l_i
  //   weights_ij = exp(s_j) / l_i
  //
  // (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1; the softmax is the blockwise online one
  // of Milakov and Gimelshein 2018, arXiv 1805.02867.)
  //
  // Edges: a row that sees no key gives out 0 and lse -inf, with a sink too. Keys that a row does
  // not see have no influence on it, whatever their k and v hold. NaN in a query, or in k or v that
  // it sees, gives NaN in that row (for v: in that column); a score of +inf gives NaN, one of -inf
  // has weight 0.
  //
  // Accuracy: f32 arithmetic, sums in order. With u = 2^-24 and n keys, to first order, a weight is
  // off by u * ((dim + 4) * Σ_d |scale q_d k_d| + 6 * (largest score - score) + 16) of itself, a
  // sum over the row by u * 9n/8 of the sum of magnitudes; errors seen are a few u. Weights more
  // than e^88 below the largest of their row, a sink included, may be 0 even where v is infinite
  // (and then give NaN). In brackets, softcap adds 12 * |s|, and bias or ALiBi 6 * (|s| + |bias| +
  // |ALiBi|). In place of the first term,
  //   bilinear   (dim + key_dim + 6) * Σ_dc |scale q_d W_dc k_c|
  //   additive   Σ_h |scale w_h| * ((hidden + 10) * |t_h| + (dim + 2) * Σ_d |W_q q|_hd
  //                                 + (key_dim + 2) * Σ_d |W_k k|_hd),  t_h the tanh
  //   Gaussian   (dim + 8) * ‖q - k‖² / (2 bandwidth²), wherever the rows lie
  // All of it while f32 holds what is computed on the way: scale * q, ‖q - k‖², and sums of values
  // times weights of up to e^13, before they are divided by the sum of the weights. Beyond, results
  // are infinite or NaN.
  //
  // A row of the result depends on that row's query, the keys it sees and on dim, value_dim, types,
  // the score and its parameters, the target and the plan's variant and kv_block, and on nothing
  // else: threads, batch, the other queries, rings, pages and the tile sizes do not change a bit of
  // it. The variant follows from the number of rows a kv head (queries times the heads that share
  // it), dim, value_dim, the score and the target.
  //
  // Stores to f16 and bf16 round to nearest, ties to even; subnormals are kept.
  //
  // Cost: O(queries * keys * (dim + value_dim)) arithmetic over the visible pairs, and for additive
  // scores `hidden` times tanh for each. The weights of bilinear and additive scores are applied to
  // a tile of queries once, and to a block of keys once for each tile of queries (of 256 rows if
  // there are as many), so nothing of size keys * hidden is stored.
  //
  // Threads and memory: as lanewise/runtime.h says. Scratch only in `workspace`, which must have
  // workspace_bytes().
  //
  // Errors, all before any byte is written: a null pointer, a size, type or stride that does not
  // fit the plan, overlapping output, a small workspace.
  Status Run(const AttentionTensors& tensors, Workspace& workspace) const noexcept;

  // Bytes that Run needs. Grows with threads and dim, and by 32 a batch item; never with queries x
  // keys, but for a mask: three bytes for each of its tiles (lanes of a lane group x kv_block
  // keys), for `few`: a row of results for each query row and kv_block keys of sequences that have
  // more than that (or of all, with weights), and for additive scores with `wk`: hidden x key_dim
  // floats.
  size_t workspace_bytes() const noexcept;

  PlanExplanation Explain() const;

  struct Decision;  // internal
  explicit AttentionPlan(std::shared_ptr<const Decision> decision) noexcept;
  const Decision& decision() const noexcept { return *decision_; }

 private:
  std::shared_ptr<const Decision> decision_;
};

// Validates everything that can be validated without the arrays and decides how to compute.
// Microseconds; allocates the plan. Thread-safe.
//
// Errors: kInvalidArgument for a negative size, dim 0, heads not a multiple of kv_heads, sizes or
// scratch whose product overflows 64 bits, a type other than f32, f16 and bf16, a scale or softcap
// that is not finite, a negative softcap, a side of the window below kUnlimited, top_left together
// with query_offset, ragged together with mask, bias, kv_len, kv_first, paged or weights, a
// bandwidth, scale, key_dim, hidden, wq or wk that does not fit the score, a number of threads that
// is negative or above 4096, an unknown target; kUnsupported for a target that this build or
// machine cannot do; kOutOfMemory.
LANEWISE_EXPORT Result<AttentionPlan> PlanAttention(
    const AttentionShape& shape, const AttentionOptions& options = {},
    const Runtime& runtime = DefaultRuntime()) noexcept;

// The one-call form: plans for the sizes and types of the arrays, allocates the workspace, runs.
//
//   std::vector<float> q(8 * 100 * 64), k(q), v(q), out(q.size());
//   lanewise::Sizes sizes = {1, 8, 100, 64};  // [batch, heads, queries or keys, dim]
//   lanewise::AttentionOptions options;
//   options.causal = true;
//   lanewise::Status status = lanewise::Attention(
//       {{q.data(), sizes}, {k.data(), sizes}, {v.data(), sizes}, {out.data(), sizes}}, options);
//
// Errors: those of PlanAttention and Run; kOutOfMemory.
LANEWISE_EXPORT Status Attention(const AttentionTensors& tensors,
                                 const AttentionOptions& options = {},
                                 const Runtime& runtime = DefaultRuntime()) noexcept;

// The same for the four plain arrays.
inline Status Attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                        const Tensor& out, const AttentionOptions& options = {},
                        const Runtime& runtime = DefaultRuntime()) noexcept {
  return Attention(AttentionTensors{q, k, v, out}, options, runtime);
}

// A result of attention over a part of the keys, with its log-sum-exp.
struct AttentionPart {
  ConstTensor out;  // f32 [batch, heads, queries, value_dim]
  ConstTensor lse;  // f32 [batch, heads, queries, 1]
};

// Merges results over disjoint parts of the keys into the result over all of them:
//
//   lse = ln Σ_p exp(lse_p)        out = Σ_p exp(lse_p - lse) out_p
//
// A part without keys (lse -inf) has no influence; rows without any key give 0 and -inf. Parts are
// added in index order. `lse` may be empty ({}) if it is not wanted; out and lse may be those of a
// part. Runs on the calling thread; allocates nothing. If the parts were computed with a sink, it
// counts once for each: give it to one part only.
//
// Errors: kInvalidArgument for no parts, or arrays of a part that do not fit `out`.
LANEWISE_EXPORT Status MergeAttention(const AttentionPart* parts, int64_t part_count,
                                      const Tensor& out, const Tensor& lse = {}) noexcept;

}  // namespace lanewise

#endif  // LANEWISE_ATTENTION_H_
