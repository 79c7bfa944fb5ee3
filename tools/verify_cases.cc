// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The list of cases, but for those of score functions, of decoding and of 16-bit types.

#include "tools/verify_cases.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace lanewise::tools {
namespace {

constexpr std::pair<const char*, Pairs> kPairs[] = {{"for each pair", Pairs::kEach},
                                                    {"that heads share", Pairs::kShared},
                                                    {"for each key", Pairs::kPerKey},
                                                    {"for each row", Pairs::kPerRow}};

AttentionOptions WithLse() {
  AttentionOptions options;
  options.lse = true;
  return options;
}

AttentionOptions Causal(AttentionWindow window) {
  AttentionOptions options = WithLse();
  options.causal = true;
  options.window = window;
  return options;
}

// Options that hide keys by position, and what to call them.
std::vector<std::pair<const char*, AttentionOptions>> Positions() {
  return {{"", WithLse()}, {", causal", Causal({})}, {", window 6, 0, causal", Causal({6, 0})}};
}

// Builds the list of cases.
class CaseList {
 public:
  std::vector<VerifyCase> Make() {
    AddSizes();
    AddCausal();
    AddWindows();
    AddHeadsAndLayouts();
    AddNumbers();
    AddMasks();
    AddBiases();
    AddScoreEdits();
    AddLengths();
    AddRagged();
    AddTogether();
    return std::move(cases_);
  }

 private:
  // A case of one batch item and head, to be changed by the caller.
  VerifyCase& Add(std::string name, int64_t queries, int64_t keys, int64_t dim) {
    VerifyCase& added = cases_.emplace_back();
    added.name = std::move(name);
    added.shape.queries = queries;
    added.shape.keys = keys;
    added.shape.dim = dim;
    added.shape.value_dim = dim;
    added.options.lse = true;
    return added;
  }

  void AddSizes() {
    // Around lane groups of 4 to 64 lanes.
    for (const int64_t queries :
         {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 130}) {
      Add(fmt::format("{} queries", queries), queries, 40, 16);
    }
    // Around the rows of a tile and the edges of a kv block.
    for (const int64_t keys :
         {0, 1, 2, 3, 5, 6, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 257, 1000}) {
      Add(fmt::format("{} keys", keys), 19, keys, 8);
    }
    for (const int64_t dim : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 80, 128, 129}) {
      Add(fmt::format("dim {}", dim), 21, 37, dim).shape.value_dim = 130 - dim;
    }
    Add("no values", 5, 9, 4).shape.value_dim = 0;
  }

  void AddCausal() {
    const std::pair<int64_t, int64_t> sizes[] = {{33, 33}, {16, 100}, {100, 16}, {65, 300}};
    for (const auto& [queries, keys] : sizes) {
      const std::string size = fmt::format("{} queries, {} keys", queries, keys);
      Add("causal, " + size, queries, keys, 16).options.causal = true;
      VerifyCase& top_left = Add("causal, top left, " + size, queries, keys, 16);
      top_left.options.causal = true;
      top_left.options.top_left = true;
      for (const int64_t offset : {-12, -1, 7}) {
        VerifyCase& moved =
            Add(fmt::format("causal, offset {}, {}", offset, size), queries, keys, 16);
        moved.options.causal = true;
        moved.options.query_offset = offset;
      }
    }
    VerifyCase& empty = Add("causal, no row sees a key", 20, 20, 8);
    empty.options.causal = true;
    empty.options.query_offset = -1000;
  }

  void AddWindows() {
    const AttentionWindow windows[] = {{0, 0},           {3, 3},  {17, 0}, {2, kUnlimited},
                                       {kUnlimited, 1},  {40, 7}, {0, 90}, {INT64_MAX, INT64_MAX},
                                       {500, kUnlimited}};
    const std::pair<int64_t, int64_t> sizes[] = {{33, 33}, {16, 100}, {70, 16}, {65, 300}};
    for (const auto& [queries, keys] : sizes) {
      const std::string size = fmt::format("{} queries, {} keys", queries, keys);
      for (const AttentionWindow& window : windows) {
        const std::string name = fmt::format("window {}, {}, ", window.left, window.right);
        Add(name + size, queries, keys, 16).options.window = window;
      }
      VerifyCase& causal = Add("window 9, 4, causal, " + size, queries, keys, 16);
      causal.options.window = {9, 4};
      causal.options.causal = true;
      VerifyCase& top_left = Add("window 6, 2, top left, " + size, queries, keys, 16);
      top_left.options.window = {6, 2};
      top_left.options.top_left = true;
      VerifyCase& moved = Add("window 1, 30, offset -20, " + size, queries, keys, 16);
      moved.options.window = {1, 30};
      moved.options.query_offset = -20;
    }
    VerifyCase& some = Add("window 20, 5, NaN and inf in a few keys", 70, 150, 24);
    some.options.window = {20, 5};
    some.options.weights = true;
    some.content = Content::kNotFiniteKeys;
    VerifyCase& unseen = Add("window 3, 3, NaN and inf out of sight", 40, 150, 24);
    unseen.options.window = {3, 3};
    unseen.options.query_offset = 50;
    unseen.content = Content::kNotFiniteUnseen;
  }

  void AddHeadsAndLayouts() {
    const std::pair<const char*, Layout> layouts[] = {{"dense", Layout::kDense},
                                                      {"padded rows", Layout::kPadded},
                                                      {"heads inside rows", Layout::kPacked},
                                                      {"broadcast heads", Layout::kShared}};
    const std::pair<int64_t, int64_t> heads[] = {{4, 4}, {8, 2}, {3, 1}};
    for (const auto& [name, layout] : layouts) {
      for (const auto& [query_heads, kv_heads] : heads) {
        for (const bool causal : {false, true}) {
          VerifyCase& added = Add(fmt::format("{} heads over {}, {}{}", query_heads, kv_heads, name,
                                              causal ? ", causal" : ""),
                                  18, 35, 12);
          added.shape.batch = 2;
          added.shape.heads = query_heads;
          added.shape.kv_heads = kv_heads;
          added.shape.value_dim = 20;
          added.options.causal = causal;
          added.options.weights = query_heads == 8;
          added.layout = layout;
        }
      }
    }
  }

  void AddNumbers() {
    Add("scale 0", 17, 33, 16).options.scale = 0.0f;
    Add("negative scale", 17, 33, 16).options.scale = -2.0f;
    const std::pair<const char*, Content> contents[] = {
        {"scores in the hundreds", Content::kLargeScores},
        {"large and small values", Content::kLargeValues},
        {"NaN and inf in a few keys", Content::kNotFiniteKeys},
        {"NaN in one query", Content::kNanQuery}};
    for (const auto& [name, content] : contents) {
      VerifyCase& added = Add(name, 70, 150, 24);
      added.options.causal = content == Content::kNotFiniteKeys;
      added.content = content;
    }
    Add("many keys", 66, 2000, 64);
    Add("many keys, causal", 66, 2000, 64).options.causal = true;
  }

  // Two batch items of four heads that share two.
  VerifyCase& AddHeads(std::string name, int64_t queries, int64_t keys) {
    VerifyCase& added = Add(std::move(name), queries, keys, 12);
    added.shape.batch = 2;
    added.shape.heads = 4;
    added.shape.kv_heads = 2;
    added.shape.value_dim = 9;
    return added;
  }

  VerifyCase& AddMasked(std::string name, Pairs mask, int64_t queries, int64_t keys) {
    VerifyCase& added = AddHeads(std::move(name), queries, keys);
    added.options.mask = true;
    added.mask = mask;
    return added;
  }

  VerifyCase& AddBiased(std::string name, Pairs bias, int64_t queries, int64_t keys) {
    VerifyCase& added = AddHeads(std::move(name), queries, keys);
    added.options.bias = true;
    added.bias = bias;
    return added;
  }

  void AddMasks() {
    for (const auto& [name, pairs] : kPairs) {
      AddMasked(fmt::format("mask {}", name), pairs, 21, 35);
      AddMasked(fmt::format("mask {}, weights", name), pairs, 33, 50).options.weights = true;
      VerifyCase& causal = AddMasked(fmt::format("mask {}, causal", name), pairs, 35, 41);
      causal.options.causal = true;
      causal.layout = Layout::kPacked;
      VerifyCase& blocks = AddMasked(fmt::format("mask {}, in blocks", name), pairs, 70, 200);
      blocks.pattern = Pattern::kBlocks;
      blocks.kv_block = 32;
    }
    AddMasked("mask that hides nothing", Pairs::kShared, 40, 70).pattern = Pattern::kNothing;
    VerifyCase& some = AddMasked("mask, NaN and inf in a few keys", Pairs::kEach, 70, 90);
    some.content = Content::kNotFiniteKeys;
    some.options.weights = true;
    AddMasked("mask, NaN and inf out of sight", Pairs::kPerKey, 30, 90).content =
        Content::kNotFiniteUnseen;
    VerifyCase& window = AddMasked("mask, window 10, 10", Pairs::kEach, 50, 130);
    window.options.window = {10, 10};
    window.pattern = Pattern::kBlocks;
    window.kv_block = 32;
  }

  void AddBiases() {
    for (const auto& [name, pairs] : kPairs) {
      AddBiased(fmt::format("bias {}", name), pairs, 21, 35).layout = Layout::kPadded;
      AddBiased(fmt::format("bias {}, weights", name), pairs, 33, 50).options.weights = true;
      VerifyCase& finite = AddBiased(fmt::format("bias {}, finite", name), pairs, 40, 70);
      finite.pattern = Pattern::kNothing;
      finite.options.causal = true;
    }
    VerifyCase& some = AddBiased("bias, NaN and inf out of sight", Pairs::kPerKey, 30, 90);
    some.content = Content::kNotFiniteUnseen;
    VerifyCase& blocks = AddBiased("bias, in blocks", Pairs::kShared, 70, 200);
    blocks.pattern = Pattern::kBlocks;
    blocks.kv_block = 32;
  }

  // Softcap, ALiBi and sinks.
  void AddScoreEdits() {
    for (const float cap : {0.01f, 1.0f, 30.0f, 1e30f}) {
      Add(fmt::format("softcap {}", cap), 35, 70, 16).options.softcap = cap;
      VerifyCase& large = Add(fmt::format("softcap {}, large scores", cap), 35, 70, 16);
      large.options.softcap = cap;
      large.options.causal = true;
      large.content = Content::kLargeScores;
    }
    for (const auto& [name, options] : Positions()) {
      for (const auto& [queries, keys] : {std::pair(30, 70), std::pair(66, 40)}) {
        const std::string rest = fmt::format("{}, {} queries, {} keys", name, queries, keys);
        VerifyCase& alibi = AddHeads("ALiBi" + rest, queries, keys);
        alibi.options = options;
        alibi.options.alibi_slopes = true;
        VerifyCase& sinks = AddHeads("sinks" + rest, queries, keys);
        sinks.options = options;
        sinks.options.sinks = true;
        sinks.options.weights = true;
      }
    }
    VerifyCase& moved = AddHeads("ALiBi, offset 1000", 20, 50);
    moved.options.alibi_slopes = true;
    moved.options.query_offset = 1000;
    VerifyCase& capped = AddHeads("softcap 2, sinks, large scores", 20, 50);
    capped.options.softcap = 2.0f;
    capped.options.sinks = true;
    capped.content = Content::kLargeScores;
  }

  void AddLengths() {
    for (const auto& [name, options] : Positions()) {
      VerifyCase& added = AddHeads(fmt::format("kv_len{}", name), 18, 90);
      added.options = options;
      added.options.kv_len = true;
      added.options.weights = true;
      added.shape.batch = 5;
      added.kv_len = {0, 90, 17, 1, 64};
      added.content = Content::kNotFiniteUnseen;
    }
  }

  void AddRagged() {
    for (const auto& [name, options] : Positions()) {
      VerifyCase& added = AddHeads(fmt::format("ragged{}", name), 100, 120);
      added.options = options;
      added.options.ragged = true;
      added.shape.batch = 6;
      added.q_offsets = {0, 0, 17, 18, 40, 40, 100};
      added.k_offsets = {0, 9, 20, 53, 53, 70, 120};
      added.layout = Layout::kPacked;
    }
    VerifyCase& edited = AddHeads("ragged, ALiBi, sinks, softcap 3", 70, 60);
    edited.options = Causal({});
    edited.options.ragged = true;
    edited.options.alibi_slopes = true;
    edited.options.sinks = true;
    edited.options.softcap = 3.0f;
    edited.q_offsets = {0, 33, 70};
    edited.k_offsets = {0, 21, 60};
  }

  void AddTogether() {
    for (const int64_t kv_block : {0, 32}) {
      const std::string block = kv_block == 0 ? "" : fmt::format(", kv_block {}", kv_block);
      VerifyCase& added = AddMasked("all options" + block, Pairs::kEach, 45, 110);
      added.options.bias = true;
      added.bias = Pairs::kPerRow;
      added.options.window = {60, 3};
      added.options.causal = true;
      added.options.softcap = 5.0f;
      added.options.scale = 0.7f;
      added.options.alibi_slopes = true;
      added.options.sinks = true;
      added.options.weights = true;
      added.options.kv_len = true;
      added.kv_len = {110, 77};
      added.layout = Layout::kPadded;
      added.kv_block = kv_block;
    }
  }

  std::vector<VerifyCase> cases_;
};

}  // namespace

std::vector<VerifyCase> VerifyCases() {
  std::vector<VerifyCase> cases = CaseList().Make();
  for (VerifyCase& scored : VerifyScoreCases()) cases.push_back(std::move(scored));
  for (VerifyCase& typed : VerifyTypeCases()) cases.push_back(std::move(typed));
  return cases;
}

}  // namespace lanewise::tools
