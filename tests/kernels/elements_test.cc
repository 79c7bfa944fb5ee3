// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whole and partial vectors of src/kernels/elements-inl.h on every target: which elements are
// touched and what the other lanes hold. What the conversions give is the matter of convert_test.

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/core/half.h"
#include "src/kernels/dispatch.h"
#include "src/machine/targets.h"
#include "tests/support/guard.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/elements_test.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/elements-inl.h"

#ifndef LANEWISE_TESTS_KERNELS_ELEMENTS_TEST_TYPES_
#define LANEWISE_TESTS_KERNELS_ELEMENTS_TEST_TYPES_
namespace lanewise::kernels {

// Loads from memory to `lanes` floats and stores the reverse; all lanes, or the first `count`.
template <class T>
struct Accesses {
  void (*load)(const T* from, float* lanes);
  void (*load_some)(const T* from, size_t count, float* lanes);
  void (*store)(const float* lanes, T* to);
  void (*store_some)(const float* lanes, size_t count, T* to);
};

// The functions of one target.
struct AllAccesses {
  size_t lanes;
  Accesses<float> f32;
  Accesses<core::F16> f16;
  Accesses<core::BF16> bf16;
};

}  // namespace lanewise::kernels
#endif  // LANEWISE_TESTS_KERNELS_ELEMENTS_TEST_TYPES_

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void LoadAll(const T* from, float* lanes) {
  const FloatTag d;
  hn::StoreU(LoadElements(d, from), d, lanes);
}

template <class T>
void LoadSomeOf(const T* from, size_t count, float* lanes) {
  const FloatTag d;
  hn::StoreU(LoadSomeElements(d, from, count), d, lanes);
}

template <class T>
void StoreAll(const float* lanes, T* to) {
  const FloatTag d;
  StoreElements(d, hn::LoadU(d, lanes), to);
}

template <class T>
void StoreSomeOf(const float* lanes, size_t count, T* to) {
  const FloatTag d;
  StoreSomeElements(d, hn::LoadU(d, lanes), to, count);
}

template <class T>
Accesses<T> AccessesOf() {
  return {&LoadAll<T>, &LoadSomeOf<T>, &StoreAll<T>, &StoreSomeOf<T>};
}

AllAccesses TargetAccesses() {
  return {kLanes, AccessesOf<float>(), AccessesOf<core::F16>(), AccessesOf<core::BF16>()};
}

}  // namespace
}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {

HWY_EXPORT(TargetAccesses);

// 2 as an element, and what no access writes.
template <class T>
struct Constants;
template <>
struct Constants<float> {
  static constexpr float kTwo = 2;
  static constexpr float kOther = -7;
};
template <>
struct Constants<core::F16> {
  static constexpr core::F16 kTwo = {0x4000};
  static constexpr core::F16 kOther = {0xC700};
};
template <>
struct Constants<core::BF16> {
  static constexpr core::BF16 kTwo = {0x4000};
  static constexpr core::BF16 kOther = {0xC0E0};
};

template <class T>
bool IsSame(T a, T b) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  } else {
    return a.bits == b.bits;
  }
}

class ElementsTest : public ::testing::TestWithParam<std::string> {
 protected:
  AllAccesses Functions() const {
    return FunctionForTarget(HWY_DISPATCH_TABLE(TargetAccesses),
                             *machine::FindTarget(GetParam()))();
  }

  // `count` elements are all the memory there is, before or after an inaccessible page.
  template <class T>
  void ExpectLoads(const Accesses<T>& functions, testing::GuardSide side) const {
    const size_t lanes = Functions().lanes;
    for (size_t count = 0; count <= lanes; ++count) {
      testing::GuardedArray<T> memory(count, side);
      for (size_t i = 0; i < count; ++i) memory[i] = Constants<T>::kTwo;
      testing::GuardedArray<float> loaded(lanes);
      for (size_t i = 0; i < lanes; ++i) loaded[i] = -1;
      if (count == lanes) {
        functions.load(memory.data(), loaded.data());
      } else {
        functions.load_some(memory.data(), count, loaded.data());
      }
      for (size_t i = 0; i < lanes; ++i) {
        EXPECT_TRUE(IsSame(loaded[i], i < count ? 2.0F : 0.0F))
            << GetParam() << ", " << sizeof(T) << " bytes an element, " << count << " of " << lanes
            << ": lane " << i << " is " << loaded[i];
      }
    }
  }

  template <class T>
  void ExpectStores(const Accesses<T>& functions, testing::GuardSide side) const {
    const size_t lanes = Functions().lanes;
    testing::GuardedArray<float> twos(lanes);
    for (size_t i = 0; i < lanes; ++i) twos[i] = 2;
    for (size_t count = 0; count <= lanes; ++count) {
      for (const size_t gap :
           {0U, 1U, 3U}) {  // elements that are accessible, but not to be written
        testing::GuardedArray<T> memory(count + gap, side);
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = Constants<T>::kOther;
        if (count == lanes) {
          functions.store(twos.data(), memory.data());
        } else {
          functions.store_some(twos.data(), count, memory.data());
        }
        for (size_t i = 0; i < memory.size(); ++i) {
          EXPECT_TRUE(IsSame(memory[i], i < count ? Constants<T>::kTwo : Constants<T>::kOther))
              << GetParam() << ", " << sizeof(T) << " bytes an element, " << count << " of "
              << lanes << " with " << gap << " more: element " << i;
        }
      }
    }
  }
};

TEST_P(ElementsTest, Loads) {
  for (const auto side : {testing::GuardSide::kBefore, testing::GuardSide::kAfter}) {
    ExpectLoads(Functions().f32, side);
    ExpectLoads(Functions().f16, side);
    ExpectLoads(Functions().bf16, side);
  }
}

TEST_P(ElementsTest, Stores) {
  for (const auto side : {testing::GuardSide::kBefore, testing::GuardSide::kAfter}) {
    ExpectStores(Functions().f32, side);
    ExpectStores(Functions().f16, side);
    ExpectStores(Functions().bf16, side);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ElementsTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
#endif  // HWY_ONCE
