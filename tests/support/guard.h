// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Arrays that border on inaccessible memory, so that an access outside them is a crash instead of
// an accident that went well.

#ifndef LANEWISE_TESTS_SUPPORT_GUARD_H_
#define LANEWISE_TESTS_SUPPORT_GUARD_H_

#include <sys/mman.h>  // mmap
#include <unistd.h>    // sysconf

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace lanewise::testing {

// Which end of the array touches the inaccessible page. (The other end has one too, up to a page
// away.)
enum class GuardSide { kBefore, kAfter };

// `count` elements, zero at first.
template <typename T>
class GuardedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedArray(size_t count, GuardSide side = GuardSide::kAfter) : size_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = (count * sizeof(T) + page - 1) / page * page;
    mapped_bytes_ = used + 2 * page;
    mapping_ = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* begin = static_cast<std::byte*>(mapping_) + page;
    if (used != 0 && mprotect(begin, used, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    const size_t slack = side == GuardSide::kAfter ? used - count * sizeof(T) : 0;
    data_ = reinterpret_cast<T*>(begin + slack);
  }
  ~GuardedArray() {
    if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  }
  GuardedArray(GuardedArray&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        mapped_bytes_(other.mapped_bytes_),
        data_(other.data_),
        size_(other.size_) {}
  GuardedArray& operator=(GuardedArray&&) = delete;

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_GUARD_H_
