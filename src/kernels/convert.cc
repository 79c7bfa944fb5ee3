// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of rows, per target: a load of one type and a store of the other.

#include "src/kernels/convert.h"

#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/convert.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/core/half.h"
#include "src/kernels/dispatch.h"
#include "src/kernels/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {
namespace {

template <class From, class To>
HWY_INLINE void ConvertRow(const From* from, To* to, size_t columns) {
  if constexpr (std::is_same_v<From, To>) {
    if (columns > 0) std::memcpy(to, from, columns * sizeof(To));
  } else {
    const FloatTag d;
    size_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) StoreElements(d, LoadElements(d, from + c), to + c);
    const size_t rest = columns - c;
    if (rest > 0) StoreSomeElements(d, LoadSomeElements(d, from + c, rest), to + c, rest);
  }
}

template <class From, class To>
void Convert(const ConvertArgs& args) {
  const From* from = static_cast<const From*>(args.from);
  To* to = static_cast<To*>(args.to);
  for (size_t row = 0; row < args.row_count; ++row) {
    const int64_t r = static_cast<int64_t>(row);
    ConvertRow(from + r * args.from_stride, to + r * args.to_stride, args.columns);
  }
}

template <class From>
ConvertRows ConvertFrom(DataType to) {
  if (to == DataType::kF16) return &Convert<From, core::F16>;
  if (to == DataType::kBF16) return &Convert<From, core::BF16>;
  return &Convert<From, float>;
}

}  // namespace

ConvertRows Conversion(DataType from, DataType to) {
  if (from == DataType::kF16) return ConvertFrom<core::F16>(to);
  if (from == DataType::kBF16) return ConvertFrom<core::BF16>(to);
  return ConvertFrom<float>(to);
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {

HWY_EXPORT(Conversion);

ConvertRows ConvertRowsFor(int64_t target, DataType from, DataType to) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(Conversion), target)(from, to);
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
