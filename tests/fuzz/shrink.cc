// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Each change makes one thing about a case simpler. The boldest are tried first; the first that
// keeps the case failing is taken, and everything starts over.

#include "tests/fuzz/shrink.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lanewise::testing {
namespace {

// Collects the cases that are one change simpler than `from`.
class SimplerCases {
 public:
  explicit SimplerCases(const FuzzCase& from) : from_(from), from_text_(ToText(from)) {
    DropInputs();
    DropOptions();
    DropTypes();
    DropLayoutAndPath();
    ReduceSizes();
    ReduceAxes();
    ReduceNumbers();
  }

  std::vector<FuzzCase> Take() { return std::move(cases_); }

 private:
  // Adds what `change` makes of the case, unless that is the same case.
  template <typename Change>
  void Try(const Change& change) {
    FuzzCase c = from_;
    change(c);
    Normalize(c);
    if (ToText(c) != from_text_) cases_.push_back(std::move(c));
  }

  // Smaller numbers for one that `get` refers to: `smallest`, then half way there, then one less.
  template <typename Get>
  void Reduce(int64_t smallest, const Get& get) {
    FuzzCase copy = from_;
    const int64_t value = get(copy);
    if (value <= smallest) return;
    int64_t previous = value;
    for (const int64_t smaller : {smallest, smallest + (value - smallest) / 2, value - 1}) {
      if (smaller == previous) continue;
      previous = smaller;
      Try([&](FuzzCase& c) { get(c) = smaller; });
    }
  }

  void DropInputs() {
    Try([](FuzzCase& c) { c.mask = {}; });
    Try([](FuzzCase& c) { c.bias = {}; });
    Try([](FuzzCase& c) { c.slopes = SlopesKind::kNone; });
    Try([](FuzzCase& c) { c.sinks = SinksKind::kNone; });
    Try([](FuzzCase& c) { c.kv_len.clear(); });
    Try([](FuzzCase& c) { c.kv_first.clear(); });
    Try([](FuzzCase& c) { c.page_size = 0; });
    Try([](FuzzCase& c) { c.poison = PoisonKind::kNone; });
    Try([](FuzzCase& c) { c.data = DataKind::kUniform; });
    // Ragged sequences become a plain batch of their longest sizes.
    Try([](FuzzCase& c) {
      if (c.sequences.empty()) return;
      FuzzCase::Sequence longest;
      for (const FuzzCase::Sequence& sequence : c.sequences) {
        longest.queries = std::max(longest.queries, sequence.queries);
        longest.keys = std::max(longest.keys, sequence.keys);
      }
      c.sequences.clear();
      c.shape.queries = longest.queries;
      c.shape.keys = longest.keys;
    });
    // Or of all that they have together.
    Try([](FuzzCase& c) { c.sequences.clear(); });
  }

  void DropOptions() {
    Try([](FuzzCase& c) { c.options.score = AttentionScore::kDot; });
    Try([](FuzzCase& c) { c.options.wq = false; });
    Try([](FuzzCase& c) { c.options.wk = false; });
    Try([](FuzzCase& c) { c.options.bandwidth.reset(); });
    Try([](FuzzCase& c) { c.options.window = {}; });
    Try([](FuzzCase& c) { c.options.window.left = kUnlimited; });
    Try([](FuzzCase& c) { c.options.window.right = kUnlimited; });
    Try([](FuzzCase& c) { c.options.causal = false; });
    Try([](FuzzCase& c) { c.options.query_offset.reset(); });
    Try([](FuzzCase& c) { c.options.top_left = false; });
    Try([](FuzzCase& c) { c.options.softcap.reset(); });
    Try([](FuzzCase& c) { c.options.scale.reset(); });
    Try([](FuzzCase& c) { c.options.weights = false; });
    Try([](FuzzCase& c) { c.options.lse = false; });
  }

  void DropTypes() {
    Try([](FuzzCase& c) {
      c.shape.q_type = c.shape.k_type = c.shape.v_type = c.shape.out_type = DataType::kF32;
    });
    Try([](FuzzCase& c) { c.shape.q_type = DataType::kF32; });
    Try([](FuzzCase& c) { c.shape.k_type = DataType::kF32; });
    Try([](FuzzCase& c) { c.shape.v_type = DataType::kF32; });
    Try([](FuzzCase& c) { c.shape.out_type = DataType::kF32; });
  }

  void DropLayoutAndPath() {
    Try([](FuzzCase& c) { c.q_layout = LayoutKind::kDense; });
    Try([](FuzzCase& c) { c.kv_layout = LayoutKind::kDense; });
    Try([](FuzzCase& c) { c.pair_layout = LayoutKind::kDense; });
    Try([](FuzzCase& c) { c.out_layout = LayoutKind::kDense; });
    Try([](FuzzCase& c) { c.guard_before = false; });
    Try([](FuzzCase& c) { c.path.runtime.threads = 1; });
    Try([](FuzzCase& c) { c.path.overrides = {}; });
    Try([](FuzzCase& c) { c.path.overrides.grain = 0; });
    Try([](FuzzCase& c) { c.path.overrides.q_groups = 0; });
    Try([](FuzzCase& c) { c.path.overrides.tile.clear(); });
    Try([](FuzzCase& c) { c.path.overrides.variant.clear(); });
    Try([](FuzzCase& c) { c.path.overrides.kv_block = 0; });
    // A tile belongs to its target.
    Try([](FuzzCase& c) {
      if (c.path.overrides.tile.empty()) c.path.runtime.target.clear();
    });
  }

  void ReduceSizes() {
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.batch; });
    ReduceHeads();
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.queries; });
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.keys; });
    for (size_t b = 0; b < from_.sequences.size(); ++b) {
      Try([b](FuzzCase& c) { c.sequences.erase(c.sequences.begin() + static_cast<int64_t>(b)); });
      Reduce(0, [b](FuzzCase& c) -> int64_t& { return c.sequences[b].queries; });
      Reduce(0, [b](FuzzCase& c) -> int64_t& { return c.sequences[b].keys; });
    }
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.dim; });
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.value_dim; });
    if (from_.shape.key_dim != 0)
      Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.key_dim; });
    if (from_.shape.hidden != 0) Reduce(1, [](FuzzCase& c) -> int64_t& { return c.shape.hidden; });
  }

  // Fewer kv heads with groups of the same size, then smaller groups.
  void ReduceHeads() {
    const int64_t group = from_.shape.heads / from_.shape.kv_heads;
    for (int64_t kv_heads = 1; kv_heads < from_.shape.kv_heads; ++kv_heads) {
      Try([&](FuzzCase& c) {
        c.shape.kv_heads = kv_heads;
        c.shape.heads = kv_heads * group;
      });
    }
    for (int64_t smaller = 1; smaller < group; ++smaller) {
      Try([&](FuzzCase& c) { c.shape.heads = c.shape.kv_heads * smaller; });
    }
  }

  void ReduceAxes() {
    for (size_t axis = 0; axis < 4; ++axis) {
      Try([axis](FuzzCase& c) { c.mask.varies[axis] = false; });
      Try([axis](FuzzCase& c) { c.bias.varies[axis] = false; });
    }
  }

  void ReduceNumbers() {
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.path.overrides.kv_block; });
    Reduce(1, [](FuzzCase& c) -> int64_t& { return c.path.overrides.q_groups; });
    Reduce(0, [](FuzzCase& c) -> int64_t& { return c.options.window.left; });
    Reduce(0, [](FuzzCase& c) -> int64_t& { return c.options.window.right; });
    for (size_t b = 0; b < from_.kv_len.size(); ++b) {
      Reduce(0, [b](FuzzCase& c) -> int64_t& { return c.kv_len[b]; });
    }
    for (size_t b = 0; b < from_.kv_first.size(); ++b) {
      Reduce(0, [b](FuzzCase& c) -> int64_t& { return c.kv_first[b]; });
    }
    if (from_.page_size != 0) Reduce(1, [](FuzzCase& c) -> int64_t& { return c.page_size; });
    if (from_.options.query_offset) {
      Reduce(0, [](FuzzCase& c) -> int64_t& { return *c.options.query_offset; });
      if (*from_.options.query_offset < 0) {
        Try([](FuzzCase& c) { c.options.query_offset = *c.options.query_offset / 2; });
        Try([](FuzzCase& c) { ++*c.options.query_offset; });
      }
    }
    // A round number in place of a random one.
    Try([](FuzzCase& c) {
      if (c.options.scale) c.options.scale = 1.0F;
    });
    Try([](FuzzCase& c) {
      if (c.options.softcap) c.options.softcap = 1.0F;
    });
  }

  const FuzzCase& from_;
  std::string from_text_;
  std::vector<FuzzCase> cases_;
};

}  // namespace

FuzzCase Shrink(const FuzzCase& failing, const std::function<bool(const FuzzCase&)>& fails,
                int64_t most_tries) {
  FuzzCase smallest = failing;
  for (bool progress = true; progress;) {
    progress = false;
    for (FuzzCase& simpler : SimplerCases(smallest).Take()) {
      if (most_tries-- <= 0) return smallest;
      if (!fails(simpler)) continue;
      smallest = std::move(simpler);
      progress = true;
      break;
    }
  }
  return smallest;
}

}  // namespace lanewise::testing
