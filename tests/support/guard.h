// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Arrays that border on inaccessible memory, so that an access outside them is a crash instead of
// an accident that went well.

#ifndef LANEWISE_TESTS_SUPPORT_GUARD_H_
#define LANEWISE_TESTS_SUPPORT_GUARD_H_

#include <cstddef>
#include <type_traits>
#include <utility>

namespace lanewise::testing {

// Which end of the array touches the inaccessible page. (The other end has one too, up to a page
// away.)
enum class GuardSide { kBefore, kAfter };

// Whole pages, zero at first, with an inaccessible one before and one after. Small ones are used
// again by the next that need as many.
class GuardedPages {
 public:
  explicit GuardedPages(size_t bytes);
  ~GuardedPages();
  GuardedPages(GuardedPages&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)), bytes_(other.bytes_) {}
  GuardedPages& operator=(GuardedPages&&) = delete;

  std::byte* begin() const noexcept;
  size_t bytes() const noexcept { return bytes_; }

 private:
  void* mapping_;
  size_t bytes_;
};

// `count` elements, zero at first.
template <typename T>
class GuardedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedArray(size_t count, GuardSide side = GuardSide::kAfter)
      : pages_(count * sizeof(T)), size_(count) {
    const size_t slack = side == GuardSide::kAfter ? pages_.bytes() - count * sizeof(T) : 0;
    data_ = reinterpret_cast<T*>(pages_.begin() + slack);
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }

 private:
  GuardedPages pages_;
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_GUARD_H_
