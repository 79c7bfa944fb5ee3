// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The distribution: sizes around everything that the library counts in, a density of options that
// changes from case to case, and a bound on the work.

#include "tests/fuzz/generate.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "src/core/sizes.h"
#include "tests/support/gen.h"

namespace lanewise::testing {
namespace {

// Multiply-adds of a case; about a millisecond of the definition. Rarely more. Less where elements
// are f16 or bf16, which tests round by bisection.
constexpr int64_t kUsualWork = 150'000;
constexpr int64_t kRareWork = 3'000'000;
constexpr int64_t kHalfWork = 40'000;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// A stream of draws.
class Draws {
 public:
  explicit Draws(uint32_t seed) : seed_(seed) {}

  uint32_t Bits() { return GenBits(seed_, count_++); }
  // 0 <= x < count
  int64_t Below(int64_t count) { return Bits() % count; }
  int64_t Between(int64_t first, int64_t last) { return first + Below(last - first + 1); }
  // True once in `count`.
  bool OneIn(int64_t count) { return Below(count) == 0; }
  float Real(float low, float high) {
    return low + (high - low) * (0.5F + 0.5F * GenValue(seed_, count_++));
  }

  template <typename T>
  T Pick(std::initializer_list<T> list) {
    return list.begin()[Below(static_cast<int64_t>(list.size()))];
  }
  // One of the kinds after the first.
  template <typename Kind>
  Kind PickKind(Kind last) {
    return static_cast<Kind>(Between(1, static_cast<int64_t>(last)));
  }

 private:
  uint32_t seed_;
  uint32_t count_ = 0;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : draws_(seed) { c_.seed = seed; }

  FuzzCase Make() {
    DrawPath();
    density_ = draws_.Pick({2, 3, 6});
    DrawShape();
    BoundWork();
    DrawPositions();
    if (draws_.OneIn(8)) {
      MakeRagged();
    } else {
      DrawInputs();
    }
    DrawNumbers();
    DrawLayout();
    // Last, so that all other draws are those of a dot product.
    if (draws_.OneIn(4)) DrawScore();
    Normalize(c_);
    return c_;
  }

 private:
  // Is an option part of this case?
  bool Wanted() { return draws_.OneIn(density_); }

  void DrawPath() {
    const std::vector<std::string> targets = AvailableTargets();
    const std::string target =
        targets[static_cast<size_t>(draws_.Below(static_cast<int64_t>(targets.size())))];
    const std::vector<kernels::LanesKernel> tiles = TilesOf(target);
    const kernels::LanesKernel& tile =
        tiles[static_cast<size_t>(draws_.Below(static_cast<int64_t>(tiles.size())))];
    lanes_ = static_cast<int64_t>(tile.lanes);
    vector_ = lanes_ / static_cast<int64_t>(tile.vectors);
    rows_ = static_cast<int64_t>(tile.rows);
    c_.path.runtime.target = target;
    DrawVariant(tile);
    if (!draws_.OneIn(4)) {
      c_.path.overrides.kv_block = draws_.Pick<int64_t>({1, 2, 7, 8, 16, 17, 24, 32, 48, 64});
    }
    kv_block_ = c_.path.overrides.kv_block == 0 ? 32 : c_.path.overrides.kv_block;
    if (c_.path.overrides.variant == "few") kv_block_ = core::RoundUp(kv_block_, 16);
    // Refused beside "few", like a tile: now and then.
    if (draws_.OneIn(c_.path.overrides.variant == "few" ? 100 : 3)) {
      c_.path.overrides.q_groups = draws_.Between(1, 4);
    }
    if (draws_.OneIn(4)) c_.path.overrides.grain = draws_.Between(1, 3);
    c_.path.runtime.threads = draws_.Pick({1, 1, 2, 3});
  }

  void DrawVariant(const kernels::LanesKernel& tile) {
    attention::PlanOverrides& overrides = c_.path.overrides;
    switch (draws_.Below(8)) {
      case 0:
      case 1:
      case 2:
        overrides.variant = "few";
        // A tile beside it is refused: now and then.
        if (draws_.OneIn(100)) overrides.tile = std::string(tile.tile);
        break;
      case 3:
        break;
      case 4:
        overrides.variant = "lanes";
        break;
      default:
        overrides.tile = std::string(tile.tile);
    }
  }

  int64_t DrawQueries() {
    switch (draws_.Below(7)) {
      case 0:
        return draws_.Pick<int64_t>({1, 1, 1, 2, 3});
      case 1:
        return vector_ + draws_.Between(-1, 1);
      case 2:
        return lanes_ + draws_.Between(-1, 1);
      case 3:
        return draws_.Pick({2 * lanes_ - 1, 2 * lanes_, 2 * lanes_ + 1});
      case 4:
        return draws_.OneIn(6) ? 0 : draws_.Between(1, 8);
      case 5:
        // With the heads that share a kv head about as many rows as lanes.
        return std::max<int64_t>(lanes_ / group_ + draws_.Between(-1, 1), 1);
      default:
        return draws_.Between(1, 3 * lanes_);
    }
  }

  int64_t DrawKeys() {
    switch (draws_.Below(7)) {
      case 0:
        return rows_ + draws_.Between(-1, 1);
      case 1:
        return kv_block_ + draws_.Between(-1, 1);
      case 2:
        return 2 * kv_block_ + draws_.Between(-1, 1);
      case 3:
        return lanes_ + draws_.Between(-1, 1);
      case 4:
        return draws_.OneIn(6) ? 0 : draws_.Between(1, 8);
      case 5:
        return c_.shape.queries + draws_.Between(0, 5);
      default:
        return draws_.Between(1, 4 * lanes_);
    }
  }

  int64_t DrawDim() {
    switch (draws_.Below(4)) {
      case 0:
        return draws_.Between(1, 9);
      case 1:
        return draws_.Pick<int64_t>({15, 16, 17, 31, 32, 33});
      case 2:
        return draws_.Pick<int64_t>({63, 64, 65, 80});
      default:
        return draws_.Between(1, 80);
    }
  }

  void DrawShape() {
    AttentionShape& shape = c_.shape;
    shape.batch = draws_.OneIn(3) ? draws_.Between(2, 3) : 1;
    shape.kv_heads = draws_.OneIn(3) ? draws_.Between(2, 3) : 1;
    group_ = draws_.OneIn(2) ? draws_.Pick<int64_t>({2, 3, 4, 5, 7, 8, 12}) : 1;
    shape.queries = DrawQueries();
    shape.keys = DrawKeys();
    shape.dim = DrawDim();
    shape.value_dim = DrawDim();
    if (draws_.OneIn(3)) DrawTypes();
    if (draws_.OneIn(100)) shape.batch = 0;
    if (draws_.OneIn(60)) shape.value_dim = 0;
  }

  void DrawTypes() {
    AttentionShape& shape = c_.shape;
    const auto type = [&] {
      return draws_.Pick({DataType::kF32, DataType::kF16, DataType::kBF16});
    };
    shape.q_type = shape.k_type = shape.v_type = shape.out_type = type();
    if (draws_.OneIn(3)) return;
    shape.k_type = shape.v_type = type();
    if (draws_.OneIn(2)) shape.v_type = type();
    if (draws_.OneIn(2)) shape.out_type = type();
  }

  // Reduces what is least interesting first.
  void BoundWork() {
    AttentionShape& shape = c_.shape;
    const bool is_plain = shape.q_type == DataType::kF32 && shape.k_type == DataType::kF32 &&
                          shape.v_type == DataType::kF32 && shape.out_type == DataType::kF32;
    const int64_t limit = draws_.OneIn(25) ? kRareWork : is_plain ? kUsualWork : kHalfWork;
    shape.heads = shape.kv_heads * group_;
    for (int step = 0; Work(c_) > limit; ++step) {
      int64_t* const sizes[] = {&shape.dim, &shape.value_dim, &shape.batch, &group_,
                                &shape.kv_heads};
      int64_t& size = *sizes[static_cast<size_t>(step) % 5];
      // Every dim around the powers of two stays as odd as it was.
      if (size > 2) {
        size = size / 2 + size % 2;
      } else if (step > 25) {
        size = 1;
      }
      if (step > 40) shape.queries = shape.queries / 2 + 1;
      shape.heads = shape.kv_heads * group_;
    }
  }

  void DrawPositions() {
    AttentionOptions& options = c_.options;
    const int64_t keys = c_.shape.keys;
    options.causal = Wanted();
    if (Wanted()) options.window.left = DrawWindowSide();
    if (Wanted()) options.window.right = DrawWindowSide();
    options.top_left = draws_.OneIn(4);
    // Both are refused: now and then.
    if (draws_.OneIn(options.top_left ? 50 : 4)) {
      options.query_offset = draws_.Pick<int64_t>({0, 1, -1, keys / 2, -keys / 2, keys, keys + 1,
                                                   -c_.shape.queries, draws_.Between(-9, 9)});
      if (draws_.OneIn(10)) {
        options.query_offset = draws_.Pick<int64_t>(
            {int64_t{1} << 40, -(int64_t{1} << 40), kHuge, -kHuge, -kHuge - 1});
      }
    }
  }

  int64_t DrawWindowSide() {
    return draws_.Pick<int64_t>({0, 0, 1, 2, draws_.Between(1, 9), vector_, lanes_ - 1, kv_block_,
                                 c_.shape.keys, kUnlimited, int64_t{1} << 33, kHuge});
  }

  void DrawInputs() {
    if (Wanted()) DrawPairInput(c_.mask, MaskKind::kBlocks);
    if (Wanted()) DrawPairInput(c_.bias, BiasKind::kNan);
    if (Wanted()) {
      for (int64_t b = 0; b < c_.shape.batch; ++b) {
        const int64_t keys = c_.shape.keys;
        c_.kv_len.push_back(
            draws_.Pick({int64_t{0}, keys, draws_.Below(keys + 1), std::max<int64_t>(keys - 1, 0),
                         std::min(kv_block_, keys)}));
      }
    }
    if (Wanted()) DrawSlots();
    c_.options.weights = Wanted();
  }

  // A ring, pages, or both.
  void DrawSlots() {
    const int64_t kinds = draws_.Between(1, 3);
    const int64_t keys = c_.shape.keys;
    for (int64_t b = 0; b < c_.shape.batch && kinds % 2 != 0; ++b) {
      c_.kv_first.push_back(draws_.Pick({int64_t{0}, draws_.Below(keys + 1), draws_.Below(keys + 1),
                                         std::max<int64_t>(keys - 1, 0), keys}));
    }
    if (kinds / 2 != 0) c_.page_size = draws_.Between(1, 20);
  }

  template <typename Kind>
  void DrawPairInput(PairInput<Kind>& input, Kind last) {
    input.kind = draws_.PickKind(last);
    const auto set = [&](bool b, bool h, bool q, bool k) {
      input.varies[0] = b;
      input.varies[1] = h;
      input.varies[2] = q;
      input.varies[3] = k;
    };
    switch (draws_.Below(5)) {
      case 0:
        set(false, false, true, true);
        break;
      case 1:
        set(draws_.OneIn(2), false, false, true);
        break;
      case 2:
        set(draws_.OneIn(2), draws_.OneIn(2), draws_.OneIn(2), draws_.OneIn(2));
        break;
      default:
        set(true, true, true, true);
    }
  }

  void MakeRagged() {
    const int64_t count = draws_.Between(1, 3);
    for (int64_t b = 0; b < count; ++b) {
      FuzzCase::Sequence& sequence = c_.sequences.emplace_back();
      sequence.queries = draws_.OneIn(6) ? 0 : draws_.Between(0, c_.shape.queries);
      sequence.keys = draws_.OneIn(6) ? 0 : draws_.Between(0, c_.shape.keys);
      if (draws_.OneIn(3)) sequence = {c_.shape.queries, c_.shape.keys};
    }
    // What ragged sequences do not go together with, now and then.
    if (draws_.OneIn(20)) DrawInputs();
  }

  void DrawNumbers() {
    AttentionOptions& options = c_.options;
    if (Wanted()) {
      options.scale =
          draws_.Pick({0.0F, 1.0F, -1.0F, 0.25F, 3.0F, 40.0F, 1e20F, draws_.Real(-2, 2)});
    }
    if (Wanted()) {
      options.softcap =
          draws_.Pick({0.0F, 0.5F, 5.0F, 50.0F, 1e-40F, 1e30F, draws_.Real(0.1F, 30)});
    }
    if (Wanted()) c_.slopes = draws_.PickKind(SlopesKind::kSteep);
    if (Wanted()) c_.sinks = draws_.PickKind(SinksKind::kLarge);
    options.lse = draws_.OneIn(2);
    c_.data = draws_.Pick({DataKind::kUniform, DataKind::kUniform, DataKind::kLarge,
                           DataKind::kRising, DataKind::kConstant});
    if (draws_.OneIn(3)) c_.poison = draws_.PickKind(PoisonKind::kQueries);
  }

  void DrawLayout() {
    const auto input = [&] {
      return draws_.OneIn(2) ? LayoutKind::kDense
                             : draws_.Pick({LayoutKind::kPadded, LayoutKind::kPacked,
                                            draws_.PickKind(LayoutKind::kSharedRows)});
    };
    c_.q_layout = input();
    c_.kv_layout = input();
    if (c_.mask.kind != MaskKind::kNone || c_.bias.kind != BiasKind::kNone) {
      c_.pair_layout = input();
    }
    c_.out_layout = draws_.Pick({LayoutKind::kDense, LayoutKind::kPadded, LayoutKind::kPacked});
    c_.guard_before = draws_.OneIn(3);
  }

  void DrawScore() {
    AttentionOptions& options = c_.options;
    AttentionShape& shape = c_.shape;
    options.score = draws_.PickKind(AttentionScore::kGaussian);
    // `few` is refused: now and then.
    attention::PlanOverrides& overrides = c_.path.overrides;
    if (overrides.variant == "few" && !draws_.OneIn(20)) overrides.variant.clear();
    if (options.score == AttentionScore::kGaussian) {
      options.bandwidth = draws_.Pick({1.0F, 0.1F, 4.0F, 1e-6F, 1e20F, draws_.Real(0.3F, 3)});
      return;
    }
    // Lengths near those of dot products, which bound the work.
    const auto length = [&] { return std::max<int64_t>(shape.dim + draws_.Between(-9, 9), 1); };
    shape.key_dim = length();
    if (options.score == AttentionScore::kBilinear) return;
    shape.hidden = length();
    options.wq = draws_.OneIn(2);
    options.wk = draws_.OneIn(2);
    // Where the definition would take long, rows come projected.
    if (Work(c_) > kRareWork) options.wk = false;
  }

  Draws draws_;
  FuzzCase c_;
  int64_t density_ = 3;  // an option is wanted once in this many
  int64_t group_ = 1;    // query heads a kv head
  // What the path counts in.
  int64_t lanes_ = 1;
  int64_t vector_ = 1;
  int64_t rows_ = 1;
  int64_t kv_block_ = 1;
};

}  // namespace

FuzzCase Generate(uint32_t seed) { return Generator(seed).Make(); }

}  // namespace lanewise::testing
