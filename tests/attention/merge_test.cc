// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// MergeAttention: results over parts of the keys become the result over all of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/attention_case.h"
#include "tests/support/gen.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Parts with arrays of their own.
class Parts {
 public:
  explicit Parts(const Sizes& sizes) : sizes_(sizes), rows_({sizes[0], sizes[1], sizes[2], 1}) {}

  void Add(const std::vector<float>& out, const std::vector<float>& lse,
           StrideRule strides = DenseStrides) {
    arrays_.push_back(Array(sizes_, strides, {}));
    arrays_.back().Set(out);
    arrays_.push_back(Array(rows_, strides, {}));
    arrays_.back().Set(lse);
  }

  std::vector<AttentionPart> views() const {
    std::vector<AttentionPart> parts;
    for (size_t i = 0; i < arrays_.size(); i += 2) {
      parts.push_back({arrays_[i].view(), arrays_[i + 1].view()});
    }
    return parts;
  }

  AttentionRun Merge(bool with_lse = true, StrideRule strides = DenseStrides) const {
    const std::vector<AttentionPart> parts = views();
    Array out(sizes_, strides, {});
    Array lse(rows_, strides, {});
    const Status status = MergeAttention(parts.data(), static_cast<int64_t>(parts.size()),
                                         out.view(), with_lse ? lse.view() : Tensor{});
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(out.IsPaddingIntact() && lse.IsPaddingIntact());
    AttentionRun run;
    run.out = out.Values();
    if (with_lse) run.lse = lse.Values();
    return run;
  }

  // Does `run` agree with the definition?
  void ExpectRight(const AttentionRun& run) const {
    const reference::AttentionResult expected = reference::MergeAttention(views());
    const reference::AttentionTolerance tolerance = reference::MergeTolerance(views(), expected);
    const reference::Comparison out =
        reference::Compare(ConstTensor(run.out.data(), sizes_), expected.out, tolerance.out);
    EXPECT_TRUE(out.ok()) << "out: " << reference::Describe(out.worst);
    if (run.lse.empty()) return;
    const reference::Comparison lse =
        reference::Compare(ConstTensor(run.lse.data(), rows_), expected.lse, tolerance.lse);
    EXPECT_TRUE(lse.ok()) << "lse: " << reference::Describe(lse.worst);
  }

 private:
  Sizes sizes_;
  Sizes rows_;
  std::vector<Array> arrays_;
};

TEST(MergeAttention, ByHand) {
  Parts parts({1, 1, 1, 2});
  parts.Add({1, 10}, {std::log(1.0F)});
  parts.Add({4, 40}, {std::log(2.0F)});
  const AttentionRun run = parts.Merge();
  EXPECT_NEAR(run.out[0], 3, 1e-6);
  EXPECT_NEAR(run.out[1], 30, 1e-5);
  EXPECT_NEAR(run.lse[0], std::log(3.0), 1e-6);
}

TEST(MergeAttention, MatchesTheDefinition) {
  for (const int64_t value_dim : {1, 3, 8, 17, 63, 64, 65, 130}) {
    for (const size_t count : {1U, 2U, 3U, 9U}) {
      for (const float spread : {1.0F, 30.0F, 1000.0F}) {
        const Sizes sizes = {2, 3, 5, value_dim};
        Parts parts(sizes);
        for (uint32_t p = 0; p < count; ++p) {
          std::vector<float> lse = Gen(50 + p, 30, spread);
          for (size_t i = 0; i < lse.size(); ++i) {
            // Some parts saw no key; row 7 of no part did.
            if ((i + p) % 4 == 0 || i == 7) lse[i] = -kInf;
          }
          std::vector<float> out = Gen(60 + p, Count(sizes), 5.0F);
          parts.Add(out, lse, p % 2 == 0 ? DenseStrides : PaddedStrides);
        }
        parts.ExpectRight(parts.Merge());
        parts.ExpectRight(parts.Merge(false));
        EXPECT_TRUE(SameBits(parts.Merge(true, PackedStrides), parts.Merge()));
        const AttentionRun run = parts.Merge();
        EXPECT_EQ(run.lse[7], -kInf);
        for (int64_t c = 0; c < value_dim; ++c) {
          EXPECT_EQ(run.out[static_cast<size_t>(7 * value_dim + c)], 0.0F);
        }
      }
    }
  }
}

TEST(MergeAttention, PartsWithoutKeysHaveNoInfluence) {
  for (const float garbage : {kNan, kInf, -kInf, 1e38F}) {
    for (const bool first : {false, true}) {
      Parts parts({1, 1, 1, 3});
      if (first) parts.Add(Repeat(garbage, 3), {-kInf});
      parts.Add({1, 2, 3}, {0.5F});
      if (!first) parts.Add(Repeat(garbage, 3), {-kInf});
      const AttentionRun run = parts.Merge();
      EXPECT_EQ(run.out, (std::vector<float>{1, 2, 3})) << garbage;
      EXPECT_EQ(run.lse, std::vector<float>{0.5F}) << garbage;
    }
    Parts none({1, 1, 1, 3});
    none.Add(Repeat(garbage, 3), {-kInf});
    none.Add(Repeat(garbage, 3), {-kInf});
    EXPECT_EQ(none.Merge().out, Repeat(0, 3)) << garbage;
    EXPECT_EQ(none.Merge().lse, std::vector<float>{-kInf}) << garbage;
  }
}

TEST(MergeAttention, NanStaysInItsRow) {
  Parts parts({1, 1, 3, 2});
  parts.Add({1, 2, 3, 4, 5, 6}, {0, kNan, 1});
  parts.Add({1, kNan, 3, 4, 5, 6}, {0, 0, 1});
  const AttentionRun run = parts.Merge();
  EXPECT_EQ(run.out[0], 1.0F);
  for (const size_t i : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(run.out[i])) << i;
  EXPECT_NEAR(run.out[4], 5, 1e-6);
  EXPECT_TRUE(std::isnan(run.lse[1]));
  EXPECT_NEAR(run.lse[0], std::log(2.0), 1e-6);
}

TEST(MergeAttention, EqualPartsAndHugeSums) {
  Parts parts({1, 1, 1, 1});
  for (int p = 0; p < 3; ++p) parts.Add({static_cast<float>(p)}, {3e38F});
  const AttentionRun run = parts.Merge();
  EXPECT_NEAR(run.out[0], 1, 1e-6);
  EXPECT_EQ(run.lse[0], 3e38F);
}

TEST(MergeAttention, OutputMayBeAPart) {
  for (const size_t target : {0U, 1U}) {
    const Sizes sizes = {1, 2, 4, 70};
    const std::vector<std::vector<float>> out = {Gen(1, Count(sizes)), Gen(2, Count(sizes))};
    const std::vector<std::vector<float>> lse = {Gen(3, 8), Gen(4, 8)};
    Parts apart(sizes);
    for (size_t p = 0; p < 2; ++p) apart.Add(out[p], lse[p]);
    std::vector<std::vector<float>> own_out = out;
    std::vector<std::vector<float>> own_lse = lse;
    std::vector<AttentionPart> parts;
    for (size_t p = 0; p < 2; ++p) {
      parts.push_back(
          {ConstTensor(own_out[p].data(), sizes), ConstTensor(own_lse[p].data(), {1, 2, 4, 1})});
    }
    const Status status = MergeAttention(parts.data(), 2, Tensor(own_out[target].data(), sizes),
                                         Tensor(own_lse[target].data(), {1, 2, 4, 1}));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(SameBits(own_out[target], apart.Merge().out));
    EXPECT_TRUE(SameBits(own_lse[target], apart.Merge().lse));
  }
}

// The keys in parts of these lengths, each with the rows' own positions, merge to the whole.
void ExpectPartsAreTheWhole(const AttentionCase& whole, const std::vector<int64_t>& lengths) {
  const PreparedCase together(whole);
  Expectation expected = together.FromReference();
  for (const Path& path : EveryTile()) {
    Path with_lse = path;
    with_lse.lse = true;
    with_lse.weights = false;
    Parts parts(whole.out_sizes());
    int64_t first = 0;
    for (const int64_t length : lengths) {
      AttentionCase part = whole;
      part.shape.keys = length;
      part.options.query_offset = whole.shape.keys - whole.shape.queries - first;
      part.k = {whole.k.begin() + first * whole.shape.dim,
                whole.k.begin() + (first + length) * whole.shape.dim};
      part.v = {whole.v.begin() + first * whole.shape.value_dim,
                whole.v.begin() + (first + length) * whole.shape.value_dim};
      const AttentionRun run = PreparedCase(part).Run(with_lse);
      parts.Add(run.out, run.lse);
      first += length;
    }
    const AttentionRun merged = parts.Merge();
    parts.ExpectRight(merged);
    // The parts' errors are bounded as the whole's are, and merging adds its own.
    const reference::AttentionTolerance merging =
        reference::MergeTolerance(parts.views(), reference::MergeAttention(parts.views()));
    Expectation looser = expected;
    for (size_t i = 0; i < merging.out.size(); ++i) {
      looser.tolerance.out[i] = 2 * expected.tolerance.out[i] + merging.out[i];
    }
    for (size_t i = 0; i < merging.lse.size(); ++i) {
      looser.tolerance.lse[i] = 2 * expected.tolerance.lse[i] + merging.lse[i];
    }
    EXPECT_TRUE(together.Agrees(merged, looser)) << path.ToString();
  }
}

TEST(MergeAttention, PartsOfTheKeysAreTheWhole) {
  AttentionCase c;
  c.shape = {.queries = 40, .keys = 120, .dim = 16, .value_dim = 21};
  c.q = Gen(1, Count(c.q_sizes()), 4.0F);
  c.k = Gen(2, Count(c.k_sizes()));
  c.v = Gen(3, Count(c.v_sizes()));
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{120}, {60, 60}, {1, 119}, {0, 120, 0}, {17, 31, 48, 24}}) {
    c.options = {};
    ExpectPartsAreTheWhole(c, lengths);
    c.options.causal = true;  // late parts are empty for early rows
    ExpectPartsAreTheWhole(c, lengths);
    c.options.window = {25, 4};
    c.options.softcap = 3.0F;
    c.SetAlibiSlopes({0.125F});
    ExpectPartsAreTheWhole(c, lengths);
  }
}

class MergeErrors : public ::testing::Test {
 protected:
  static constexpr Sizes kSizes = {2, 3, 4, 5};
  static constexpr Sizes kRows = {2, 3, 4, 1};

  MergeErrors() {
    for (AttentionPart& part : parts_) {
      part = {ConstTensor(values_.data(), kSizes), ConstTensor(sums_.data(), kRows)};
    }
  }

  void ExpectRefused(const std::vector<std::string>& words) {
    EXPECT_THAT(MergeAttention(parts_, count_, Tensor(out_.data(), kSizes), lse_),
                IsInvalid(words));
    EXPECT_EQ(out_, Repeat(42, 120));
  }

  const std::vector<float> values_ = Gen(1, 120);
  const std::vector<float> sums_ = Gen(2, 24);
  std::vector<float> out_ = Repeat(42, 120);
  std::vector<float> lse_values_ = Repeat(42, 24);
  Tensor lse_ = Tensor(lse_values_.data(), kRows);
  AttentionPart parts_[3];
  int64_t count_ = 3;
};

TEST_F(MergeErrors, NoParts) {
  count_ = 0;
  ExpectRefused({"parts", "0", "1"});
  count_ = -1;
  ExpectRefused({"parts", "-1", "1"});
  EXPECT_THAT(MergeAttention(nullptr, 2, Tensor(out_.data(), kSizes)), IsInvalid({"parts"}));
}

TEST_F(MergeErrors, ArraysOfAPart) {
  parts_[1].out.sizes[3] = 4;
  ExpectRefused({"parts", "1", "out", "4", "5"});
  parts_[1] = parts_[0];
  parts_[2].lse.sizes[2] = 3;
  ExpectRefused({"parts", "2", "lse", "3", "4"});
  parts_[2] = parts_[0];
  parts_[2].out.data = nullptr;
  ExpectRefused({"parts", "2", "out", "null"});
  parts_[2] = parts_[0];
  parts_[0].lse.data = nullptr;
  ExpectRefused({"parts", "0", "lse", "null"});
  parts_[0] = parts_[1];
  parts_[1].out.type = DataType::kBF16;
  ExpectRefused({"parts", "1", "out", "bf16", "f32"});
}

TEST_F(MergeErrors, Outputs) {
  lse_.sizes[2] = 3;
  ExpectRefused({"lse", "3", "4"});
  lse_ = Tensor(lse_values_.data(), kRows, {12, 0, 1, 1});
  ExpectRefused({"lse", "strides", "0"});
  Tensor out(out_.data(), kSizes);
  out.data = nullptr;
  EXPECT_THAT(MergeAttention(parts_, 3, out), IsInvalid({"out", "null"}));
  out = Tensor(out_.data(), {2, -1, 4, 5});
  EXPECT_THAT(MergeAttention(parts_, 3, out), IsInvalid({"out", "-1"}));
  out = Tensor(out_.data(), kSizes, {60, 20, 0, 1});
  EXPECT_THAT(MergeAttention(parts_, 3, out), IsInvalid({"out", "strides", "0"}));
  EXPECT_EQ(out_, Repeat(42, 120));
}

TEST(MergeAttention, ZeroSizes) {
  const AttentionPart part = {ConstTensor(static_cast<const float*>(nullptr), {2, 0, 3, 4}),
                              ConstTensor(static_cast<const float*>(nullptr), {2, 0, 3, 1})};
  EXPECT_TRUE(MergeAttention(&part, 1, Tensor(static_cast<float*>(nullptr), {2, 0, 3, 4})).ok());
}

}  // namespace
}  // namespace lanewise::testing
