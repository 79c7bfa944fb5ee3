// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/kv_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "src/core/element_bytes.h"
#include "src/core/sizes.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

constexpr int32_t kNoPage = -1;

uint32_t PageBits(const FuzzCase& c, int64_t index) {
  return GenBits(~c.seed, static_cast<uint32_t>(index));
}

int64_t PagesPerItem(const FuzzCase& c) {
  if (c.page_size == 0) return 0;
  return core::DivideUp(c.shape.keys, c.page_size) + PageBits(c, 0) % 3;
}

Sizes SizesOf(const FuzzCase& c, int64_t columns) {
  if (c.page_size == 0) return {c.shape.batch, c.shape.kv_heads, c.shape.keys, columns};
  const int64_t spare_pages = PageBits(c, 1) % 4;
  return {c.shape.batch * PagesPerItem(c) + spare_pages, c.shape.kv_heads, c.page_size, columns};
}

Array MakeArray(const FuzzCase& c, const AttentionCase& description, int64_t columns,
                DataType type) {
  return Array(SizesOf(c, columns), description.kv_strides, description.placement, type);
}

int64_t FirstSlot(const FuzzCase& c, int64_t batch) {
  return c.kv_first.empty() ? 0 : c.kv_first[static_cast<size_t>(batch)];
}

int64_t ValidKeys(const FuzzCase& c, int64_t batch) {
  return c.kv_len.empty() ? c.shape.keys : c.kv_len[static_cast<size_t>(batch)];
}

int64_t SlotOf(const FuzzCase& c, int64_t batch, int64_t key) {
  return (FirstSlot(c, batch) + key) % c.shape.keys;
}

}  // namespace

bool HasKvSlots(const FuzzCase& c) { return !c.kv_first.empty() || c.page_size != 0; }

KvSlots::KvSlots(const FuzzCase& c, const PreparedCase& prepared)
    : prepared_(prepared),
      kv_first_(c.kv_first.size(), prepared.description().placement.guard),
      page_ids_(static_cast<size_t>(c.shape.batch * PagesPerItem(c)),
                prepared.description().placement.guard),
      pages_per_item_(PagesPerItem(c)),
      is_paged_(c.page_size != 0),
      k_(MakeArray(c, prepared.description(), prepared.description().key_dim(), c.shape.k_type)),
      v_(MakeArray(c, prepared.description(), c.shape.value_dim, c.shape.v_type)) {
  std::copy(c.kv_first.begin(), c.kv_first.end(), kv_first_.data());
  AssignPages(c);
  CopyRows(c, prepared.inputs().k, k_.view());
  CopyRows(c, prepared.inputs().v, v_.view());
}

void KvSlots::CopyRows(const FuzzCase& c, const ConstTensor& from, const Tensor& to) const {
  const int64_t element_bytes = core::ElementBytes(to.type);
  const auto byte_offset = [&](const Sizes& strides, const Sizes& at) {
    return (at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2]) * element_bytes;
  };
  for (int64_t b = 0; b < c.shape.batch; ++b) {
    for (int64_t key = 0; key < ValidKeys(c, b); ++key) {
      for (int64_t h = 0; h < c.shape.kv_heads; ++h) {
        std::memcpy(static_cast<char*>(to.data) + byte_offset(to.strides, PlaceOf(c, b, h, key)),
                    static_cast<const char*>(from.data) + byte_offset(from.strides, {b, h, key, 0}),
                    static_cast<size_t>(to.sizes[3] * element_bytes));
      }
    }
  }
}

void KvSlots::AssignPages(const FuzzCase& c) {
  if (c.page_size == 0) return;
  std::vector<int32_t> pages(static_cast<size_t>(SizesOf(c, 1)[0]));
  std::iota(pages.begin(), pages.end(), 0);
  for (size_t i = pages.size(); i > 1; --i) {
    std::swap(pages[i - 1], pages[PageBits(c, static_cast<int64_t>(i)) % i]);
  }
  std::fill_n(page_ids_.data(), page_ids_.size(), kNoPage);
  for (int64_t b = 0; b < c.shape.batch; ++b) {
    for (int64_t key = 0; key < ValidKeys(c, b); ++key) {
      const int64_t index = b * pages_per_item_ + SlotOf(c, b, key) / c.page_size;
      page_ids_[static_cast<size_t>(index)] = pages[static_cast<size_t>(index)];
    }
  }
}

Sizes KvSlots::PlaceOf(const FuzzCase& c, int64_t batch, int64_t kv_head, int64_t key) const {
  const int64_t slot = SlotOf(c, batch, key);
  if (!is_paged_) return {batch, kv_head, slot, 0};
  const int64_t index = batch * pages_per_item_ + slot / c.page_size;
  return {page_ids_[static_cast<size_t>(index)], kv_head, slot % c.page_size, 0};
}

AttentionRun KvSlots::Run(const Path& path) const {
  const AttentionCase& c = prepared_.description();
  AttentionOptions options = c.options;
  options.kv_first = kv_first_.size() != 0;
  options.paged = is_paged_;
  Array out(c.out_sizes(), c.out_strides, c.placement, c.shape.out_type);
  Array lse(options.lse ? c.lse_sizes() : Sizes{}, c.out_strides, c.placement);
  Array weights(options.weights ? c.pair_sizes() : Sizes{}, c.out_strides, c.placement);
  AttentionTensors tensors = prepared_.inputs();
  tensors.k = k_.view();
  tensors.v = v_.view();
  if (options.kv_first) tensors.kv_first = {kv_first_.data(), c.shape.batch};
  if (options.paged) tensors.page_table = {page_ids_.data(), c.shape.batch, pages_per_item_};
  tensors.out = out.view();
  if (options.lse) tensors.lse = lse.view();
  if (options.weights) tensors.weights = weights.view();

  AttentionRun run;
  const Result<PlanExplanation> plan = RunOnPath(c.shape, options, path, tensors);
  if (plan.ok()) {
    run.plan = *plan;
  } else {
    ADD_FAILURE() << plan.status().message() << "\n" << path.ToString() << "; " << c.ToString();
  }
  for (const Array* array : {&out, &lse, &weights}) {
    EXPECT_TRUE(array->IsPaddingIntact()) << "padding was overwritten; " << c.ToString();
  }
  run.out = out.Values();
  run.lse = lse.Values();
  run.weights = weights.Values();
  return run;
}

}  // namespace lanewise::testing
