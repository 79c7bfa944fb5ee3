// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Masks and biases with structure: what hides pairs, and how densely.

#ifndef LANEWISE_TESTS_SUPPORT_PATTERNS_H_
#define LANEWISE_TESTS_SUPPORT_PATTERNS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/array.h"
#include "tests/support/gen.h"

namespace lanewise::testing {

// True or false bytes. Any byte but 0 is true, so true is spelled in several ways.
inline uint8_t MaskByte(bool may_attend, uint32_t spelling) {
  constexpr uint8_t kTrue[] = {1, 2, 0x80, 0xFF};
  return may_attend ? kTrue[spelling % 4] : uint8_t{0};
}

inline std::vector<uint8_t> UniformMask(int64_t count, bool may_attend) {
  return std::vector<uint8_t>(static_cast<size_t>(count), may_attend ? 1 : 0);
}

// `percent` of the pairs, at random, may attend.
inline std::vector<uint8_t> RandomMask(uint32_t seed, int64_t count, uint32_t percent) {
  std::vector<uint8_t> mask(static_cast<size_t>(count));
  for (size_t i = 0; i < mask.size(); ++i) {
    const uint32_t bits = GenBits(seed, static_cast<uint32_t>(i));
    mask[i] = MaskByte(bits / 4 % 100 < percent, bits);
  }
  return mask;
}

// The same in blocks of `rows` queries by `columns` keys, so that whole tiles are hidden or not.
struct MaskBlocks {
  int64_t rows;
  int64_t columns;
};
inline std::vector<uint8_t> BlockMask(uint32_t seed, const Sizes& sizes, const MaskBlocks& blocks,
                                      uint32_t percent) {
  std::vector<uint8_t> mask;
  mask.reserve(static_cast<size_t>(Count(sizes)));
  const int64_t across = sizes[3] / blocks.columns + 1;
  const int64_t down = sizes[2] / blocks.rows + 1;
  for (int64_t head = 0; head < sizes[0] * sizes[1]; ++head) {
    for (int64_t i = 0; i < sizes[2]; ++i) {
      for (int64_t j = 0; j < sizes[3]; ++j) {
        const int64_t block = (head * down + i / blocks.rows) * across + j / blocks.columns;
        mask.push_back(MaskByte(GenBits(seed, static_cast<uint32_t>(block)) / 4 % 100 < percent,
                                static_cast<uint32_t>(i + j)));
      }
    }
  }
  return mask;
}

// Gen(seed) * factor, of which `percent` at random are -inf instead.
inline std::vector<float> BiasWithHoles(uint32_t seed, int64_t count, float factor,
                                        uint32_t percent) {
  std::vector<float> bias = Gen(seed, count, factor);
  for (size_t i = 0; i < bias.size(); ++i) {
    if (GenBits(seed + 1000, static_cast<uint32_t>(i)) / 4 % 100 < percent) {
      bias[i] = -std::numeric_limits<float>::infinity();
    }
  }
  return bias;
}

// The mask as a bias: 0 where it is true, -inf where it is not.
inline std::vector<float> AsBias(const std::vector<uint8_t>& mask) {
  std::vector<float> bias;
  bias.reserve(mask.size());
  for (const uint8_t byte : mask) {
    bias.push_back(byte != 0 ? 0.0F : -std::numeric_limits<float>::infinity());
  }
  return bias;
}

// What `values` of broadcasting `sizes` say for each pair of `full`.
template <typename T>
std::vector<T> Broadcast(const std::vector<T>& values, const Sizes& sizes, const Sizes& full) {
  std::vector<T> all;
  all.reserve(static_cast<size_t>(Count(full)));
  const Sizes strides = DenseStrides(sizes);
  const auto step = [&](size_t axis, int64_t index) {
    return sizes[axis] == 1 ? 0 : index * strides[axis];
  };
  for (int64_t b = 0; b < full[0]; ++b) {
    for (int64_t h = 0; h < full[1]; ++h) {
      for (int64_t i = 0; i < full[2]; ++i) {
        for (int64_t j = 0; j < full[3]; ++j) {
          const int64_t at = step(0, b) + step(1, h) + step(2, i) + step(3, j);
          all.push_back(values.at(static_cast<size_t>(at)));
        }
      }
    }
  }
  return all;
}

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_SUPPORT_PATTERNS_H_
