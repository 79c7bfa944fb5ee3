// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/attention_variant.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

// Each block of so many values twice, one after the other.
template <typename T>
std::vector<T> EachTwice(const std::vector<T>& values, int64_t block) {
  std::vector<T> twice;
  twice.reserve(2 * values.size());
  for (auto at = values.begin(); at != values.end(); at += block) {
    twice.insert(twice.end(), at, at + block);
    twice.insert(twice.end(), at, at + block);
  }
  return twice;
}

// The first of each two blocks, which have to be the same.
std::vector<float> EachOnce(const std::vector<float>& values, int64_t block,
                            const std::string& where) {
  std::vector<float> first;
  std::vector<float> second;
  for (auto at = values.begin(); at != values.end(); at += 2 * block) {
    first.insert(first.end(), at, at + block);
    second.insert(second.end(), at + block, at + 2 * block);
  }
  EXPECT_TRUE(SameBits(second, first)) << "heads that are there twice differ: " << where;
  return first;
}

// A mask or bias that broadcasts over one head does so over two.
template <typename T>
void DoublePairs(Sizes& sizes, std::vector<T>& values) {
  if (sizes[1] <= 1) return;
  values = EachTwice(values, sizes[2] * sizes[3]);
  sizes[1] *= 2;
}

// Query heads 2h and 2h + 1 are what h was, over the same kv heads.
void DoubleHeads(AttentionCase& c) {
  const Sizes sizes = c.q_sizes();
  c.q = EachTwice(c.q.empty() ? Gen(1, Count(sizes)) : c.q, sizes[2] * sizes[3]);
  DoublePairs(c.mask_sizes, c.mask);
  DoublePairs(c.bias_sizes, c.bias);
  c.alibi_slopes = EachTwice(c.alibi_slopes, 1);
  c.sinks = EachTwice(c.sinks, 1);
  c.shape.heads *= 2;
}

}  // namespace

AttentionRun RunVariant(const AttentionCase& description, const Path& path) {
  AttentionCase c = description;
  // Ragged batches take no mask.
  if (path.mask && !c.options.mask && !c.options.ragged) {
    const Sizes sizes = {1, 1, c.shape.queries, c.shape.keys};
    c.SetMask(sizes, std::vector<uint8_t>(static_cast<size_t>(Count(sizes)), 1));
  }
  if (path.shared_heads) DoubleHeads(c);
  Path plain = path;
  plain.mask = plain.shared_heads = false;
  AttentionRun run = PreparedCase(c).Run(plain);
  if (!path.shared_heads) return run;
  const std::string where = path.ToString() + "; " + c.ToString();
  const int64_t queries = c.shape.queries;
  run.out = EachOnce(run.out, queries * c.shape.value_dim, where);
  run.lse = EachOnce(run.lse, queries, where);
  run.weights = EachOnce(run.weights, queries * c.shape.keys, where);
  return run;
}

}  // namespace lanewise::testing
