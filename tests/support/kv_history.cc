// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/kv_history.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/support/gen.h"
#include "tests/support/half.h"

namespace lanewise::testing {
namespace {

// Pages of the pool that no item owns.
constexpr int64_t kSparePages = 3;

int64_t PagesPerItem(const KvCase& c) { return c.page_size == 0 ? 1 : c.slots / c.page_size; }

Sizes CacheSizes(const KvCase& c, int64_t columns) {
  if (c.page_size == 0) return {c.batch, c.kv_heads, c.slots, columns};
  return {c.batch * PagesPerItem(c) + kSparePages, c.kv_heads, c.page_size, columns};
}

std::vector<float> RoundedTo(DataType type, std::vector<float> values) {
  for (float& value : values) value = Rounded(type, value);
  return values;
}

}  // namespace

std::string KvCase::ToString() const {
  std::string text = "batch " + std::to_string(batch) + ", kv_heads " + std::to_string(kv_heads) +
                     ", slots " + std::to_string(slots) + ", page_size " +
                     std::to_string(page_size) + ", dim " + std::to_string(dim) + ", value_dim " +
                     std::to_string(value_dim) + (ring ? ", ring" : "") + ", window_left " +
                     std::to_string(window_left);
  for (const DataType type : {new_k_type, k_type, new_v_type, v_type}) {
    text += " " + std::string(DataTypeName(type));
  }
  return text;
}

KvHistory::KvHistory(const KvCase& description)
    : case_(description),
      k_(CacheSizes(case_, case_.dim), case_.strides, {.guard = case_.guard}, case_.k_type),
      v_(CacheSizes(case_, case_.value_dim), case_.strides, {.guard = case_.guard}, case_.v_type),
      length_(static_cast<size_t>(case_.batch), case_.guard),
      oldest_(static_cast<size_t>(case_.batch), case_.guard),
      page_ids_(case_.page_size == 0 ? 0 : static_cast<size_t>(case_.batch * PagesPerItem(case_)),
                case_.guard),
      held_(static_cast<size_t>(case_.batch)),
      recorded_length_(static_cast<size_t>(case_.batch), 0) {
  const Sizes sizes = k_.view().sizes;
  is_row_written_.assign(static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]), false);
  cache_.k = k_.view();
  cache_.v = v_.view();
  cache_.length = length_.data();
  if (case_.ring) cache_.oldest = oldest_.data();
  cache_.batch = case_.batch;
  cache_.window_left = case_.window_left;
  if (case_.page_size == 0) return;

  std::vector<int32_t> pages(static_cast<size_t>(sizes[0]));
  std::iota(pages.begin(), pages.end(), 0);
  for (size_t i = pages.size(); i > 1; --i) {
    std::swap(pages[i - 1], pages[GenBits(77, static_cast<uint32_t>(i)) % i]);
  }
  std::copy_n(pages.begin(), page_ids_.size(), page_ids_.data());
  cache_.page_table = {page_ids_.data(), case_.batch, PagesPerItem(case_)};
}

KvToken KvHistory::MakeToken() {
  const uint32_t seed = 1000 + tokens_made_++;
  const std::vector<float> values = Gen(seed, case_.kv_heads * (case_.dim + case_.value_dim), 4.0F);
  const auto middle = values.begin() + case_.kv_heads * case_.dim;
  return {{values.begin(), middle}, {middle, values.end()}};
}

Status KvHistory::Append(int64_t count) {
  std::vector<std::vector<KvToken>> tokens(static_cast<size_t>(case_.batch));
  for (auto& item : tokens) {
    for (int64_t i = 0; i < count; ++i) item.push_back(MakeToken());
  }
  return AppendTokens(tokens, false);
}

Status KvHistory::Append(const std::vector<int64_t>& counts) {
  std::vector<std::vector<KvToken>> tokens(counts.size());
  for (size_t b = 0; b < counts.size(); ++b) {
    for (int64_t i = 0; i < counts[b]; ++i) tokens[b].push_back(MakeToken());
  }
  return AppendTokens(tokens, true);
}

Status KvHistory::Append(const std::vector<KvToken>& tokens) {
  return AppendTokens({tokens}, false);
}

Status KvHistory::AppendTokens(const std::vector<std::vector<KvToken>>& tokens, bool with_counts) {
  GuardedArray<int64_t> counts(with_counts ? tokens.size() : 0, case_.guard);
  size_t rows = 0;
  for (size_t b = 0; b < tokens.size(); ++b) {
    rows = std::max(rows, tokens[b].size());
    if (with_counts) counts[b] = static_cast<int64_t>(tokens[b].size());
  }
  const auto make_array = [&](std::vector<float> KvToken::*part, DataType type, int64_t columns) {
    const Sizes sizes = {case_.batch, case_.kv_heads, static_cast<int64_t>(rows), columns};
    std::vector<float> values(static_cast<size_t>(Count(sizes)),
                              std::bit_cast<float>(kUnwrittenBits));
    auto row = values.begin();
    for (const std::vector<KvToken>& item : tokens) {
      for (int64_t head = 0; head < case_.kv_heads; ++head) {
        row += static_cast<int64_t>(rows - item.size()) * columns;
        for (const KvToken& token : item) {
          row = std::copy_n((token.*part).begin() + head * columns, columns, row);
        }
      }
    }
    Array array(sizes, case_.new_strides, {.guard = case_.guard}, type);
    array.Set(values);
    return array;
  };
  const Array k = make_array(&KvToken::k, case_.new_k_type, case_.dim);
  const Array v = make_array(&KvToken::v, case_.new_v_type, case_.value_dim);
  const ArrayView<int64_t> view = {with_counts ? counts.data() : nullptr,
                                   static_cast<int64_t>(counts.size())};
  if (Status s = AppendKv(cache_, k.view(), v.view(), view); !s.ok()) return s;
  for (size_t b = 0; b < tokens.size(); ++b) {
    for (const KvToken& token : tokens[b]) Record(static_cast<int64_t>(b), token);
  }
  return {};
}

void KvHistory::Record(int64_t item, const KvToken& token) {
  std::deque<KvToken>& held = held_[static_cast<size_t>(item)];
  held.push_back({RoundedTo(case_.k_type, RoundedTo(case_.new_k_type, token.k)),
                  RoundedTo(case_.v_type, RoundedTo(case_.new_v_type, token.v))});
  if (case_.ring && static_cast<int64_t>(held.size()) > case_.slots) held.pop_front();
  const int64_t position = recorded_length_[static_cast<size_t>(item)]++;
  for (int64_t head = 0; head < case_.kv_heads; ++head) {
    is_row_written_[static_cast<size_t>(RowOf(item, head, position))] = true;
  }
}

bool KvHistory::CanRewind(int64_t item, int64_t length) const {
  const int64_t end = recorded_length_[static_cast<size_t>(item)];
  if (length < 0 || length > end) return false;
  if (length == 0 || length == end) return true;
  const int64_t left = case_.window_left == kUnlimited ? case_.slots - 1 : case_.window_left;
  const int64_t oldest = end - static_cast<int64_t>(held(item).size());
  return oldest <= length && (!case_.ring || std::max(length - left, int64_t{0}) >= oldest);
}

Status KvHistory::Rewind(int64_t item, int64_t length) {
  if (Status s = RewindKv(cache_, item, length); !s.ok()) return s;
  std::deque<KvToken>& held = held_[static_cast<size_t>(item)];
  int64_t& recorded = recorded_length_[static_cast<size_t>(item)];
  for (; recorded > length; --recorded) {
    if (!held.empty()) held.pop_back();
  }
  return {};
}

int64_t KvHistory::RowOf(int64_t item, int64_t head, int64_t position) const {
  const int64_t slot = position % case_.slots;
  if (case_.page_size == 0) return (item * case_.kv_heads + head) * case_.slots + slot;
  const int64_t index = item * PagesPerItem(case_) + slot / case_.page_size;
  const int64_t page = page_ids_[static_cast<size_t>(index)];
  return (page * case_.kv_heads + head) * case_.page_size + slot % case_.page_size;
}

::testing::AssertionResult KvHistory::IsArrayRight(const char* name, const Array& array,
                                                   std::vector<float> KvToken::*part) const {
  const std::vector<float> values = array.Values();
  const int64_t columns = array.view().sizes[3];
  for (int64_t b = 0; b < case_.batch; ++b) {
    int64_t position = recorded_length_[static_cast<size_t>(b)];
    for (auto token = held(b).rbegin(); token != held(b).rend(); ++token) {
      --position;
      for (int64_t i = 0; i < case_.kv_heads * columns; ++i) {
        const int64_t head = i / columns;
        const float found =
            values[static_cast<size_t>(RowOf(b, head, position) * columns + i % columns)];
        const float expected = ((*token).*part)[static_cast<size_t>(i)];
        if (found == expected) continue;
        return ::testing::AssertionFailure()
               << name << " of item " << b << ", head " << head << ", position " << position
               << ", column " << i % columns << ": found " << found << ", expected " << expected
               << "\n"
               << case_.ToString();
      }
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / static_cast<size_t>(columns);
    if (is_row_written_[row] || IsUnwritten(values[i])) continue;
    return ::testing::AssertionFailure() << name << ": row " << row << " was written\n"
                                         << case_.ToString();
  }
  if (array.IsPaddingIntact()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << name << ": padding was written\n" << case_.ToString();
}

::testing::AssertionResult KvHistory::IsRight() const {
  for (int64_t b = 0; b < case_.batch; ++b) {
    const int64_t want = recorded_length_[static_cast<size_t>(b)];
    const int64_t count = static_cast<int64_t>(held(b).size());
    if (length(b) == want && cache_.KvLen(b) == count) continue;
    return ::testing::AssertionFailure()
           << "item " << b << ": length " << length(b) << ", expected " << want << "; holds "
           << cache_.KvLen(b) << ", expected " << count << "\n"
           << case_.ToString();
  }
  if (::testing::AssertionResult k = IsArrayRight("k", k_, &KvToken::k); !k) return k;
  return IsArrayRight("v", v_, &KvToken::v);
}

std::vector<int64_t> KvHistory::Contents() const {
  std::vector<int64_t> contents;
  for (const Array* array : {&k_, &v_}) {
    for (const float value : array->Values()) {
      contents.push_back(std::bit_cast<int32_t>(value));
    }
  }
  for (const auto* array : {&length_, &oldest_}) {
    contents.insert(contents.end(), array->data(), array->data() + array->size());
  }
  return contents;
}

}  // namespace lanewise::testing
