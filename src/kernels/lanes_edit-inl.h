// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The edit stage of the `lanes` variant: what ScoreEdits (lanes.h) asks for, one pass over the
// scores [keys][lanes] of a step for each part that is present.

#if defined(LANEWISE_SRC_KERNELS_LANES_EDIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANEWISE_SRC_KERNELS_LANES_EDIT_INL_H_
#undef LANEWISE_SRC_KERNELS_LANES_EDIT_INL_H_
#else
#define LANEWISE_SRC_KERNELS_LANES_EDIT_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "src/kernels/lanes.h"
#include "src/kernels/transpose-inl.h"
#include "src/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lanewise::kernels::HWY_NAMESPACE {

// The lanes of vector j that see `key`, as noted by Hide.
HWY_INLINE FloatMask VisibleLanes(FloatTag d, const StepArgs& args, size_t key, size_t j) {
  const uint64_t bits = args.visible[key] >> (j * kLanes);
  uint8_t bytes[8];  // LoadMaskBits may read 8
  std::memcpy(bytes, &bits, sizeof(bits));
  return hn::LoadMaskBits(d, bytes);
}

// Notes in args.visible that of the lanes of vector j only `seen` see `key`.
HWY_INLINE void NoteVisible(FloatTag d, const StepArgs& args, size_t key, size_t j,
                            FloatMask seen) {
  uint8_t bytes[8] = {};  // StoreMaskBits may write 8
  hn::StoreMaskBits(d, seen, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  const uint64_t vector_bits = (uint64_t{1} << kLanes) - 1;
  args.visible[key] &= ~(vector_bits << (j * kLanes)) | ((bits & vector_bits) << (j * kLanes));
}

// Hides `key` from the lanes of vector j that are not in `seen`: their scores become -inf whatever
// they were. With kNote, remembers who sees the key, for values that are not finite.
template <bool kNote, size_t NV>
HWY_INLINE void Hide(FloatTag d, const StepArgs& args, size_t key, size_t j, FloatMask seen) {
  float* HWY_RESTRICT s = args.scores + (key * NV + j) * kLanes;
  hn::Store(hn::IfThenElse(seen, hn::Load(d, s), hn::Set(d, -kInfinity)), d, s);
  if constexpr (kNote) NoteVisible(d, args, key, j, seen);
}

template <size_t NV>
HWY_INLINE void Softcap(FloatTag d, const StepArgs& args, Keys keys) {
  const FloatVec cap = hn::Set(d, args.edits.softcap);
  // The reciprocal of a subnormal cap would be infinite.
  const FloatVec inverse =
      hn::Set(d, HWY_MIN(1.0f / args.edits.softcap, std::numeric_limits<float>::max()));
  for (size_t i = keys.begin * NV; i < keys.end * NV; ++i) {
    float* HWY_RESTRICT s = args.scores + i * kLanes;
    hn::Store(hn::Mul(cap, Tanh(d, hn::Mul(hn::Load(d, s), inverse))), d, s);
  }
}

template <size_t NV>
HWY_INLINE void Alibi(FloatTag d, const StepArgs& args, Keys keys) {
  for (size_t key = keys.begin; key < keys.end; ++key) {
    const FloatVec key_position = hn::Set(d, static_cast<float>(args.edits.first_key + key));
    for (size_t j = 0; j < NV; ++j) {
      const FloatVec slope = hn::Load(d, args.edits.alibi_slopes + j * kLanes);
      float* HWY_RESTRICT s = args.scores + (key * NV + j) * kLanes;
      const FloatVec position = hn::Load(d, args.edits.positions + j * kLanes);
      const FloatVec distance = hn::Abs(hn::Sub(position, key_position));
      hn::Store(hn::NegMulAdd(slope, distance, hn::Load(d, s)), d, s);
    }
  }
}

// Adds the bias of one key to the lanes of vector j, hiding the key where it is -inf.
template <bool kNote, size_t NV>
HWY_INLINE void AddBias(FloatTag d, const StepArgs& args, size_t key, size_t j, FloatVec bias) {
  float* HWY_RESTRICT s = args.scores + (key * NV + j) * kLanes;
  // NaN is not -inf and stays visible.
  const FloatVec minus_infinity = hn::Set(d, -kInfinity);
  const FloatMask hidden = hn::Eq(bias, minus_infinity);
  hn::Store(hn::IfThenElse(hidden, minus_infinity, hn::Add(hn::Load(d, s), bias)), d, s);
  if constexpr (kNote) NoteVisible(d, args, key, j, hn::Not(hidden));
}

template <bool kNote, size_t NV>
HWY_INLINE void Bias(FloatTag d, const StepArgs& args, Keys keys) {
  const RowForm form = args.edits.bias_form;
  for (size_t j = 0; j < NV; ++j) {
    const float* const* rows = args.edits.bias + j * kLanes;
    // One key's values, lane by lane.
    const auto column = [&](size_t key) HWY_ATTR {
      HWY_ALIGN float values[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) values[lane] = rows[lane][key];
      return hn::Load(d, values);
    };
    size_t key = keys.begin;
    if (form == RowForm::kPerKey) {
      for (; key < keys.end; ++key) {
        AddBias<kNote, NV>(d, args, key, j, hn::Set(d, rows[0][key]));
      }
    } else if (form == RowForm::kPerLane) {
      const FloatVec values = column(0);
      for (; key < keys.end; ++key) AddBias<kNote, NV>(d, args, key, j, values);
    }
    for (; key + kLineColumns <= keys.end; key += kLineColumns) {
      FloatVec columns[kLineColumns / kColumns][kColumns];
      LoadLineColumns(d, rows, key, columns);
      HWY_UNROLL(16)
      for (size_t c = 0; c < kLineColumns; ++c) {
        AddBias<kNote, NV>(d, args, key + c, j, columns[c / kColumns][c % kColumns]);
      }
    }
    for (; key < keys.end; ++key) AddBias<kNote, NV>(d, args, key, j, column(key));
  }
}

// The bytes of up to four keys of a lane's mask row as one word, the first key lowest in memory.
HWY_INLINE uint32_t MaskWord(const ScoreEdits& edits, size_t lane, size_t key, size_t count) {
  uint32_t word = 0;
  if (edits.mask_form == RowForm::kPerLane) {
    std::memset(&word, edits.mask[lane][0], sizeof(word));
    return word;
  }
  const uint8_t* bytes = edits.mask[edits.mask_form == RowForm::kPerKey ? 0 : lane] + key;
  if (HWY_LIKELY(count == sizeof(word))) {
    std::memcpy(&word, bytes, sizeof(word));
  } else {
    std::memcpy(&word, bytes, count);
  }
  return word;
}

template <bool kNote, size_t NV>
HWY_INLINE void Mask(FloatTag d, const StepArgs& args, Keys keys) {
  const hn::RebindToUnsigned<FloatTag> du;
  constexpr size_t kKeys = sizeof(uint32_t);
  for (size_t j = 0; j < NV; ++j) {
    for (size_t key = keys.begin; key < keys.end; key += kKeys) {
      const size_t count = HWY_MIN(kKeys, keys.end - key);
      HWY_ALIGN uint32_t words[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        words[lane] = MaskWord(args.edits, j * kLanes + lane, key, count);
      }
      const auto word = hn::Load(du, words);
      for (size_t i = 0; i < count; ++i) {
        uint8_t bytes[kKeys] = {};
        bytes[i] = 0xFF;
        uint32_t byte_bits;
        std::memcpy(&byte_bits, bytes, sizeof(byte_bits));
        const auto byte = hn::And(word, hn::Set(du, byte_bits));
        Hide<kNote, NV>(d, args, key + i, j, hn::RebindMask(d, hn::Ne(byte, hn::Zero(du))));
      }
    }
  }
}

// Of the lanes from `lane` on, those that see `key`.
HWY_INLINE FloatMask InBounds(FloatTag d, const LaneBounds& bounds, size_t key, size_t lane) {
  const IntTag di;
  const auto k = hn::Set(di, static_cast<int32_t>(key));
  const auto begin = hn::Load(di, bounds.begin + lane);
  const auto end = hn::Load(di, bounds.end + lane);
  return hn::RebindMask(d, hn::AndNot(hn::Lt(k, begin), hn::Lt(k, end)));
}

template <bool kNote, size_t NV>
HWY_INLINE void Bounds(FloatTag d, const StepArgs& args, Keys keys) {
  const LaneBounds& bounds = *args.edits.bounds;
  for (size_t key = keys.begin; key < keys.end; ++key) {
    if (key >= bounds.full_begin && key < bounds.full_end) key = bounds.full_end;
    if (key >= keys.end) break;
    for (size_t j = 0; j < NV; ++j) {
      Hide<kNote, NV>(d, args, key, j, InBounds(d, bounds, key, j * kLanes));
    }
  }
}

// Everything that hides keys. With kNote, takes from args.visible who does not see what.
template <bool kNote, size_t NV>
HWY_INLINE void HideKeys(FloatTag d, const StepArgs& args, Keys keys) {
  if (args.edits.bias != nullptr) Bias<kNote, NV>(d, args, keys);
  if (args.edits.mask != nullptr) Mask<kNote, NV>(d, args, keys);
  if (args.edits.bounds != nullptr) Bounds<kNote, NV>(d, args, keys);
}

// All edits of some keys; raises `max` to what they leave. `note`: update args.visible.
template <size_t NV>
HWY_NOINLINE void Edit(const StepArgs& args, Keys keys, bool note, FloatVec (&max)[NV]) {
  const FloatTag d;
  if (args.edits.softcap != 0) Softcap<NV>(d, args, keys);
  if (args.edits.positions != nullptr) Alibi<NV>(d, args, keys);
  if (note) {
    HideKeys<true, NV>(d, args, keys);
  } else {
    HideKeys<false, NV>(d, args, keys);
  }
  for (size_t key = keys.begin; key < keys.end; ++key) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < NV; ++j) {
      max[j] = hn::Max(max[j], hn::Load(d, args.scores + (key * NV + j) * kLanes));
    }
  }
}

// Notes in args.visible who sees what, where bounds alone decide.
template <size_t NV>
HWY_INLINE void NoteBounds(FloatTag d, const StepArgs& args) {
  for (size_t key = 0; key < args.key_count; ++key) {
    args.visible[key] = ~uint64_t{0};
    for (size_t j = 0; j < NV; ++j) {
      NoteVisible(d, args, key, j, InBounds(d, *args.edits.bounds, key, j * kLanes));
    }
  }
}

// Marks the lanes that saw a key of the step; needs args.visible if a bias or mask hides any.
template <size_t NV>
HWY_INLINE void NoteSeen(const StepArgs& args) {
  uint64_t noted = 0;
  if (args.edits.hides_by_key()) {
    for (size_t key = 0; key < args.key_count; ++key) noted |= args.visible[key];
  }
  const LaneBounds* bounds = args.edits.bounds;
  for (size_t lane = 0; lane < NV * kLanes; ++lane) {
    const bool seen = args.edits.hides_by_key()
                          ? ((noted >> lane) & 1) != 0
                          : bounds == nullptr || bounds->begin[lane] < bounds->end[lane];
    if (seen) args.group.seen[lane] = 1.0f;
  }
}

}  // namespace lanewise::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LANEWISE_SRC_KERNELS_LANES_EDIT_INL_H_
