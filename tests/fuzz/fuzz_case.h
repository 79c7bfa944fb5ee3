// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One attention problem of the property test: everything that was drawn, as a small value that can
// be printed as one line of flags, read back, and made smaller.

#ifndef LANEWISE_TESTS_FUZZ_FUZZ_CASE_H_
#define LANEWISE_TESTS_FUZZ_FUZZ_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/attention.h"
#include "lanewise/status.h"
#include "tests/support/paths.h"

namespace lanewise::testing {

// What q, k and v hold.
enum class DataKind {
  kUniform,   // in [-1, 1)
  kLarge,     // queries 30 times that, so that a few keys take all the weight; values 100 times
  kRising,    // scores grow with the key, so that the running maximum keeps moving
  kConstant,  // all scores of a row are equal
};

// What some rows of q, k or v hold instead.
enum class PoisonKind {
  kNone,
  kHiddenNan,  // keys that no row sees: all NaN
  kHiddenInf,  // keys that no row sees: infinities and the largest finite number
  kSomeNan,    // one element of k or v in some keys, whoever sees them: NaN
  kSomeInf,    // one element of k in some keys: an infinity
  kQueries,    // one element of q in some rows: NaN or an infinity
};

// Where elements lie. The shared ones have strides of 0, for inputs only.
enum class LayoutKind { kDense, kPadded, kPacked, kSharedHeads, kSharedBatch, kSharedRows };

enum class MaskKind {
  kNone,
  kAll,        // every pair may attend
  kRandom,     // every second pair
  kSparse,     // one pair in eight
  kEmptyRows,  // every third row sees nothing, the others two keys in three
  kBlocks,     // blocks of 8 queries by 8 keys
};

enum class BiasKind {
  kNone,
  kZero,
  kUniform,    // in [-2, 2)
  kHoles,      // the same, but -inf for one pair in four
  kEmptyRows,  // the same, but -inf for every third row
  kLowest,     // -1e9 for half of the pairs, and the lowest finite number for some whole rows
  kNan,        // in [-2, 2), but NaN or +inf for one pair in 32
};

enum class SlopesKind { kNone, kUsual, kZero, kNegative, kSteep };

enum class SinksKind {
  kNone,
  kUniform,  // in [-2, 2)
  kAbsent,   // -inf: no sink
  kMixed,    // -inf for every second head
  kLarge,    // 50: outweighs the keys
};

// A mask or bias: its pattern, and along which axes it varies (its size is 1 along the others).
template <typename Kind>
struct PairInput {
  Kind kind = Kind::kNone;
  bool varies[4] = {true, true, true, true};  // batch, head, query, key
};

struct FuzzCase {
  // `heads` is a multiple of `kv_heads`. With ragged sequences batch, queries and keys follow from
  // `sequences`.
  AttentionShape shape = {.queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  // Without the flags that announce inputs: those follow from the fields below.
  AttentionOptions options = {};

  PairInput<MaskKind> mask = {};
  PairInput<BiasKind> bias = {};
  SlopesKind slopes = SlopesKind::kNone;
  SinksKind sinks = SinksKind::kNone;
  std::vector<int64_t> kv_len = {};    // empty: not given
  std::vector<int64_t> kv_first = {};  // empty: no ring
  int64_t page_size = 0;               // 0: no pages
  struct Sequence {
    int64_t queries = 0;
    int64_t keys = 0;
  };
  std::vector<Sequence> sequences = {};  // empty: not ragged

  uint32_t seed = 1;  // of the data
  DataKind data = DataKind::kUniform;
  PoisonKind poison = PoisonKind::kNone;
  LayoutKind q_layout = LayoutKind::kDense;
  LayoutKind kv_layout = LayoutKind::kDense;
  LayoutKind pair_layout = LayoutKind::kDense;  // of mask and bias
  LayoutKind out_layout = LayoutKind::kDense;
  bool guard_before = false;  // the inaccessible page is before the arrays, not after

  Path path = {};
};

// Makes the fields fit each other: sizes that follow from `sequences`, the number and range of
// `kv_len` and `kv_first`, no axes of inputs that are not given, no keys that share memory in rings
// and pages.
void Normalize(FuzzCase& c);

// `options` with everything that follows from the other fields.
AttentionOptions FullOptions(const FuzzCase& c);

// Whether these options exclude each other, so that planning has to fail.
bool IsRefused(const FuzzCase& c);

// Multiply-adds of the definition.
int64_t Work(const FuzzCase& c);

// One line such as
//   --batch 1 --heads 2 --kv-heads 1 --queries 5 --keys 9 --dim 3 --value-dim 2 --causal
//   --window 2,-1 --mask random:qk --kv-len 7 --seed 12 --target AVX2 --tile 4x3v --kv-block 8
// with the flags of `lanewise run` and `lanewise bench` where those exist. Fields that have their
// defaults are left out, sizes never.
std::string ToText(const FuzzCase& c);

// The inverse.
Result<FuzzCase> ParseFuzzCase(const std::string& text);

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_FUZZ_FUZZ_CASE_H_
