// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Which keys are poisoned, and who sees them.

#include "tests/fuzz/hidden_keys.h"

#include <cstring>
#include <limits>
#include <set>

#include "src/core/element_bytes.h"
#include "src/reference/attention.h"
#include "tests/fuzz/coordinates.h"

namespace lanewise::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();

const char* RowOf(const ConstTensor& tensor, int64_t batch, int64_t head, int64_t row) {
  const int64_t elements =
      batch * tensor.strides[0] + head * tensor.strides[1] + row * tensor.strides[2];
  return static_cast<const char*>(tensor.data) + elements * core::ElementBytes(tensor.type);
}

// The rows of k, by address, that anybody sees: with strides of 0 several keys are one row.
std::set<const char*> SeenMemory(const AttentionTensors& inputs,
                                 const std::vector<SeeingRow>& rows) {
  std::set<const char*> seen;
  for (const SeeingRow& row : rows) {
    for (const int64_t key : row.keys) seen.insert(RowOf(inputs.k, row.batch, row.kv_head, key));
  }
  return seen;
}

float PoisonValue(PoisonKind kind, uint32_t bits) {
  if (kind == PoisonKind::kHiddenNan || kind == PoisonKind::kSomeNan) return kNan;
  if (kind == PoisonKind::kHiddenInf && bits % 3 == 0) return kLargest;
  if (kind == PoisonKind::kQueries && bits % 3 == 0) return kNan;
  return bits % 2 == 0 ? kInfinity : -kInfinity;
}

// A row of k or v, all of it.
void PoisonRow(PoisonKind kind, uint32_t bits, size_t row, size_t width,
               std::vector<float>& values) {
  for (size_t d = 0; d < width; ++d) values[row * width + d] = PoisonValue(kind, bits >> d % 8);
}

bool RowsDiffer(const ConstTensor& a, const ConstTensor& b, const Sizes& at) {
  return a.sizes[3] != 0 &&
         std::memcmp(RowOf(a, at[0], at[1], at[2]), RowOf(b, at[0], at[1], at[2]),
                     static_cast<size_t>(a.sizes[3] * core::ElementBytes(a.type))) != 0;
}

}  // namespace

std::vector<SeeingRow> ListSeeingRows(const AttentionTensors& inputs,
                                      const AttentionOptions& options) {
  std::vector<SeeingRow> rows;
  ForEach({inputs.q.sizes[0], inputs.q.sizes[1], inputs.q.sizes[2], 1}, [&](const Sizes& at) {
    SeeingRow& row = rows.emplace_back();
    row.batch = at[0];
    row.head = at[1];
    row.query = at[2];
    row.kv_head = reference::KvHeadOf(inputs, at[1]);
    for (const reference::SeenKey& key :
         reference::SeenKeys(inputs, options, {at[0], at[1], at[2]})) {
      row.keys.push_back(key.key);
    }
  });
  return rows;
}

void Poison(const FuzzCase& c, const AttentionTensors& clean, const std::vector<SeeingRow>& rows,
            FuzzData& data) {
  const bool hidden_only = c.poison == PoisonKind::kHiddenNan || c.poison == PoisonKind::kHiddenInf;
  const std::set<const char*> seen = SeenMemory(clean, rows);
  const Field field(c.seed, Purpose::kPoison);
  const size_t dim = static_cast<size_t>(data.k_sizes[3]);
  if (c.poison == PoisonKind::kQueries) {
    const size_t q_dim = static_cast<size_t>(data.q_sizes[3]);
    for (size_t row = 0; row < rows.size(); ++row) {
      const uint32_t bits = GenBits(c.seed, static_cast<uint32_t>(row));
      if (bits % 8 != 0) continue;
      data.q[row * q_dim + (bits >> 8) % q_dim] = PoisonValue(c.poison, bits >> 4);
    }
    return;
  }
  const size_t value_dim = static_cast<size_t>(data.v_sizes[3]);
  const Sizes key_rows = {data.k_sizes[0], data.k_sizes[1], data.k_sizes[2], 1};
  ForEach(key_rows, [&](const Sizes& at) {
    const size_t row = Offset(key_rows, at);
    const uint32_t bits = field.Bits(at);
    if (hidden_only) {
      if (seen.contains(RowOf(clean.k, at[0], at[1], at[2]))) return;
      PoisonRow(c.poison, bits, row, dim, data.k);
      PoisonRow(c.poison, bits, row, value_dim, data.v);
      return;
    }
    if (bits % 8 != 0) return;
    // An infinite value times a weight that may be flushed to 0 is either infinite or NaN, so
    // infinities go to the keys alone.
    const bool in_keys = c.poison == PoisonKind::kSomeInf || value_dim == 0 || (bits >> 3) % 2 == 0;
    float& element = in_keys ? data.k[row * dim + (bits >> 8) % dim]
                             : data.v[row * value_dim + (bits >> 8) % value_dim];
    element = PoisonValue(c.poison, bits >> 4);
  });
}

std::vector<bool> SeesDifference(const AttentionTensors& before, const AttentionTensors& after,
                                 const std::vector<SeeingRow>& rows) {
  const Sizes key_rows = {before.k.sizes[0], before.k.sizes[1], before.k.sizes[2], 1};
  std::vector<bool> differs;
  ForEach(key_rows, [&](const Sizes& at) {
    differs.push_back(RowsDiffer(before.k, after.k, at) || RowsDiffer(before.v, after.v, at));
  });
  std::vector<bool> sees;
  for (const SeeingRow& row : rows) {
    bool any = RowsDiffer(before.q, after.q, {row.batch, row.head, row.query});
    for (const int64_t key : row.keys) {
      any = any || differs[Offset(key_rows, {row.batch, row.kv_head, key, 0})];
    }
    sees.push_back(any);
  }
  return sees;
}

}  // namespace lanewise::testing
