// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The yardstick loops of every target.
//
// Arithmetic: as many chains x[c] = x[c] * factor + addend as fit in the registers beside the two
// operands. A core needs latency x ports of them: 8 to 10 for the fused multiply-add of x86, 16 on
// Arm cores with four pipes, 14 where a multiply and an add follow each other.
//
// The compiler must execute exactly the counted operations. Start values and operands come out of
// memory that it cannot see into: clang 14 drops one chain in twelve, so shows a peak 9 % too high,
// when it knows that the chain starts at zero.

#include "src/kernels/peaks.h"

#include <cstring>

#include "src/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/peaks.cc"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "hwy/highway.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels {
namespace HWY_NAMESPACE {
namespace {

using F32 = FloatTag;
using U32 = hn::ScalableTag<uint32_t>;

// Two less than the vector registers of the target.
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr size_t kChains = 30;
#else
constexpr size_t kChains = 14;
#endif

// Makes the compiler forget what it knows about the memory behind `data`.
HWY_INLINE const float* Opaque(const float* data) {
  asm volatile("" : "+r"(data) : : "memory");
  return data;
}

float MultiplyAdd(int64_t iterations) {
  const F32 d;
  float memory[kChains * kLanes + 2];
  for (size_t i = 0; i < kChains * kLanes; ++i) memory[i] = PeakStart(i);
  memory[kChains * kLanes] = kPeakFactor;
  memory[kChains * kLanes + 1] = 1.0F;
  const float* start = Opaque(memory);

  const auto factor = hn::Set(d, start[kChains * kLanes]);
  const auto addend = hn::Set(d, start[kChains * kLanes + 1]);
  hn::Vec<F32> x[kChains];
  HWY_UNROLL(32)
  for (size_t c = 0; c < kChains; ++c) x[c] = hn::LoadU(d, start + c * kLanes);
  for (int64_t i = 0; i < iterations; ++i) {
    HWY_UNROLL(32)
    for (size_t c = 0; c < kChains; ++c) x[c] = hn::MulAdd(x[c], factor, addend);
  }
  HWY_UNROLL(32)
  for (size_t c = 1; c < kChains; ++c) x[0] = hn::Add(x[0], x[c]);
  return hn::GetLane(hn::SumOfLanes(d, x[0]));
}

// Two vectors at a time, whose operations alternate.
float TanhSum(int64_t iterations) {
  constexpr size_t kTogether = 2;
  static_assert(kTanhVectors % kTogether == 0);
  const F32 d;
  HWY_ALIGN float memory[kTanhVectors * kLanes];
  for (size_t i = 0; i < kTanhVectors * kLanes; ++i) memory[i] = TanhStart(i);

  FloatVec sums[kTogether] = {hn::Zero(d), hn::Zero(d)};
  for (int64_t i = 0; i < iterations; ++i) {
    const float* start = Opaque(memory);
    for (size_t v = 0; v < kTanhVectors; v += kTogether) {
      FloatVec x[kTogether];
      for (size_t u = 0; u < kTogether; ++u) x[u] = hn::Load(d, start + (v + u) * kLanes);
      TanhUnbounded<kTogether>(d, x);
      for (size_t u = 0; u < kTogether; ++u) sums[u] = hn::Add(sums[u], x[u]);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sums[0], sums[1])));
}

// Eight vectors a turn, whatever the number of streams: enough loads to fill both load ports, and
// one or more cache lines of each stream.
template <size_t kStreams>
uint32_t Sum(const uint32_t* HWY_RESTRICT words, size_t count) {
  constexpr size_t kVectors = 8 / kStreams;
  const U32 d;
  const size_t per_turn = kVectors * kLanes;
  const size_t per_stream = count / kStreams / per_turn * per_turn;

  hn::Vec<U32> sums[kStreams][kVectors];
  for (auto& stream : sums) {
    for (auto& sum : stream) sum = hn::Zero(d);
  }
  for (size_t i = 0; i < per_stream; i += per_turn) {
    HWY_UNROLL(4)
    for (size_t s = 0; s < kStreams; ++s) {
      HWY_UNROLL(8)
      for (size_t v = 0; v < kVectors; ++v) {
        const uint32_t* from = words + s * per_stream + i + v * kLanes;
        sums[s][v] = hn::Add(sums[s][v], hn::LoadU(d, from));
      }
    }
  }
  auto total = hn::Zero(d);
  for (const auto& stream : sums) {
    for (const auto& sum : stream) total = hn::Add(total, sum);
  }
  // Lane by lane: gcc's reduction of 512-bit vectors adds signed integers, whose overflow is
  // undefined.
  HWY_ALIGN uint32_t lanes[HWY_LANES(uint32_t)];
  hn::Store(total, d, lanes);
  uint32_t result = 0;
  for (const uint32_t lane : lanes) result += lane;
  for (size_t i = kStreams * per_stream; i < count; ++i) result += words[i];
  return result;
}

PeakKernels Kernels() {
  static_assert(kReadStreams == std::array{1, 2, 4});
  return {kLanes, kChains, &MultiplyAdd, {&Sum<1>, &Sum<2>, &Sum<4>}, &TanhSum};
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace lanewise::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanewise::kernels {
namespace {
HWY_EXPORT(Kernels);
}  // namespace

PeakKernels PeakKernelsFor(int64_t target) {
  return FunctionForTarget(HWY_DISPATCH_TABLE(Kernels), target)();
}

}  // namespace lanewise::kernels
#endif  // HWY_ONCE
