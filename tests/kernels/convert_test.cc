// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of rows on every target, against the definition of the formats.

#include "src/kernels/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hwy/detect_compiler_arch.h"
#include "src/core/element_bytes.h"
#include "src/machine/targets.h"
#include "tests/support/gen.h"
#include "tests/support/guard.h"
#include "tests/support/half.h"

#if HWY_ARCH_X86
#include <xmmintrin.h>  // MXCSR
#endif

namespace lanewise::kernels {
namespace {

using testing::FromHalf;
using testing::GuardSide;
using testing::ToHalf;

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
constexpr DataType kHalves[] = {DataType::kF16, DataType::kBF16};

// Elements of any type as bits, in memory that borders on an inaccessible page.
class Elements {
 public:
  Elements(DataType type, size_t count, GuardSide side)
      : bytes_(static_cast<size_t>(core::ElementBytes(type))), memory_(count * bytes_, side) {}

  std::byte* data() { return memory_.data(); }
  size_t size() const { return memory_.size() / bytes_; }
  void Set(size_t i, uint32_t bits) {
    for (size_t byte = 0; byte < bytes_; ++byte) {
      memory_[i * bytes_ + byte] = static_cast<std::byte>(bits >> 8 * byte);
    }
  }
  uint32_t Get(size_t i) const {
    uint32_t bits = 0;
    for (size_t byte = 0; byte < bytes_; ++byte) {
      bits |= std::to_integer<uint32_t>(memory_[i * bytes_ + byte]) << 8 * byte;
    }
    return bits;
  }

 private:
  size_t bytes_;
  testing::GuardedArray<std::byte> memory_;
};

double ValueOf(DataType type, uint32_t bits) {
  return type == DataType::kF32 ? double{std::bit_cast<float>(bits)}
                                : FromHalf(type, static_cast<uint16_t>(bits));
}

// What `bits` of type `from` become.
uint32_t Definition(DataType from, DataType to, uint32_t bits) {
  if (from == to) return bits;
  const double value = ValueOf(from, bits);
  return to == DataType::kF32 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                              : ToHalf(to, value);
}

// NaN compares equal to NaN, if it is quiet after narrowing.
::testing::AssertionResult IsRight(DataType to, uint32_t got, uint32_t want) {
  if (got == want) return ::testing::AssertionSuccess();
  if (std::isnan(ValueOf(to, want)) && std::isnan(ValueOf(to, got))) {
    const uint32_t quiet = to == DataType::kF16 ? 0x200U : to == DataType::kBF16 ? 0x40U : 0U;
    if ((got & quiet) == quiet) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << std::hex << "found 0x" << got << " (" << ValueOf(to, got) << "), expected 0x" << want
         << " (" << ValueOf(to, want) << ")";
}

std::vector<uint32_t> AllHalves() {
  std::vector<uint32_t> bits(0x10000);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint32_t>(i);
  return bits;
}

void AddWithNeighbours(double value, std::vector<uint32_t>& bits) {
  const float middle = static_cast<float>(value);
  for (const float sign : {1.0F, -1.0F}) {
    for (const float near :
         {std::nextafterf(middle, -INFINITY), middle, std::nextafterf(middle, INFINITY)}) {
      bits.push_back(std::bit_cast<uint32_t>(sign * near));
    }
  }
}

// f32 numbers at which narrowing to `type` changes its mind, and others.
std::vector<uint32_t> NarrowingCases(DataType type) {
  std::vector<uint32_t> bits;
  const testing::HalfFormat format = testing::FormatOf(type);
  for (uint32_t half = 0; half < format.infinity(); ++half) {
    const double low = MagnitudeOf(format, half);
    const double high = MagnitudeOf(format, half + 1);
    AddWithNeighbours(low, bits);
    AddWithNeighbours((low + high) / 2, bits);
  }
  for (const double value : {65504.0, 65519.99, 65520.0, 65536.0, 3.38e38, 0x1p-25, 0x1p-133,
                             0x1p-134, 0x1p-149, 0x1p-126, 0x1p-14, 0x1.FF8p-15, 1e30}) {
    AddWithNeighbours(value, bits);
  }
  // Infinities and NaN: quiet, signalling, payloads in high and low bits.
  for (const uint32_t special : {0x7F800000U, 0x7FC00000U, 0x7F800001U, 0x7F801FFFU, 0x7FBFFFFFU,
                                 0x7FFFFFFFU, 0x7F80FFFFU, 0x7FA00000U}) {
    bits.push_back(special);
    bits.push_back(special | 0x80000000U);
  }
  for (uint32_t i = 0; i < 100000; ++i) {
    bits.push_back(testing::GenBits(1, i));  // of any exponent
    // Of the exponents that f16 covers, and some on both sides.
    bits.push_back((testing::GenBits(2, i) & 0x80FFFFFFU) +
                   (100U + testing::GenBits(3, i) % 48U) * 0x00800000U);
  }
  return bits;
}

class ConvertTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Converts `bits` as one row.
  std::vector<uint32_t> Convert(DataType from, DataType to,
                                const std::vector<uint32_t>& bits) const {
    Elements source(from, bits.size(), GuardSide::kAfter);
    Elements result(to, bits.size(), GuardSide::kAfter);
    for (size_t i = 0; i < bits.size(); ++i) source.Set(i, bits[i]);
    Function(from, to)({source.data(), 0, result.data(), 0, 1, bits.size()});
    std::vector<uint32_t> converted(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) converted[i] = result.Get(i);
    return converted;
  }

  ConvertRows Function(DataType from, DataType to) const {
    return ConvertRowsFor(*machine::FindTarget(GetParam()), from, to);
  }

  std::string Where(DataType from, DataType to) const {
    return GetParam() + ", " + std::string(DataTypeName(from)) + " to " +
           std::string(DataTypeName(to));
  }

  void ExpectRight(DataType from, DataType to, const std::vector<uint32_t>& bits) const {
    const std::vector<uint32_t> converted = Convert(from, to, bits);
    for (size_t i = 0; i < bits.size(); ++i) {
      ASSERT_TRUE(IsRight(to, converted[i], Definition(from, to, bits[i])))
          << Where(from, to) << ", element " << i << ", bits 0x" << std::hex << bits[i];
    }
  }
};

TEST_P(ConvertTest, WidensEveryHalf) {
  for (const DataType from : kHalves) ExpectRight(from, DataType::kF32, AllHalves());
}

TEST_P(ConvertTest, NarrowsToNearest) {
  for (const DataType to : kHalves) ExpectRight(DataType::kF32, to, NarrowingCases(to));
}

TEST_P(ConvertTest, NarrowsKnownNumbers) {
  const struct {
    float value;
    uint32_t f16;
    uint32_t bf16;
  } known[] = {
      {1.0F, 0x3C00, 0x3F80},       {-2.0F, 0xC000, 0xC000},      {0.0F, 0x0000, 0x0000},
      {-0.0F, 0x8000, 0x8000},      {1.0F / 3, 0x3555, 0x3EAB},   {65504.0F, 0x7BFF, 0x4780},
      {65519.99F, 0x7BFF, 0x4780},  {65520.0F, 0x7C00, 0x4780},   {-1e9F, 0xFC00, 0xCE6E},
      {0x1p-24F, 0x0001, 0x3380},   {0x1p-25F, 0x0000, 0x3300},   {0x1.000002p-25F, 0x0001, 0x3300},
      {0x1.8p-24F, 0x0002, 0x33C0}, {2049.0F, 0x6800, 0x4500},    {2051.0F, 0x6802, 0x4500},
      {0x1p-133F, 0x0000, 0x0001},  {0x1.8p-133F, 0x0000, 0x0002}};
  std::vector<uint32_t> bits;
  for (const auto& number : known) bits.push_back(std::bit_cast<uint32_t>(number.value));
  const std::vector<uint32_t> f16 = Convert(DataType::kF32, DataType::kF16, bits);
  const std::vector<uint32_t> bf16 = Convert(DataType::kF32, DataType::kBF16, bits);
  for (size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(f16[i], known[i].f16) << GetParam() << ", " << known[i].value;
    EXPECT_EQ(bf16[i], known[i].bf16) << GetParam() << ", " << known[i].value;
  }
}

TEST_P(ConvertTest, OneHalfToTheOther) {
  ExpectRight(DataType::kF16, DataType::kBF16, AllHalves());
  ExpectRight(DataType::kBF16, DataType::kF16, AllHalves());
}

TEST_P(ConvertTest, EqualTypesKeepBits) {
  for (const DataType type : kHalves) EXPECT_EQ(Convert(type, type, AllHalves()), AllHalves());
  const std::vector<uint32_t> bits = NarrowingCases(DataType::kF16);
  EXPECT_EQ(Convert(DataType::kF32, DataType::kF32, bits), bits) << GetParam();
}

// Lengths around every lane count, at both ends of accessible memory.
TEST_P(ConvertTest, TouchesNothingButTheRow) {
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      for (size_t count = 0; count <= 49; ++count) {
        for (const GuardSide side : {GuardSide::kBefore, GuardSide::kAfter}) {
          Elements source(from, count, side);
          Elements result(to, count, side);
          for (size_t i = 0; i < count; ++i) {
            source.Set(i, testing::GenBits(4, static_cast<uint32_t>(i)));
          }
          Function(from, to)({source.data(), 0, result.data(), 0, 1, count});
          for (size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(IsRight(to, result.Get(i), Definition(from, to, source.Get(i))))
                << Where(from, to) << ", " << count << " elements, element " << i;
          }
        }
      }
    }
  }
}

TEST_P(ConvertTest, RowsWithGapsAndRepeatedRows) {
  constexpr uint32_t kUntouched = 0xA5A5A5A5U;
  constexpr size_t kRows = 3;
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      for (const size_t columns : {1U, 5U, 16U, 35U}) {
        for (const size_t from_stride : {size_t{0}, columns, columns + 2}) {
          const size_t to_stride = columns + 3;
          Elements source(from, (kRows - 1) * from_stride + columns, GuardSide::kAfter);
          Elements result(to, kRows * to_stride, GuardSide::kAfter);
          for (size_t i = 0; i < source.size(); ++i) {
            source.Set(i, testing::GenBits(5, static_cast<uint32_t>(i)));
          }
          for (size_t i = 0; i < result.size(); ++i) result.Set(i, kUntouched);
          const uint32_t untouched = result.Get(0);
          Function(from, to)({source.data(), static_cast<int64_t>(from_stride), result.data(),
                              static_cast<int64_t>(to_stride), kRows, columns});
          for (size_t i = 0; i < result.size(); ++i) {
            const size_t row = i / to_stride;
            const size_t column = i % to_stride;
            const uint32_t want = column < columns
                                      ? Definition(from, to, source.Get(row * from_stride + column))
                                      : untouched;
            ASSERT_TRUE(IsRight(to, result.Get(i), want))
                << Where(from, to) << ", strides " << from_stride << " and " << to_stride
                << ", row " << row << ", column " << column << " of " << columns;
          }
        }
      }
    }
  }
}

TEST_P(ConvertTest, NoRows) {
  // One element, which no row and no column may touch; nothing before it or after it is readable.
  constexpr uint32_t kUntouched = 0x1234;
  for (const DataType to : kTypes) {
    Elements rows(to, 1, GuardSide::kAfter);
    rows.Set(0, kUntouched);
    Function(DataType::kF16, to)({nullptr, 7, rows.data(), 7, 0, 7});
    Function(DataType::kF16, to)({nullptr, 7, rows.data(), 7, 3, 0});
    EXPECT_EQ(rows.Get(0), kUntouched);
  }
}

// A floating-point mode for as long as this lives.
class FloatMode {
 public:
  FloatMode(int rounding, bool flush) {
    std::fegetenv(&before_);
    std::fesetround(rounding);
#if HWY_ARCH_X86
    constexpr unsigned kFlushToZero = 0x8000;
    constexpr unsigned kDenormalsAreZero = 0x0040;
    if (flush) _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#else
    (void)flush;
#endif
  }
  ~FloatMode() { std::fesetenv(&before_); }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  std::fenv_t before_;
};

TEST_P(ConvertTest, FloatingPointModesDoNotMatter) {
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      const std::vector<uint32_t> bits =
          from == DataType::kF32 && to != DataType::kF32 ? NarrowingCases(to) : AllHalves();
      const std::vector<uint32_t> want = Convert(from, to, bits);
      for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        for (const bool flush : {false, true}) {
          std::vector<uint32_t> got;
          {
            const FloatMode mode(rounding, flush);
            got = Convert(from, to, bits);
          }
          for (size_t i = 0; i < bits.size(); ++i) {
            ASSERT_EQ(got[i], want[i]) << Where(from, to) << ", rounding mode " << rounding
                                       << ", flush " << flush << ", bits 0x" << std::hex << bits[i];
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ConvertTest, ::testing::ValuesIn(machine::AvailableTargets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lanewise::kernels
